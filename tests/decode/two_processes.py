"""Run by ``mlx.launch`` in two processes: one model between them, one answer each."""

from __future__ import annotations

import json
from importlib import import_module

import mlx.core as mx

import stcon
from tests import tiny
from tests.decode.test_patch import SCHEMAS


def main() -> None:
    group = mx.distributed.init(strict=True, backend="ring")
    llama = import_module("mlx_lm.models.llama")
    sizes = {**tiny.CONFIGS["llama"], "num_key_value_heads": 2, "vocab_size": 640}
    mx.random.seed(3)
    model = llama.Model(llama.ModelArgs.from_dict(sizes))
    mx.eval(model.parameters())
    model.shard(group)
    module = import_module("mlx_lm.generate")
    found = {}
    for name, schema in SCHEMAS.items():
        made = stcon.constrain(tiny.tokenizer(), schema, eos_token_ids=[tiny.end_id()])
        for way in ("patched", "pipelined", "stock"):
            if way != "stock":
                stcon.patch(pipelined=way == "pipelined")
            mx.random.seed(5)
            steps = module.generate_step(
                mx.array([5, 6, 7]),
                model,
                max_tokens=40,
                sampler=mx.random.categorical,
                logits_processors=[made.within(40)],
            )
            found[f"{name} {way}"] = [int(token) for token, _ in steps]
            stcon.unpatch()
    print(json.dumps({"rank": group.rank(), "size": group.size(), "found": found}))


if __name__ == "__main__":
    main()
