from typing import Any

import pytest

from tests.exports.builders import row
from warex.exports import separability as module
from warex.exports.rows import Row
from warex.exports.separability import Separability, separability

FULL = "\n".join(f"[{at}] link 'Item {at}'" for at in range(1, 6))
EMPTY = "[1] button 'Retry'"


@pytest.fixture
def no_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave scikit-learn out, whose import takes seconds."""
    monkeypatch.setattr(module, "can_count_words", lambda: False)


def example(
    number: int, *, fails: bool, page: str, last: str = "click('1')", **changes: Any
) -> Row:
    text = f"# Goal\n\nBuy.\n\n# Page\n\n{page}\n\n# History\n\nNow.\n{last}"
    messages = [{"role": "user", "content": text}, {"role": "assistant", "content": "reload()"}]
    kind = "failure" if fails else "clean"
    fields = {"kind": kind, "messages": messages, "site": f"s{number % 3}", **changes}
    return row(f"r{number}", **fields)


def measured(rows: list[Row]) -> dict[str, Separability]:
    return {it.rule: it for it in separability(rows)}


@pytest.mark.usefixtures("no_scikit_learn")
def test_the_most_separating_feature_on_other_sites_comes_first() -> None:
    rows = [example(at, fails=at % 2 == 0, page=FULL if at % 2 else EMPTY) for at in range(12)]

    best, *_ = separability(rows)
    results = measured(rows)

    assert best.balanced_accuracy == 1.0
    elements = results["number of usable elements"]
    assert (elements.balanced_accuracy, elements.failures_found, elements.false_alarms) == (1, 1, 0)
    assert elements.held_out == "site"
    assert elements.rows == 12
    assert results["last action of the history"].balanced_accuracy == 0.5


@pytest.mark.usefixtures("no_scikit_learn")
def test_a_history_that_gives_the_class_away_is_found() -> None:
    rows = [
        example(at, fails=at % 2 == 0, page=FULL, last="goto('/')" if at % 2 else "reload()")
        for at in range(12)
    ]

    results = measured(rows)

    assert results["last action of the history"].balanced_accuracy == 1.0
    assert results["number of usable elements"].balanced_accuracy == 0.5


@pytest.mark.usefixtures("no_scikit_learn")
def test_what_is_learnt_of_one_site_alone_separates_nothing_elsewhere() -> None:
    rows = [
        example(at, fails=at % 2 == at % 3 % 2, page=FULL, last="a()" if at % 2 else "b()")
        for at in range(12)
    ]

    assert measured(rows)["last action of the history"].balanced_accuracy < 0.75


@pytest.mark.usefixtures("no_scikit_learn")
def test_with_one_site_tasks_are_held_out() -> None:
    rows = [example(at, fails=at % 2 == 0, page=FULL, site="s") for at in range(4)]

    assert {it.held_out for it in separability(rows)} == {"task"}


@pytest.mark.usefixtures("no_scikit_learn")
def test_rows_of_one_kind_or_one_task_are_not_measured() -> None:
    assert separability([example(at, fails=True, page=FULL) for at in range(4)]) == ()
    one = [example(at, fails=at == 0, page=FULL, site="s", task="t") for at in range(4)]
    assert separability(one) == ()


@pytest.mark.usefixtures("no_scikit_learn")
def test_without_scikit_learn_the_rules_on_words_are_left_out() -> None:
    rules = measured([example(at, fails=at % 2 == 0, page=FULL) for at in range(4)])

    assert set(rules) == {"number of usable elements", "last action of the history"}


@pytest.mark.slow
def test_words_of_page_and_history_separate_the_classes() -> None:
    """Slow: scikit-learn's import takes seconds."""
    rows = [
        example(at, fails=at % 2 == 0, page=FULL, last="I wait." if at % 2 else "I went.")
        for at in range(12)
    ]

    results = measured(rows)

    assert results["words of the history"].balanced_accuracy == 1.0
    assert results["words of the prompt"].balanced_accuracy == 1.0
    assert results["number of usable elements"].balanced_accuracy == 0.5
