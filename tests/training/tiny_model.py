"""A language model of a few thousand random weights, with bytes as tokens."""

from pathlib import Path

from bench.training.random_model import TEMPLATE, random_model


def tiny_model(folder: Path, template: str | None = TEMPLATE) -> Path:
    """Write a model and its tokenizer in transformers' format."""
    return random_model(folder, "tiny", template)
