"""Hints for a folder of the wrong kind: whether it is a run, a trial or a part of a run."""

import shlex
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from warex.files.reading import path_exists
from warex.traces.paths import EVENTS, MANIFEST, OUTCOME, TRIALS

_MOST = 3
"""Maximum number of runs of a folder that are named."""


def folder_hint(folder: Path) -> str:
    """Return a sentence that says what a folder is, and which command fits it."""
    run = _run_around(folder)
    if is_attempt(folder) or any(map(is_attempt, folder.glob("attempt-*"))):
        of_run = f", {_command('report', run)} the run that it is part of" if run else ""
        return f"It is the folder of a trial: {_command('inspect', folder)} shows it{of_run}."
    if _is_run(folder):
        trial = next(_trials(folder / TRIALS), None)
        one = f", {_command('inspect', trial)} one of its trials" if trial else ""
        return f"It is the folder of a run: {_command('report', folder)} shows it{one}."
    if run:
        trial = next(_trials(folder), None)
        one = f", {_command('inspect', trial)} a trial in it" if trial else ""
        return f"It is part of a run: {_command('report', run)} shows the run{one}."
    if runs := list(islice(_runs(folder), _MOST)):
        listed = " or ".join(_command("report", path) for path in runs)
        return f"There are runs in it: {listed} shows one."
    return (
        "Name a folder that `warex run` or `warex demo` made; `warex inspect` also takes one of"
        " `warex exec --out`."
    )


def _trials(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("attempt-*") if is_attempt(path))


def _runs(folder: Path) -> Iterator[Path]:
    try:
        yield from (path for path in sorted(folder.iterdir()) if _is_run(path))
    except OSError:
        return


def is_attempt(folder: Path) -> bool:
    """Whether a folder is an attempt's."""
    return path_exists(folder / EVENTS) or path_exists(folder / OUTCOME)


def _is_run(folder: Path) -> bool:
    return path_exists(folder / MANIFEST) or (folder / TRIALS).is_dir()


def _run_around(folder: Path) -> Path | None:
    """Return the run that a folder is in, relative to the working directory if it is below it."""
    here, folder = Path.cwd(), folder.absolute()
    for place in (folder, *folder.parents):
        run = place.parent
        if place.name == TRIALS and _is_run(run):
            return run.relative_to(here) if run.is_relative_to(here) else run
    return None


def _command(name: str, folder: Path) -> str:
    return f"`{shlex.join(('warex', name, str(folder)))}`"
