"""A language model of a few thousand random weights, which speaks bytes."""

from pathlib import Path

from bench.training.random_model import TEMPLATE, random_model


def tiny_model(folder: Path, template: str | None = TEMPLATE) -> Path:
    """Write a model and its tokenizer into a folder, as transformers reads them."""
    return random_model(folder, "tiny", template)
