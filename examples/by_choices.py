"""An answer out of a list: the mood of a review."""

from mlx_lm import generate, load
from smollm2 import make

from stcon import constrain

model, tokenizer = load(str(make()))
mood = constrain(tokenizer, choices=["positive", "negative", "neutral"])

for review in ("I loved every minute of it.", "A waste of time and money."):
    question = f"Is this review positive, negative or neutral? {review}"
    message = {"role": "user", "content": question}
    prompt = tokenizer.apply_chat_template([message], add_generation_prompt=True)
    print(f"{generate(model, tokenizer, prompt, logits_processors=[mood])}: {review}")
