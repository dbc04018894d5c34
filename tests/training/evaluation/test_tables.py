from io import StringIO

from rich.console import Console

from tests.exports.builders import failure, row
from warex.analysis.stats.estimates import Rate
from warex.training.evaluation.answer_classes import ClassifiedAnswer
from warex.training.evaluation.recovery_test import results
from warex.training.evaluation.tables import shown, side_by_side, summary, summary_data

ROWS = [failure("f1"), row("c1")]
ANSWERED = {
    "base": {
        "f1": ClassifiedAnswer("noop", "noop()", same_kind=False),
        "c1": ClassifiedAnswer("agreement", "click('1')", same_kind=True),
    },
    "tuned": {
        "f1": ClassifiedAnswer("recovery", "reload()", same_kind=True),
        "c1": ClassifiedAnswer("false_reload", "reload()", same_kind=False),
    },
}


def test_the_table_has_a_line_for_each_model_and_says_what_it_answered() -> None:
    console = Console(width=120, record=True, file=StringIO())
    console.print(summary(results(ROWS, ANSWERED)))

    text = console.export_text()
    assert "base: noop 1" in text
    assert "tuned: recovery 1" in text
    assert "1/1 (2-100%)" in text


def test_programs_read_rates_with_their_intervals() -> None:
    base, tuned = summary_data(results(ROWS, ANSWERED))

    assert base["recovery"]["hits"] == 0
    assert tuned["recovery"]["n"] == 1
    assert tuned["p"] == 1
    assert tuned["clean"]["false_reloads"]["value"] == 1
    assert tuned["by_fault"]["http_error"]["hits"] == 1


def test_answers_are_listed_side_by_side() -> None:
    faults, clean = side_by_side(ROWS, ANSWERED).split("\n\n")

    head, _, line = faults.splitlines()
    assert head == "| task | fault | base | tuned |"
    assert line == "| task-f1 | http_error nginx | ✗ noop `noop()` | ✓ recovery `reload()` |"
    head, _, line = clean.splitlines()
    assert head == "| task | clean step | base | tuned |"
    assert line.endswith("| ✓ agreement `click('1')` | ✗ false reload `reload()` |")


def test_zero_of_zero_is_a_dash() -> None:
    assert shown(Rate(0, 0)) == "—"
