"""A language model of a few thousand random weights, which speaks bytes."""

from pathlib import Path

TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def tiny_model(folder: Path, template: str | None = TEMPLATE) -> Path:
    """Write a model and its tokenizer into a folder, as transformers reads them."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

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
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
        initializer_range=0.2,  # With smaller random weights, no adapter makes an answer certain.
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder
