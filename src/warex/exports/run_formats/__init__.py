"""Formats of whole runs: a file each, found by being here.

Each has ``write``, which takes a ``RunExport`` and returns the lines that the command prints. The
first line of the file is what ``--help`` says of it. Other distributions add formats by entry
points of the group ``warex.run_formats``, which name such a function.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from warex.analysis.run.load import refuse_damage
from warex.errors import MachineError, TraceError, WarexError
from warex.exports.interchange.selection import Selection, select_trials
from warex.exports.names import RUN_FORMAT_PLUGINS, RUN_FORMATS, RunFormat, module_name
from warex.plugins import describe
from warex.text.english import count_noun


@dataclass(frozen=True, slots=True)
class RunExport:
    """What is to be exported, and where."""

    format: RunFormat
    runs: tuple[Path, ...]
    out: Path
    agents: tuple[str, ...] = ()
    """Those whose trials are written; empty for all. The same for the next."""
    conditions: tuple[str, ...] = ()
    address: str | None = None
    """A receiver that it is sent to, instead of ``out``."""
    on_damage: Callable[[TraceError], None] = refuse_damage
    """Called for each damaged trial, which is then left out; raises the error unless given."""

    def select(self) -> Selection:
        """Return the trials. Raises TraceError for a folder without one, InputError if none fit."""
        selection = select_trials(self.runs, self.agents, self.conditions)
        for error in selection.damaged:
            self.on_damage(error)
        return selection

    def require_new_folder(self) -> None:
        """Raise InputError if ``out`` is a file, or a folder that is not empty."""
        from warex.exports.dataset import require_empty_folder

        require_empty_folder(self.out)

    def result(self, selection: Selection, where: object = None) -> Iterable[str]:
        """Yield the lines that say what was written."""
        yield from left_out(selection)
        if selection.voids:
            yield f"void       {selection.voids:,}: marked in the files"
        trials = count_noun(len(selection.trials), "trial")
        yield f"{self.format:10} {trials}: {where or self.out}"


def left_out(selection: Selection) -> Iterable[str]:
    """Yield the lines that count the trials that a selection is without."""
    if selection.without_trace:
        yield f"left out   {selection.without_trace:,}: nothing was recorded"
    if selection.damaged:
        yield f"left out   {len(selection.damaged):,}: damaged"


def export_runs(export: RunExport) -> Iterable[str]:
    """Write runs in a format; yield the lines that say so.

    Raises MachineError if the format is of another distribution, and cannot be used or fails.
    """
    if export.format in RUN_FORMATS:
        yield from import_module(f"{__name__}.{module_name(export.format)}").write(export)
        return
    write = RUN_FORMAT_PLUGINS.load(export.format)
    assert write is not None, export.format
    try:
        yield from write(export)
    except (WarexError, OSError):
        raise
    except Exception as error:
        owner = RUN_FORMAT_PLUGINS.owner(export.format)
        raise MachineError(
            f"the format {export.format!r} of the package {owner} failed ({describe(error)})"
        ) from error
