"""What becomes of a lie, on traces made by hand."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.analysis.builders import SHOP, WORDS, Story
from warex.analysis.recovery import Recovery, lies_in, recoveries
from warex.traces import read_trace


def recovery_of(story: Story, *, solved: bool = False) -> Recovery:
    with TemporaryDirectory() as folder:
        trace = read_trace(story.write(Path(folder) / "events.jsonl"))
    (recovery,) = recoveries(trace.entries, WORDS, solved=solved)
    return recovery


def lied(before: str = "12.50", after: str | None = "13.50") -> Story:
    return Story().thinks(1, "goto", arguments=(SHOP,)).page("x0").lied(1, before, after)


def answers(story: Story, answer: str) -> Story:
    return story.thinks(9, "send_msg_to_user", arguments=(answer,)).stops()


@pytest.mark.parametrize(
    ("before", "after", "false", "true"),
    [
        ("12.50", "13.50", "It costs $13.5.", "It costs $12.50."),
        ("1299.00", "1298.00", "1,298 dollars", "1,299.00"),
        ("$12.50", "\u20ac12.50", "\u20ac 12.50", "12.50 $"),
        ("2027-03-12", "2027-03-13", "On March 13, 2027", "the 12th of March"),
        ("Anna Smith", "Anna Novak", "anna  novak wrote it", "by Anna Smith."),
    ],
)
def test_a_false_value_is_passed_on_and_the_true_one_is_a_workaround(
    before: str, after: str, false: str, true: str
) -> None:
    wrong, right = (
        recovery_of(answers(lied(before, after), false)),
        recovery_of(answers(lied(before, after), true)),
    )

    assert (wrong.lie, wrong.verdict, wrong.detected) == ("passed_on", "not_recovered", False)
    assert (right.lie, right.verdict) == ("worked_around", "recovered")
    assert wrong.call_seq == right.call_seq is not None


def test_the_false_value_typed_into_a_form_is_passed_on() -> None:
    story = lied().thinks(2, "fill", arguments=("7", "13.50"))

    assert recovery_of(answers(story, "done")).lie == "passed_on"


@pytest.mark.parametrize(
    ("words", "lie", "verdict"),
    [
        ("The order is there twice.", "noticed", "recovered"),
        ("There is a duplicate entry: I delete one.", "noticed", "recovered"),
        ("The order is placed.", None, "undecided"),
    ],
)
def test_mentioning_a_doubled_write_counts_as_noticed(
    words: str, lie: str | None, verdict: str
) -> None:
    story = Story().thinks(1, "goto", arguments=(SHOP,)).page("x0")
    story = story.lied(1, "once", "twice", effect="duplicate_request").says(2, words)
    recovery = recovery_of(answers(story, "done"))

    assert (recovery.lie, recovery.verdict) == (lie, verdict)


def lost() -> Story:
    story = Story().thinks(1, "click").asks("x1", method="POST")
    return story.planned("i1", "x1", kind="lost_write").gets("x1").delivered("i1", "x1")


@pytest.mark.parametrize("solved", [True, False])
def test_claiming_a_lost_write_passes_the_lie_on(solved: bool) -> None:
    recovery = recovery_of(answers(lost(), "It is saved."), solved=solved)

    assert (recovery.lie, recovery.verdict) == (
        ("not_affected", "not_needed") if solved else ("passed_on", "not_recovered")
    )


def test_repeating_a_lost_write_counts_as_noticed() -> None:
    story = lost().thinks(2, "click").asks("x2", method="POST").gets("x2")

    assert recovery_of(answers(story, "It is saved."), solved=True).lie == "noticed"


def test_an_agent_without_an_answer_passes_no_lie_on() -> None:
    assert recovery_of(lost().thinks(2, "click").stops()).lie is None


def test_only_lies_have_a_lie_outcome() -> None:
    story = Story().thinks(1, "goto").fault(1)

    assert recovery_of(answers(story, "It is saved.")).lie is None


def test_a_number_with_the_same_beginning_is_another_number() -> None:
    assert recovery_of(answers(lied("12", "13"), "Order 135 of room 1.13")).lie == "not_affected"


def test_an_agent_that_used_neither_value_is_not_affected() -> None:
    recovery = recovery_of(answers(lied(), "It is blue."))

    assert (recovery.lie, recovery.verdict, recovery.is_rated) == (
        "not_affected",
        "not_needed",
        False,
    )


def test_words_of_doubt_that_are_new_are_noticed() -> None:
    story = lied().says(2, "The total is inconsistent with the price of 13.50.")

    recovery = recovery_of(answers(story, "I am not sure."))

    assert (recovery.lie, recovery.verdict, recovery.detected) == ("noticed", "recovered", True)
    assert recovery.steps == 1


def test_words_that_the_model_always_uses_show_nothing() -> None:
    story = Story().says(1, "Nothing unexpected.").page("x0").lied(1, "12.50", "13.50")
    story.says(2, "Nothing unexpected.")

    assert recovery_of(answers(story, "It is blue.")).lie == "not_affected"


def test_asking_for_the_same_page_again_is_noticed() -> None:
    story = lied().thinks(2, "reload").page("x2")

    assert recovery_of(answers(story, "It is blue.")).lie == "noticed"


def test_an_earlier_doubt_does_not_excuse_a_false_answer() -> None:
    story = lied().says(2, "That is strange.")

    assert recovery_of(answers(story, "13.50")).lie == "passed_on"
    doubting = lied()
    assert recovery_of(answers(doubting, "13.50, which looks incorrect")).lie == "noticed"


def test_removed_items_cannot_be_recognised_in_words() -> None:
    assert recovery_of(answers(lied("Blue", None), "Two items")).verdict == "undecided"
    assert recovery_of(answers(lied("Blue", "null"), "Two items")).lie is None
    assert recovery_of(answers(lied("Blue", None), "Two"), solved=True).verdict == "not_needed"


def test_a_solved_task_needs_no_recovery_from_a_lie() -> None:
    recovery = recovery_of(answers(lied(), "13.50"), solved=True)

    assert (recovery.lie, recovery.verdict) == ("passed_on", "not_needed")


def test_without_a_model_call_a_lies_outcome_is_unknown() -> None:
    assert recovery_of(Story().page("x0").lied(1, "1", "2")).verdict == "undecided"


def test_lies_are_counted_by_outcome() -> None:
    recoveries = [recovery_of(answers(lied(), answer)) for answer in ("13.50", "13.5", "blue")]

    assert lies_in(recoveries) == (("not_affected", 1), ("passed_on", 2))
