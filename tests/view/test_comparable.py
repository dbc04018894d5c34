from pathlib import Path

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.view.comparable import clean_twin, comparable
from warex.view.run_document import Attempt, attempts_of


def trials(run: Path) -> dict[str, Attempt]:
    folder = RunFolder(run).manifest()
    for condition, agent, repeat in (
        ("clean", "patient", 1),
        ("server-error", "patient", 1),
        ("server-error", "patient", 2),
        ("server-error", "hasty", 1),
        ("clean", "hasty", 1),
        ("popup", "patient", 1),
    ):
        folder.trial(condition, "add", failed(), Story().stops(), agent=agent, repeat=repeat)
    folder.trial("server-error", "sub", solved(), Story().stops())
    return attempts_of(run)


def named(attempts: dict[str, Attempt], condition: str, task: str = "add") -> Attempt:
    return next(
        one for one in attempts.values()
        if (one.key.condition, one.key.task, one.key.agent, one.key.repeat)
        == (condition, task, "patient", 1)
    )  # fmt: skip


def test_what_differs_in_one_thing_is_offered_the_twin_first(tmp_path: Path) -> None:
    runs = trials(tmp_path / "new"), trials(tmp_path / "old")

    others = comparable(runs, ("new", "old"), 0, named(runs[0], "server-error"))

    assert [(other["run"], other["differs"], other["label"]) for other in others] == [
        (0, "clean twin", "condition clean"),
        (0, "repeat", "repeat 2"),
        (0, "agent", "agent hasty"),
        (1, "run", "old"),
        (0, "condition", "condition popup"),
    ]


def test_the_twin_is_the_last_clean_attempt_of_the_same_task(tmp_path: Path) -> None:
    attempts = trials(tmp_path)
    again = RunFolder(tmp_path).trial("clean", "add", solved(), Story().stops(), attempt=2)
    attempts = attempts_of(tmp_path)

    twin = clean_twin(attempts, named(attempts, "server-error").key)

    assert twin
    assert twin.path == again
    assert clean_twin(attempts, twin.key) is None
