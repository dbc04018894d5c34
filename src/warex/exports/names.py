"""Names of a data set's formats, row kinds and splits. It imports nothing slow, for ``--help``."""

from typing import TYPE_CHECKING, Final, Literal, get_args

if TYPE_CHECKING:
    from typing_extensions import TypeIs  # `typing` has it from 3.13 on.

type Format = Literal["sft", "dpo", "kto", "atif", "adp"]
"""``sft``: wanted answers; ``dpo``: pairs of a better and a worse one; ``kto``: labelled answers;
``atif``, ``adp``: wanted answers in Harbor's trajectory format or the Agent Data Protocol's."""

type RunFormat = Literal["har", "otel", "parquet"]
"""Formats of whole runs: ``har``: HTTP archives; ``otel``: OpenTelemetry; ``parquet``: tables."""

type Kind = Literal["failure", "clean"]
"""``failure``: the step after a delivered fault. ``clean``: an ordinary step of a solved trial."""

type Dimension = Literal["site", "group", "page_family", "fault", "category", "benchmark", "task"]

type Side = Literal["train", "validation", "test"]

type Thoughts = Literal["auto", "keep", "drop"]
"""What becomes of the words beside an answer's action, also of earlier answers in the prompt.
``auto`` drops those of scripted agents."""

type Leak = Literal["site", "task", "page_family", "observation"]
"""What must not be on two sides."""

FORMATS: Final[tuple[Format, ...]] = get_args(Format.__value__)
RUN_FORMATS: Final[tuple[RunFormat, ...]] = get_args(RunFormat.__value__)
KINDS: Final[tuple[Kind, ...]] = get_args(Kind.__value__)
DIMENSIONS: Final[tuple[Dimension, ...]] = get_args(Dimension.__value__)
SIDES: Final[tuple[Side, ...]] = get_args(Side.__value__)
THOUGHTS: Final[tuple[Thoughts, ...]] = get_args(Thoughts.__value__)
LEAKS: Final[tuple[Leak, ...]] = get_args(Leak.__value__)


def is_run_format(name: str) -> "TypeIs[RunFormat]":
    """Return whether a format is of whole runs."""
    return name in RUN_FORMATS
