"""A format of runs: one line of CSV for each trial."""

import csv
from collections.abc import Iterable

from warex.exports.run_formats import RunExport
from warex.traces.outcome_file import read_outcome


def write(export: RunExport) -> Iterable[str]:
    """Write ``outcomes.csv`` and return the lines that the command prints."""
    selection = export.select()
    export.require_new_folder()
    export.out.mkdir(parents=True, exist_ok=True)
    file = export.out / "outcomes.csv"
    with file.open("w", encoding="utf-8", newline="") as lines:
        table = csv.writer(lines)
        table.writerow(("agent", "condition", "task", "repeat", "outcome"))
        for trial in selection.trials:
            key, outcome = trial.key, read_outcome(trial.path)
            word = "" if outcome is None else outcome.outcome
            table.writerow((key.agent, key.condition, key.task, key.repeat, word))
    return export.result(selection, file)
