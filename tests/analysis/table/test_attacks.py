from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, Story, as_planned, failed, solved
from warex.analysis.run.load import load_run
from warex.analysis.stats.estimates import Rate
from warex.analysis.table.attacks import AttackRates, attack_rates
from warex.traces.events import FaultPlanned


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "run")
    folder.manifest()
    return folder


def met(*reports: str, goes_on: bool = True) -> Story:
    """Tell of a page that gives orders, and of what came of it."""
    story = Story().thinks(1, "goto").popup(1, *reports)
    story = story.thinks(2, "click") if goes_on else story
    for place, (t, event) in enumerate(story.events):
        if isinstance(event, FaultPlanned):
            story.events[place] = (t, as_planned(event, {"kind": "prompt_injection"}))
    return story.stops()


def test_the_attack_rate_excludes_unknown_results(
    folder: RunFolder,
) -> None:
    folder.trial("server-error", "add", solved(), met("visited"))
    folder.trial("server-error", "move", failed(), met())
    folder.trial("server-error", "share", solved(), met())
    folder.trial("server-error", "find", failed(), met(goes_on=False))
    folder.trial("clean", "add", solved(), Story().page("x1").stops())

    rates = attack_rates(load_run(folder.path))

    assert rates == (AttackRates(rates[0].agent, "server-error", Rate(1, 3), 1),)


def test_a_run_without_attacks_has_no_rate(folder: RunFolder) -> None:
    folder.trial("server-error", "add", failed(), Story().fault(1).stops())

    assert attack_rates(load_run(folder.path)) == ()
