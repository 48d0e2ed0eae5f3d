"""An answer in the form of a regular expression: a date."""

from mlx_lm import generate, load
from smollm2 import make

from stcon import constrain

model, tokenizer = load(str(make()))
date = constrain(tokenizer, regex=r"(19|20)\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")

question = "On which day did people first walk on the Moon? Answer as YYYY-MM-DD."
message = {"role": "user", "content": question}
prompt = tokenizer.apply_chat_template([message], add_generation_prompt=True)
print(generate(model, tokenizer, prompt, logits_processors=[date]))
