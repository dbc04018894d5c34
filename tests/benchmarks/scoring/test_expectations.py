"""What counts as a success."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from warex.benchmarks.scoring.expectations import Expectation, judge, reset
from warex.clock import Clock
from warex.errors import TrialVoid
from warex.scenarios.mistakes import validate_document
from warex.traces import RequestSeen, ResponseSeen, Trace, TraceWriter, TrialBegan, read_trace
from warex.traces.event_parts import Timings


def solved(expect: Any, answer: str = "", trace: Trace | None = None) -> bool:
    expectation = Expectation.model_validate(expect)
    return judge(expectation, answer=lambda: answer, trace=trace, verifiers=("judge/",)).solved


def trace_of(folder: Path, *pages: dict[str, Any], record: Any = "all") -> Trace:
    with TraceWriter(folder / "events.jsonl", Clock()) as writer:
        writer.write(TrialBegan(record=record))
        for number, page in enumerate(pages):
            fields: dict[str, Any] = {
                "resource": "document",
                "top_level": True,
                "headers": [],
            } | page
            status, by = fields.pop("status", 200), fields.pop("by", "site")
            fixed: dict[str, Any] = {"http_version": "2", "connection": "c", "size": 0}
            writer.write(
                RequestSeen(
                    exchange=f"x{number}", method=fields.pop("method", "GET"), **fields, **fixed
                )
            )
            if by is not None:
                writer.write(
                    ResponseSeen(
                        exchange=f"x{number}",
                        status=status,
                        resource=fields["resource"],
                        by=by,
                        size=0,
                        timings=Timings(total=0.1),
                    )
                )
    return read_trace(folder / "events.jsonl")


@pytest.mark.parametrize(
    ("expect", "answer", "good"),
    [
        ("Order placed", "… your ORDER\n  placed.", True),
        ("Order placed", "no order was placed", False),
        ({"regex": r"^total: \d+$"}, "done\ntotal: 42\n", True),
        ({"regex": "Total"}, "total", False),
        ({"text": "42", "regex": "^no$"}, "42", False),
        ({"text": "42", "regex": "^4"}, "42", True),
    ],
)
def test_a_text_or_a_pattern_is_looked_for_in_the_answer(
    expect: Any, answer: str, good: bool
) -> None:
    assert solved(expect, answer) is good


@pytest.mark.parametrize(("code", "good"), [(0, True), (1, False)])
def test_a_check_says_by_its_code_whether_it_is_solved(code: int, good: bool) -> None:
    expect = {"check": [sys.executable, "-c", f"import sys; sys.exit({code})"]}

    assert solved(expect) is good


@pytest.mark.parametrize("code", ["sys.exit(2)", "os.kill(os.getpid(), 15)", "sys.exit(-1)"])
def test_a_check_that_cannot_decide_voids_the_trial(code: str) -> None:
    with pytest.raises(TrialVoid, match=r"the check cannot tell: it (ended|was ended) .* said no"):
        solved({"check": [sys.executable, "-c", f"import os, sys; {code}"]})


def test_a_reset_that_fails_voids_the_trial_with_its_words() -> None:
    reset((sys.executable, "-c", ""))
    with pytest.raises(
        TrialVoid, match="was not reset: the command ended with code 1 and said: ow"
    ):
        reset((sys.executable, "-c", "import sys; sys.exit('ow')"))


THANKS = {"url": "https://s.example/thanks?n=7"}


@pytest.mark.parametrize(
    ("pages", "good"),
    [
        ([{"url": "https://s.example/"}, THANKS], True),
        ([THANKS, {"url": "https://s.example/"}], False),
        ([THANKS | {"status": 500}], False),
        ([THANKS | {"by": "warex"}], False),
        ([THANKS | {"by": None}], False),
        ([THANKS, {"url": "https://s.example/ad", "top_level": False}], True),
        ([THANKS, {"url": "https://s.example/x.js", "resource": "script"}], True),
        ([THANKS, {"url": "https://s.example/save", "status": 204}], True),
        (
            [THANKS, {"url": "https://s.example/next", "headers": [("Sec-Purpose", "prefetch")]}],
            True,
        ),
        ([THANKS, {"url": "https://s.example/all", "headers": [("User-Agent", "judge/1")]}], True),
        ([], False),
    ],
)
def test_the_last_page_that_the_site_gave_the_browser_is_where_it_ended(
    tmp_path: Path, pages: Sequence[dict[str, Any]], good: bool
) -> None:
    trace = trace_of(tmp_path, *pages)

    assert solved({"url": "https://s.example/thanks*"}, trace=trace) is good


def test_where_the_pages_were_not_seen_the_trial_is_void(tmp_path: Path) -> None:
    with pytest.raises(TrialVoid, match="without the proxy it is not known"):
        solved({"url": "*"})
    with pytest.raises(TrialVoid, match="leave --record concerned out"):
        solved({"url": "*"}, trace=trace_of(tmp_path, THANKS, record="concerned"))


@pytest.mark.parametrize(
    ("expect", "says"),
    [
        ({}, "give at least one of text, regex, check and url"),
        (" ", "a blank text is in every answer"),
        ({"regex": "("}, "is not a regular expression"),
        ({"url": "/thanks"}, "`/thanks` matches no URL; write https://… or begin with *"),
        ({"check": ""}, "check"),
        ({"texts": "a"}, "did you mean 'text'"),
    ],
)
def test_what_cannot_be_expected_is_reported(expect: Any, says: str) -> None:
    made, mistakes = validate_document(Expectation, expect)

    assert made is None
    assert any(says in mistake for mistake in mistakes), mistakes
