from pathlib import Path

import msgspec
import pytest

from tests.analysis.builders import SHOP, WORDS, RunFolder, Story, failed, solved
from warex.analysis.trial.behaviour import PERSISTENCE_STEPS, PREMATURE_STOP_STEPS, Behaviour
from warex.analysis.trial.record import TrialRecord, load_trial
from warex.traces.events import FaultPlanned
from warex.traces.outcome import Counted, Ending, Outcome


def trial(tmp_path: Path, story: Story, outcome: Outcome) -> TrialRecord:
    return load_trial(RunFolder(tmp_path).trial("server-error", "add", outcome, story), WORDS)


def test_a_reload_asks_for_the_open_page_by_its_action_or_by_its_url(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto", arguments=[f"'{SHOP}'"]).page("x1")
    story.thinks(2, "reload").page("x2")
    story.thinks(3, "goto", arguments=[f"'{SHOP}#top'"]).page("x3")
    story.thinks(4, "goto", arguments=[f"{SHOP}cart"]).page("x4", f"{SHOP}cart")
    story.thinks(5, "goto", arguments=[SHOP])

    assert trial(tmp_path, story, solved()).behaviour.reloads == 2


def test_giving_up_after_a_fault_without_a_right_try_is_a_premature_stop(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto").fault(1).thinks(2, "report_infeasible").stops()
    record = trial(tmp_path, story, failed())

    assert record.behaviour == Behaviour(steps_after=1, tries=0)
    assert record.behaviour.premature_stop(record.outcome)
    assert not record.behaviour.fruitless(record.outcome)


def test_going_on_for_long_without_the_page_is_fruitless(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto").fault(1)
    for step in range(2, 2 + PERSISTENCE_STEPS):
        story.thinks(step, "goto").page(f"x{step}", "https://search.example/")
    record = trial(tmp_path, story.stops(), failed())

    assert record.behaviour.steps_after == PERSISTENCE_STEPS
    assert record.behaviour.fruitless(record.outcome)
    assert not record.behaviour.premature_stop(record.outcome)


def test_a_recovered_agent_is_neither_premature_nor_fruitless(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto").fault(1).thinks(2, "reload").page("x2")
    record = trial(tmp_path, story.thinks(3, "send_msg_to_user").stops(), failed())

    assert record.behaviour.steps_after is None
    assert not record.behaviour.premature_stop(record.outcome)
    assert not record.behaviour.fruitless(record.outcome)


@pytest.mark.parametrize(
    ("ways", "ending", "score", "premature", "fruitless"),
    [
        (Behaviour(steps_after=PREMATURE_STOP_STEPS), "answered", 0, True, False),
        (Behaviour(steps_after=PREMATURE_STOP_STEPS), "answered", 1, False, False),
        (Behaviour(steps_after=PREMATURE_STOP_STEPS + 1), "answered", 0, False, False),
        (Behaviour(steps_after=1, tries=1), "answered", 0, False, False),
        (Behaviour(steps_after=1, tries=PREMATURE_STOP_STEPS), "answered", 0, False, True),
        (Behaviour(steps_after=1), "agent_crashed", 0, False, False),
        (Behaviour(steps_after=PERSISTENCE_STEPS), "step_limit", 0, False, True),
        (Behaviour(), "answered", 0, False, False),
    ],
)
def test_the_limits_of_too_early_and_too_late(
    ways: Behaviour, ending: Ending, score: float, premature: bool, fruitless: bool
) -> None:
    outcome = Counted(ending=ending, score=score, latency_s=1)
    assert ways.premature_stop(outcome) == premature
    assert ways.fruitless(outcome) == fruitless
    assert not ways.premature_stop(None)


def _posts(number: int, story: Story, body: int = 1, repeat_of: str | None = None) -> Story:
    exchange = f"w{number}"
    return story.writes(exchange, body, repeat_of).gets(exchange, 200, "xhr")


def test_a_write_that_the_site_had_is_duplicated_when_sent_again(tmp_path: Path) -> None:
    story = Story().thinks(1, "click").writes("w1", 1)
    story.planned("i1", "w1", f"{SHOP}order")
    # The site has acted; only its answer is replaced.
    last = story.events[-1]
    assert isinstance(last[1], FaultPlanned)
    story.events[-1] = (last[0], msgspec.structs.replace(last[1], stage="response"))
    story.gets("w1", 500, "xhr", "warex").delivered("i1", "w1").thinks(2, "click")

    assert trial(tmp_path, _posts(2, story), solved()).behaviour.duplicated_writes == 1


def test_a_write_that_never_reached_the_site_is_not_duplicated(tmp_path: Path) -> None:
    story = Story().thinks(1, "click").writes("w1", 1)
    story.planned("i1", "w1", f"{SHOP}order").gets("w1", 500, "xhr", "warex")
    story.delivered("i1", "w1").thinks(2, "click")

    assert trial(tmp_path, _posts(2, story), solved()).behaviour.duplicated_writes == 0


def test_other_bodies_earlier_writes_and_silent_repeats_are_not_duplicates(tmp_path: Path) -> None:
    story = _posts(2, _posts(1, Story().thinks(1, "click")))  # Twice, but before any fault.
    story.fault(1)
    _posts(3, story, body=2)
    _posts(4, story, repeat_of="w3")

    assert trial(tmp_path, story, solved()).behaviour.duplicated_writes == 0
    _posts(5, story, body=2)
    assert trial(tmp_path / "again", story, solved()).behaviour.duplicated_writes == 1
