"""A query in SQL, in at most 60 tokens, and what a grammar of one's own allows."""

from mlx_lm import generate, load
from smollm2 import make

from stcon import constrain, grammars

model, tokenizer = load(str(make()))
query = constrain(tokenizer, grammar=grammars.SQL, max_tokens=60)

question = "Table users(id, name, age). Write SQL: names of users older than 30."
message = {"role": "user", "content": question}
prompt = tokenizer.apply_chat_template([message], add_generation_prompt=True)
text = generate(model, tokenizer, prompt, max_tokens=60, logits_processors=[query])
print(" ".join(text.split()))

sums = constrain(tokenizer, grammar='root ::= root "+" root | [0-9]{1,9}')
print(sums.explain("1+22+"))
