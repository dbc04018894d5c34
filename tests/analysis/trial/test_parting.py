from pathlib import Path

import msgspec
import pytest
from pydantic import JsonValue

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.analysis.run.load import load_run
from warex.analysis.trial.parting import Parting
from warex.traces.outcome import Void


def partings(run: Path) -> dict[str, Parting | None]:
    return {trial.key.condition: trial.parting for trial in load_run(run).trials}


def faulted(*actions: str, rewrites: bool = False) -> Story:
    story = Story().fault(1)
    if rewrites:
        story.events = [
            (t, msgspec.structs.replace(event, effects=("rewrite",)))
            if event.event == "fault_planned"
            else (t, event)
            for t, event in story.events
        ]
    for number, action in enumerate(actions, 1):
        story.thinks(number, action)
    return story


def test_a_trial_says_where_it_parts_from_its_clean_twin(tmp_path: Path) -> None:
    run = RunFolder(tmp_path).manifest()
    clean = Story().thinks(1, "goto").thinks(2, "click")
    noise = Story().thinks(1, "goto").thinks(2, "fill")
    run.trial("clean", "add", solved(), clean.stops())
    run.trial("same", "add", solved(), faulted("goto", "click").stops())
    run.trial("at", "add", failed(), faulted("reload", "click").stops())
    run.trial("later", "add", failed(), faulted("goto", "reload").stops())
    run.trial("noise", "add", failed(), noise.stops())
    run.trial("void", "add", Void(reason="it died"), noise.stops())
    run.trial("no-twin", "sub", failed(), noise.stops())

    assert partings(tmp_path) == {
        "clean": None,
        "same": "same",
        "at": "at_fault",
        "later": "after_fault",
        "noise": "before_faults",
        "void": None,
        "no-twin": None,
    }


@pytest.mark.parametrize(
    ("ids", "names", "place"),
    [
        # A page that was changed has other ids: the same button is the same, and another is not.
        (("3", "4"), ("Buy", "Buy"), "same"),
        (("3", "3"), ("Buy", "Close"), "at_fault"),
    ],
)
def test_elements_are_compared_by_what_they_are_called(
    tmp_path: Path, ids: tuple[str, str], names: tuple[str, str], place: Parting
) -> None:
    run = RunFolder(tmp_path).manifest()
    stories = Story(), faulted(rewrites=True)
    for story, name, element in zip(stories, names, ids, strict=True):
        prompt: JsonValue = [{"role": "user", "content": f"[{element}] button '{name}'"}]
        story.thinks(1, "click", arguments=[element], messages=prompt)
    run.trial("clean", "add", solved(), stories[0].stops())
    run.trial("popup", "add", solved(), stories[1].stops())

    assert partings(tmp_path)["popup"] == place
