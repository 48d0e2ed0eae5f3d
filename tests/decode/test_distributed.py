"""Two processes that share one model stay in step, and both write the format."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import mlx.core as mx
import pytest

from stcon import constrain
from tests import tiny
from tests.decode.test_patch import SCHEMAS

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(
    not mx.distributed.is_available(), reason="mlx was built without distributed"
)


def free_ports() -> int:
    """The first of two ports that nobody listens on."""
    for first in range(32300, 32400, 2):
        with socket.socket() as one, socket.socket() as other:
            try:
                one.bind(("127.0.0.1", first))
                other.bind(("127.0.0.1", first + 1))
            except OSError:
                continue
            return first
    raise AssertionError("no free ports")


def test_two_processes_stay_in_step() -> None:
    launch = Path(sys.executable).with_name("mlx.launch")
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [
            *(str(launch), "-n", "2", "--backend", "ring"),
            *("--starting-port", str(free_ports())),
            *("--env", f"PYTHONPATH={paths}", "--cwd", str(ROOT)),
            *("--python", sys.executable, "tests/decode/two_processes.py"),
        ],
        capture_output=True,
        text=True,
        timeout=240,
        cwd=ROOT,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(lines) == 2, (done.stdout[-2000:], done.stderr[-2000:])
    one, other = (json.loads(line) for line in lines)
    assert {one["rank"], other["rank"]} == {0, 1} and one["size"] == 2
    assert one["found"] == other["found"]
    ends = [tiny.end_id()]
    for name, schema in SCHEMAS.items():
        made = constrain(tiny.tokenizer(), schema, eos_token_ids=ends)
        for way in ("patched", "pipelined", "stock"):
            tokens = one["found"][f"{name} {way}"]
            text = made.vocabulary.decode([t for t in tokens if t not in ends])
            assert made.matches(text), (name, way, text)
        assert one["found"][f"{name} patched"] == one["found"][f"{name} pipelined"]
