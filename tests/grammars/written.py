"""Programs that SmolLM2 writes under a grammar and a limit on tokens.

``python -m tests.grammars.written 20 [NAME ...]``: so many of each grammar, 6 s each,
and how many of them other parsers read.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from stcon import constrain, grammars
from tests import assets
from tests.grammars import braces
from tests.grammars.test_bython import is_python
from tests.grammars.test_grammars import is_sql, is_xml

LIMIT = 36
PROMPTS = {
    "XML": "<book><title>Emma</title></book>\n",
    "SQL": "SELECT name FROM users;\n",
    "BYTHON": "def add(a, b) {\n    return a + b;\n}\n",
}
JUDGES: dict[str, Callable[[str], bool]] = {
    "XML": is_xml,
    "SQL": is_sql,
    "BYTHON": lambda text: is_python(braces.to_python(text)),
}


def written(loaded: tuple[Any, Any], name: str, seed: int) -> str:
    """What the model writes after ``PROMPTS[name]``, at a temperature of 0.8."""
    import mlx.core as mx
    from mlx_lm import generate
    from mlx_lm.sample_utils import make_sampler

    model, tokenizer = loaded
    grammar = getattr(grammars, name)
    mx.random.seed(seed)
    text: str = generate(
        model,
        tokenizer,
        PROMPTS[name],
        max_tokens=LIMIT,
        sampler=make_sampler(temp=0.8),
        logits_processors=[constrain(tokenizer, grammar=grammar, max_tokens=LIMIT)],
    )
    return text


def main(count: int, names: list[str]) -> None:
    """Nothing; prints the programs and the counts."""
    from mlx_lm import load

    loaded = load(str(assets.smollm2_folder()))
    for name in names or PROMPTS:
        texts = [written(loaded, name, seed) for seed in range(count)]
        sys.stdout.writelines(f"{text!r}\n" for text in texts)
        good = sum(map(JUDGES[name], texts))
        empty = sum(not text.strip() for text in texts)
        sys.stdout.write(f"{name}: {good} of {count} parse, {empty} empty\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
