"""The server, asked over HTTP; a tiny random model answers."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest
from mlx.utils import tree_flatten
from tokenizers import AddedToken, Tokenizer

from tests import tiny

ROOT = Path(__file__).parents[2]
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 5},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}


TEMPLATE = "{% for m in messages %}{{ m['content'] }}\n{% endfor %}"


def folder(at: Path, template: str = TEMPLATE, words: Sequence[str] = ()) -> Path:
    """A model as mlx-lm reads it; ``words`` are tokens of their own."""
    model = tiny.model("llama")
    mx.save_safetensors(
        str(at / "model.safetensors"), dict(tree_flatten(model.parameters()))
    )
    config = {**tiny.CONFIGS["llama"], "vocab_size": 640, "eos_token_id": tiny.end_id()}
    (at / "config.json").write_text(json.dumps(config), "utf-8")
    tokenizer = Tokenizer.from_str(tiny.tokenizer().to_str())
    tokenizer.add_tokens([AddedToken(word, normalized=False) for word in words])
    tokenizer.save(str(at / "tokenizer.json"))
    wrapper = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": "<end>",
        "chat_template": template,
    }
    (at / "tokenizer_config.json").write_text(json.dumps(wrapper), "utf-8")
    return at


@pytest.fixture(scope="module", params=["batched", "one by one"])
def url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    at = folder(tmp_path_factory.mktemp("model"))
    more = ["--draft-model", str(at)] if request.param == "one by one" else []
    with running(at, more) as address:
        yield address


@contextmanager
def running(at: Path, more: Sequence[str] = ()) -> Iterator[str]:
    """The address of a server of the model in ``at``."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "stcon", "serve", "--model", str(at)]
    command += ["--port", str(port), "--temp", "1.0", *more]
    server = subprocess.Popen(
        command,
        env=os.environ | {"PYTHONPATH": paths, "HF_HUB_OFFLINE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(server, address)
        yield address
    finally:
        server.kill()
        server.wait()


def _wait_for(server: subprocess.Popen[str], address: str) -> None:
    for _ in range(600):
        if server.poll() is not None:
            assert server.stderr is not None
            raise AssertionError(server.stderr.read()[-3000:])
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError("the server does not answer")


def ask(url: str, **body: Any) -> tuple[int, Any]:
    """The status of an answer, and the answer."""
    message = {"role": "user", "content": "Maria is 34."}
    data = {"messages": [message], "max_tokens": 60, **body}
    request = urllib.request.Request(
        f"{url}/v1/chat/completions",
        json.dumps(data).encode(),
        {"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def text_of(answer: Any) -> str:
    return str(answer["choices"][0]["message"]["content"])


def test_answers_have_the_format(url: str) -> None:
    shape = {"type": "json_schema", "json_schema": {"name": "p", "schema": PERSON}}
    status, answer = ask(url, response_format=shape)
    assert status == 200, answer
    person = json.loads(text_of(answer))
    assert list(person) == ["name", "age"] and 0 <= person["age"] <= 120
    assert answer["choices"][0]["finish_reason"] == "stop"


def test_requests_do_not_see_each_other(url: str) -> None:
    """At once, with different formats and without one."""
    bodies: list[dict[str, Any]] = [
        {"response_format": {"type": "json_schema", "schema": PERSON}},
        {"guided_regex": r"[0-9]{4}"},
        {"guided_choice": ["left", "right"]},
        {"max_tokens": 8},
    ] * 2
    with ThreadPoolExecutor(len(bodies)) as pool:
        answers = list(pool.map(lambda body: ask(url, **body), bodies))
    assert [status for status, _ in answers] == [200] * len(bodies)
    texts = [text_of(answer) for _, answer in answers]
    for at in (0, 4):
        assert set(json.loads(texts[at])) == {"name", "age"}
        assert texts[at + 1].isdigit() and len(texts[at + 1]) == 4
        assert texts[at + 2] in ("left", "right")


def test_a_limit_is_kept_or_refused(url: str) -> None:
    shape = {"type": "json_schema", "schema": PERSON}
    status, answer = ask(url, response_format=shape, max_tokens=22)
    assert status == 200 and set(json.loads(text_of(answer))) == {"name", "age"}
    status, answer = ask(url, response_format=shape, max_tokens=3)
    assert status >= 400 and "the least is" in answer["error"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"response_format": {"type": "xml"}}, "response_format.type is 'xml'"),
        ({"guided_regex": r"(a)\1"}, "backreference"),
        (
            {"guided_regex": "a", "logit_bias": {"1": -1e9}},
            "logit_bias beside a format",
        ),
        (
            {
                "response_format": {
                    "type": "json_schema",
                    "schema": {"type": "array", "uniqueItems": True},
                }
            },
            "#/uniqueItems",
        ),
    ],
)
def test_what_cannot_be_enforced_has_status_400(
    url: str, body: dict[str, Any], words: str
) -> None:
    status, answer = ask(url, **body)
    assert status == 400 and words in answer["error"]
    assert ask(url, max_tokens=3)[0] == 200, "the server goes on"


def test_the_server_module_is_as_it_was() -> None:
    from stcon.server.patched import patched_server

    module = import_module("mlx_lm.server")
    before = {
        (owner, name): value
        for owner in (
            *(module, module.APIHandler, module.ResponseGenerator),
            module.ToolCallFormatter,
        )
        for name, value in vars(owner).items()
    }
    with patched_server():
        assert module.APIHandler.validate_model_parameters is not before.get(
            (module.APIHandler, "validate_model_parameters")
        )
    for (owner, name), value in before.items():
        assert vars(owner)[name] is value, name
