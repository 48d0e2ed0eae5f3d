"""A call of one of two tools, in the form that the model was trained on."""

from mlx_lm import generate, load
from smollm2 import make

from stcon import constrain_tools
from stcon.tools import parse_tool_calls

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "The weather in a city",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "maxLength": 20},
                    "unit": {"enum": ["celsius", "fahrenheit"]},
                },
                "required": ["city", "unit"],
            },
        },
    },
    {"type": "function", "function": {"name": "time", "description": "The time now"}},
]

model, tokenizer = load(str(make()))
calls = constrain_tools(
    tokenizer,
    TOOLS,
    tool_choice="required",
    parallel_tool_calls=False,
    form="json_tools",  # SmolLM2's chat template says nothing of tools
)
question = f"Tools: {TOOLS}\nHow warm is it in Paris, in celsius? Call a tool."
message = {"role": "user", "content": question}
prompt = tokenizer.apply_chat_template([message], add_generation_prompt=True)
text = generate(model, tokenizer, prompt, logits_processors=[calls])
print(text)
print(parse_tool_calls(text, TOOLS))
