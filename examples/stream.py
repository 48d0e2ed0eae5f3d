"""A value that grows on the screen while the model writes it."""

from mlx_lm import load
from smollm2 import make

import stcon

SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 40},
        "tags": {
            "type": "array",
            "items": {"type": "string", "maxLength": 20},
            "minItems": 2,
            "maxItems": 3,
        },
    },
    "required": ["title", "tags"],
    "additionalProperties": False,
}

model, tokenizer = load(str(make()))
question = "A title and three tags for an article about tides, as JSON."
message = {"role": "user", "content": question}
prompt = tokenizer.apply_chat_template([message], add_generation_prompt=True)
article = stcon.constrain(tokenizer, SCHEMA)
events = stcon.stream(model, tokenizer, prompt, article, max_tokens=80)
for value in stcon.partial_json(events):
    print(value)
