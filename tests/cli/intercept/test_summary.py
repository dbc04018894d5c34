from pathlib import Path

import pytest

from warex.cli.intercept.summary import summary_sentences
from warex.lane.record.traffic_summary import TrafficSummary

PROGRAM = "a program's request is a page only if a rule names `other` beside `document`"
QUIET: TrafficSummary = {
    "hosts": {},
    "browser": False,
    "exchanges": 3,
    "llm_calls": 0,
    "llm_unread": 0,
    "llm_unread_first": "",
    "answers": 0,
    "acts": False,
    "armed": True,
    "tasks": 0,
    "unattributed": 0,
    "delivered": 0,
    "missed": 0,
}


def test_a_summary_names_the_trace_and_what_shows_it() -> None:
    saw: TrafficSummary = {**QUIET, "delivered": 1, "tasks": 2}

    assert list(summary_sentences(saw, Path("my trial"), "paper/server-error")) == [
        "2 tasks distinguished, 0 exchanges unattributed",
        "trace in my trial: 3 exchanges, 0 LLM calls, 1 fault delivered, 0 missed; look at it:"
        " warex inspect 'my trial'",
    ]


@pytest.mark.parametrize(
    ("saw", "sentence"),
    [
        (QUIET, f"no rule hit any of 3 exchanges; {PROGRAM}"),
        ({**QUIET, "browser": True}, "no rule hit any of 3 exchanges"),
        ({**QUIET, "armed": False}, "no fault could be applied: the scenario was never armed"),
    ],
)
def test_a_scenario_that_hit_nothing_is_explained(saw: TrafficSummary, sentence: str) -> None:
    (explained,) = summary_sentences(saw, None, "paper/server-error")

    assert explained.startswith(sentence)
    assert list(summary_sentences(saw, None, None)) == []
