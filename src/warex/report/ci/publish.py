"""Writes what a CI server reads: files, the job's summary, annotations."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from warex.report.ci.annotations import Annotation, case_annotations, commands
from warex.report.ci.cases import Case
from warex.report.ci.junit import junit
from warex.report.ci.outputs import CiOutputs
from warex.report.ci.sarif import SarifResult, sarif
from warex.report.ci.step_summary import LARGEST
from warex.traces.files import write_atomic, write_error

_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
_ACTIONS: Final = "GITHUB_ACTIONS"


@dataclass(frozen=True, slots=True)
class CiReport:
    """The results of a command, for a CI server."""

    suites: dict[str, tuple[Case, ...]] = field(default_factory=dict)
    """The gates of each run or comparison."""
    trials: dict[str, tuple[Case, ...]] = field(default_factory=dict)
    """The trials of each run, where they are cases."""
    summary: str = ""
    """Markdown."""
    results: tuple[SarifResult, ...] = ()
    warnings: tuple[str, ...] = ()

    def __add__(self, other: "CiReport") -> "CiReport":
        """Return both; suites of one name are joined."""
        return CiReport(
            _joined(self.suites, other.suites),
            _joined(self.trials, other.trials),
            self.summary + other.summary,
            self.results + other.results,
            self.warnings + other.warnings,
        )


def publish(
    report: CiReport,
    outputs: CiOutputs,
    environment: Mapping[str, str],
    echo: Callable[[str], None],
    warn: Callable[[str], None],
) -> None:
    """Write the files of ``outputs`` and what the environment asks for.

    Raises MachineError if a file cannot be written. A summary that cannot be written is a warning.
    """
    if outputs.junit:
        write_atomic(outputs.junit, junit(_joined(report.suites, report.trials)))
    if outputs.sarif:
        write_atomic(outputs.sarif, sarif(report.results))
    if (path := environment.get(_SUMMARY)) and report.summary:
        try:
            _append(Path(path), report.summary)
        except OSError as error:
            warn(f"{_SUMMARY}: {write_error(Path(path), error)}")
    if environment.get(_ACTIONS) == "true":
        cases = [case for suite in report.suites.values() for case in suite]
        warnings = [Annotation("warning", "WAREX", sentence) for sentence in report.warnings]
        for line in commands([*case_annotations(cases), *warnings]):
            echo(line)


def _append(path: Path, text: str) -> None:
    data = text.encode("utf-8", "replace")
    with open(path, "ab") as file:
        # Other steps of a job have files of their own; other commands of this step do not.
        if file.tell() + len(data) <= LARGEST:
            file.write(data)


def _joined(
    first: Mapping[str, tuple[Case, ...]], second: Mapping[str, tuple[Case, ...]]
) -> dict[str, tuple[Case, ...]]:
    names = dict.fromkeys((*first, *second))
    return {name: (*first.get(name, ()), *second.get(name, ())) for name in names}
