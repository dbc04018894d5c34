"""The words of a data set: formats, kinds of rows, sides of a split.

Nothing is imported here that takes time, since the command line's help shows them.
"""

from typing import Final, Literal, get_args

type Format = Literal["sft", "dpo", "kto", "atif", "adp"]
"""What a data set teaches by: answers wanted, pairs of a better and a worse one, or single answers
with a label; answers wanted, in Harbor's trajectory format or the Agent Data Protocol's."""

type Kind = Literal["failure", "clean"]
"""``failure``: the step after a delivered fault. ``clean``: an ordinary step of a solved trial."""

type Dimension = Literal["site", "group", "page_family", "fault", "category", "benchmark", "task"]
"""What a split can go by."""

type Side = Literal["train", "validation", "test"]
"""A side of a split."""

type Leak = Literal["site", "task", "page_family", "observation"]
"""What may not stand on two sides."""

FORMATS: Final[tuple[Format, ...]] = get_args(Format.__value__)
KINDS: Final[tuple[Kind, ...]] = get_args(Kind.__value__)
DIMENSIONS: Final[tuple[Dimension, ...]] = get_args(Dimension.__value__)
SIDES: Final[tuple[Side, ...]] = get_args(Side.__value__)
LEAKS: Final[tuple[Leak, ...]] = get_args(Leak.__value__)
