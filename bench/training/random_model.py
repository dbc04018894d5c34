"""Language models with random weights and bytes as tokens, for tests of everything but quality."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

TEMPLATE: Final = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def random_model(folder: Path, shape: str, template: str | None = TEMPLATE) -> Path:
    """Write a model of one of ``SHAPES`` and its tokenizer in transformers' format."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

    torch.manual_seed(0)
    special = ["<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = Tokenizer(models.BPE({letter: at for at, letter in enumerate(letters)}, []))
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    words.add_special_tokens(special)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<|end|>")
    tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    config = SHAPES[shape](tokenizer)
    dtype = torch.bfloat16 if torch.cuda.is_available() else torch.float32
    with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
        model = AutoModelForCausalLM.from_config(config, dtype=dtype)
    model.save_pretrained(folder)
    return folder


def _tiny(tokenizer: Any) -> Any:
    from transformers import LlamaConfig

    return LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
        initializer_range=0.2,  # With smaller weights, no adapter makes an answer certain.
    )


def _qwen3(tokenizer: Any, **size: int) -> Any:
    from transformers import Qwen3Config

    return Qwen3Config(
        head_dim=128,
        max_position_embeddings=40960,
        rope_parameters={"rope_type": "default", "rope_theta": 1_000_000.0},
        tie_word_embeddings=False,
        eos_token_id=tokenizer.eos_token_id,
        **size,
    )


def _small(tokenizer: Any) -> Any:
    """With the size of SmolLM2's vocabulary, most of which is unused."""
    return _qwen3(
        tokenizer,
        vocab_size=49_152,
        hidden_size=512,
        intermediate_size=1536,
        num_hidden_layers=8,
        num_attention_heads=4,
        num_key_value_heads=2,
    )


def _qwen3_8b(tokenizer: Any) -> Any:
    """With the shape of Qwen/Qwen3-8B's config.json; most of its vocabulary is unused."""
    return _qwen3(
        tokenizer,
        vocab_size=151_936,
        hidden_size=4096,
        intermediate_size=12_288,
        num_hidden_layers=36,
        num_attention_heads=32,
        num_key_value_heads=8,
    )


SHAPES: Final[Mapping[str, Callable[[Any], Any]]] = {
    "tiny": _tiny,
    "small": _small,
    "qwen3-8b": _qwen3_8b,
}
"""Functions from a tokenizer to a configuration, by name."""
