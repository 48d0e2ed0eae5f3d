"""Forced text is free: one line, and the model is asked for its own tokens only."""

from mlx_lm import generate, load
from smollm2 import make

import stcon

SCHEMA = {
    "type": "object",
    "properties": {
        "temperature_celsius": {"type": "integer", "minimum": -90, "maximum": 60},
        "conditions": {"enum": ["sunny", "cloudy", "raining", "snowing"]},
        "wind_direction": {"enum": ["north", "east", "south", "west"]},
    },
    "required": ["temperature_celsius", "conditions", "wind_direction"],
    "additionalProperties": False,
}

model, tokenizer = load(str(make()))
question = "The weather in Oslo in January, as JSON."
message = {"role": "user", "content": question}
prompt = tokenizer.apply_chat_template([message], add_generation_prompt=True)
weather = stcon.constrain(tokenizer, SCHEMA)
with stcon.patch():
    text = generate(model, tokenizer, prompt, logits_processors=[weather])
print(stcon.trace(weather, text))
