"""Names of formats, row kinds and splits. It imports nothing slow, for ``--help``."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, get_args

from warex.plugins import PluginGroup

type Format = str
"""The name of a data set's format; its file is in ``dataset_formats``."""

type RunFormat = str
"""The name of a format of whole runs: its file is in ``run_formats``, or another distribution has
it by an entry point of the group ``warex.run_formats``."""

type Kind = Literal["failure", "clean"]
"""``failure``: the step after a delivered fault. ``clean``: an ordinary step of a solved trial."""

type Dimension = Literal["site", "group", "page_family", "fault", "category", "benchmark", "task"]

type Side = Literal["train", "validation", "test"]

type Thoughts = Literal["auto", "keep", "drop"]
"""What becomes of the words beside an answer's action, also of earlier answers in the prompt.
``auto`` drops those of scripted agents, and all where an oracle answers, which has none."""

type Leak = Literal["site", "task", "page_family", "observation"]
"""What must not be on two sides."""


def module_name(name: str) -> str:
    """Return the name of the module of a format, such as ``paper_log`` of ``paper-log``."""
    return name.replace("-", "_")


def _formats(folder: str) -> Mapping[str, str]:
    """Return the formats of a folder, which are its files, with the first line of each."""
    files = sorted((Path(__file__).parent / folder).glob("[a-z]*.py"))
    return {file.stem.replace("_", "-"): _first_line(file) for file in files}


def _first_line(file: Path) -> str:
    with file.open(encoding="utf-8") as lines:
        return next(lines).strip().strip('"').rstrip(".")


FORMATS: Final = _formats("dataset_formats")
"""Each format of data sets, and what it is."""
RUN_FORMATS: Final = _formats("run_formats")
"""Each format of whole runs of WAREX itself, and what it is."""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind.__value__)
DIMENSIONS: Final[tuple[Dimension, ...]] = get_args(Dimension.__value__)
SIDES: Final[tuple[Side, ...]] = get_args(Side.__value__)
THOUGHTS: Final[tuple[Thoughts, ...]] = get_args(Thoughts.__value__)
LEAKS: Final[tuple[Leak, ...]] = get_args(Leak.__value__)


def _accept(name: str, value: object) -> Callable[[Any], Iterable[str]]:
    """Return the function that writes another distribution's format; raise ValueError if none."""
    if not callable(value):
        raise ValueError("is not a function that takes a warex.exports.run_formats.RunExport")
    return value


RUN_FORMAT_PLUGINS: Final = PluginGroup(
    "warex.run_formats", lambda: (*FORMATS, *RUN_FORMATS), _accept
)
