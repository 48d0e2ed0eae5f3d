"""Tiny random models and a tiny tokenizer, for loops that need no sense."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

CORPUS = [
    '{"name":"Maria Gonzalez","age":34,"email":"maria@example.com","tags":["a","b"]}',
    '{"id":1234,"active":true,"note":null,"list":[1,2,3],"unit":"celsius"}',
    "The quick brown fox jumps over the lazy dog. It is 12 years old; who knows?",
] * 3


@cache
def tokenizer(size: int = 600) -> Tokenizer:
    """A byte-level BPE of at most ``size`` tokens; ``<end>`` is special."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=["<end>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator(CORPUS, trainer)
    return backend


def end_id() -> int:
    """The token that ends an output."""
    found = tokenizer().token_to_id("<end>")
    assert found is not None
    return int(found)


CONFIGS: dict[str, dict[str, Any]] = {
    "llama": {
        "model_type": "llama",
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "intermediate_size": 64,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 64,
        "rms_norm_eps": 1e-5,
        "tie_word_embeddings": True,
    },
    "qwen3_5": {
        "model_type": "qwen3_5_text",
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "rms_norm_eps": 1e-6,
        "max_position_embeddings": 4096,
        "linear_num_value_heads": 4,
        "linear_num_key_heads": 2,
        "linear_key_head_dim": 32,
        "linear_value_head_dim": 32,
        "linear_conv_kernel_dim": 4,
        "full_attention_interval": 4,
        "tie_word_embeddings": True,
        "rope_parameters": {
            "type": "default",
            "mrope_section": [2, 1, 1],
            "rope_theta": 10000000,
            "partial_rotary_factor": 0.25,
        },
    },
}


def model(kind: str, vocabulary_size: int = 640, seed: int = 0) -> Any:
    """A random model in float32: ``llama`` (attention) or ``qwen3_5`` (recurrent
    layers and attention)."""
    import mlx.core as mx

    module = importlib.import_module(f"mlx_lm.models.{kind}")
    config = {**CONFIGS[kind], "vocab_size": vocabulary_size}
    if kind == "qwen3_5":
        config = {
            "model_type": "qwen3_5",
            "text_config": config,
            "tie_word_embeddings": True,
        }
    mx.random.seed(seed)
    made = module.Model(module.ModelArgs.from_dict(config))
    mx.eval(made.parameters())
    return made
