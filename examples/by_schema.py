"""An answer as JSON by a plain JSON Schema: a shopping list."""

from mlx_lm import generate, load
from smollm2 import make

from stcon import constrain

SCHEMA = {
    "type": "array",
    "minItems": 2,
    "maxItems": 3,
    "items": {
        "type": "object",
        "properties": {
            "item": {"type": "string", "maxLength": 20},
            "count": {"type": "integer", "minimum": 1, "maximum": 12},
        },
        "required": ["item", "count"],
        "additionalProperties": False,
    },
}

model, tokenizer = load(str(make()))
question = "Write a shopping list for a cake as JSON."
message = {"role": "user", "content": question}
prompt = tokenizer.apply_chat_template([message], add_generation_prompt=True)
shopping = constrain(tokenizer, SCHEMA)
print(generate(model, tokenizer, prompt, logits_processors=[shopping]))
