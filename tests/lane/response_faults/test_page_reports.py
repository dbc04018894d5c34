"""A report is read once, and only from the script that has the page's key."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.proxy.support.page_reports import PageScript
from warex.lane.response_faults.page_reports import (
    PageReport,
    ReportChannel,
    read_changes,
    read_query,
)
from warex.rewriting.base import ValueChange

KEY = "0a1b"


def script() -> PageScript:
    return PageScript(f'"report":"/9f2c" (run)("{KEY}")')


def test_an_authentic_report_is_read_once() -> None:
    channel, sent = ReportChannel(KEY), script().report("dismissed", "user", "a", "b\nc")

    assert channel.read(sent) == PageReport("dismissed", "user", "a", "b\nc")
    assert channel.read(sent) is None


def test_reports_may_arrive_in_any_order() -> None:
    channel, page = ReportChannel(KEY), script()
    first, second = page.report("shown"), page.report("dismissed", "user")

    assert channel.read(second)
    assert channel.read(first)


def test_the_key_of_another_page_is_worth_nothing() -> None:
    assert ReportChannel("0a1c").read(script().report("shown")) is None


@given(st.binary(max_size=200))
def test_other_requests_are_not_reports(sent: bytes) -> None:
    assert ReportChannel(KEY).read(sent) is None


@given(st.integers(0, 200), st.integers(1, 255))
def test_a_report_with_one_changed_byte_is_ignored(at: int, flip: int) -> None:
    sent = bytearray(script().report("clicked", "script", "detail", "payload"))
    sent[at % len(sent)] ^= flip

    assert ReportChannel(KEY).read(bytes(sent)) is None


@pytest.mark.parametrize(
    ("what", "by"), [("confessed", ""), ("", ""), ("shown", "agent"), ("Shown", "user")]
)
def test_a_report_has_words_of_a_fixed_list(what: str, by: str) -> None:
    assert ReportChannel(KEY).read(script().report(what, by)) is None


@pytest.mark.parametrize(
    ("payload", "changes", "left_out"),
    [
        ("", [], 0),
        ("3\n[]", [], 3),
        ('0\n[["a","Home","Start"]]', [ValueChange("a", "Home", "Start")], 0),
        ('0\n[["a","Home"],["a",1,2],"a",null,{}]', [], 0),
        ('0\n[["a","\\ud800","\\ud83d\\ude00"]]', [ValueChange("a", "\ufffd", "\U0001f600")], 0),
        ("0\n{}", [], 0),
        ("many\n[]", [], 0),
        ("-5\n[]", [], 0),
        ("0\n[", [], 0),
        ("0\n" + "[" * 100_000, [], 0),
    ],
    ids=range(10),
)
def test_changes_are_read_where_they_are_well_formed(
    payload: str, changes: list[ValueChange], left_out: int
) -> None:
    assert read_changes(payload) == (changes, left_out)


@pytest.mark.parametrize(
    ("payload", "text"),
    [(json.dumps('a "b"\n\u00e4'), 'a "b"\n\u00e4'), ("[]", ""), ("{", ""), ("", ""), ("1", "")],
)
def test_a_query_is_a_text_or_empty(payload: str, text: str) -> None:
    assert read_query(payload) == text
