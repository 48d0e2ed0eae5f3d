"""Reads a person out of a sentence: text in, pydantic object out.

    python examples/extract.py
    python examples/extract.py --prompt "..." --schema FILE.json

On a terminal, what the schema alone decided is dim and what the model chose is
green.  The first run fetches the model, 93 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

from pydantic import BaseModel, Field

PROMPT = (
    "Write the person as JSON: Maria Lopez, 34 years old, is a nurse in Lisbon. "
    "Her email is maria.lopez@example.com."
)
FORCED, CHOSEN, PLAIN = "\x1b[2m", "\x1b[32m", "\x1b[0m"


class Person(BaseModel):
    """What to look for; its JSON Schema is what the model must write."""

    name: str
    age: int = Field(ge=0, le=150)
    city: str
    job: str
    email: str = Field(json_schema_extra={"format": "email"})


def main() -> int:
    """The exit status: 1 when the tokens ran out before the end."""
    options = parse_arguments()
    from mlx_lm import load, stream_generate  # seconds, and --help needs none of it
    from smollm2 import make

    from stcon import Vocabulary, constrain

    model, tokenizer = load(str(make()))
    schema = json.loads(options.schema.read_text()) if options.schema else Person
    vocabulary = Vocabulary.of(tokenizer)  # once for all schemas
    began = perf_counter()
    constraint = constrain(vocabulary, schema)
    constraint.allowed(constraint.start)
    ready = perf_counter() - began

    message = {"role": "user", "content": options.prompt}
    prompt = tokenizer.apply_chat_template([message], add_generation_prompt=True)
    text = ""
    for piece in stream_generate(
        model,
        tokenizer,
        prompt,
        max_tokens=options.max_tokens,
        logits_processors=[constraint],
    ):
        print(paint(constraint, text, piece.text), end="", flush=True)
        text += piece.text
    print()
    if not constraint.matches(text):
        print(f"not complete after {options.max_tokens} tokens: give --max-tokens")
        return 1
    print(
        repr(json.loads(text) if options.schema else Person.model_validate_json(text))
    )
    print(
        f"first mask {ready * 1000:.0f} ms after the schema, "
        f"{piece.generation_tokens} tokens at {piece.generation_tps:.1f} tokens/s"
    )
    return 0


def paint(constraint: Any, text: str, more: str) -> str:
    """``more``, which follows ``text``, coloured by who decided each character."""
    if not more or not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return more
    forced = {
        byte
        for first, last in constraint.forced_spans(text + more)
        for byte in range(first, last)
    }
    at, shown, before = len(text.encode()), "", ""
    for character in more:
        colour = FORCED if at in forced else CHOSEN
        shown += character if colour == before else PLAIN + colour + character
        at, before = at + len(character.encode()), colour
    return shown + PLAIN


def parse_arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description="Extract an object from a text.")
    parser.add_argument("--prompt", default=PROMPT, help="what the model is told")
    parser.add_argument(
        "--schema", type=Path, metavar="FILE.json", help="a JSON Schema for Person"
    )
    parser.add_argument("--max-tokens", type=int, default=200, metavar="N")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
