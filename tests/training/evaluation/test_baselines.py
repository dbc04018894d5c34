from collections.abc import Sequence

import pytest

from tests.exports.builders import MANIFEST, failure, row
from warex.exports.rows import Row
from warex.llm.actions.vocabulary import Vocabulary
from warex.training.evaluation.baselines import BaselineResult, baselines, separable_by
from warex.training.evaluation.tables import verdict_on_test

BUSY = "# Current page\n\n" + "\n".join(f"[{at}] link 'Page {at}'" for at in range(1, 9))


def vocabulary(_: Row) -> Vocabulary:
    return MANIFEST.vocabularies["testbed"]


def clean(name: str, site: str = "shop.example", page: str = BUSY) -> Row:
    return row(name, site=site, messages=[{"role": "user", "content": page}, row().answer])


def by_name(rows: Sequence[Row], train: Sequence[Row] = ()) -> dict[str, BaselineResult]:
    return {one.name: one for one in baselines(rows, train, vocabulary)}


def test_few_elements_words_and_majority_are_measured_on_the_same_rows() -> None:
    sites = [f"{at}.example" for at in range(6)]
    rows = [
        it for site in sites for it in (clean(f"c{site}", site), failure(f"f{site}", site=site))
    ]

    results = by_name([*rows, clean("more")])

    assert (str(results["few elements"].recovery), str(results["few elements"].false_reloads)) == (
        "6/6",
        "0/7",
    )
    assert results["bag of words"].learnt_from == "the test, by site"
    assert results["bag of words"].balanced == 1
    assert (results["majority"].recovery.hits, results["majority"].false_reloads.hits) == (0, 0)


def test_words_are_learnt_from_the_training_rows_that_are_given() -> None:
    train = [clean("t1"), failure("t2")]

    results = by_name([clean("c"), failure("f")], train)

    assert results["bag of words"].learnt_from == "2 training rows"
    assert results["bag of words"].balanced == 1


def test_a_wanted_reload_of_a_clean_step_is_not_a_false_reload() -> None:
    wanted = row(messages=[{"role": "user", "content": "heading 'Empty'"}, failure().answer])

    assert by_name([wanted, failure()])["few elements"].false_reloads.hits == 0


def test_without_scikit_learn_the_rules_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warex.training.evaluation.baselines.can_count_words", lambda: False)

    assert set(by_name([clean("c"), failure("f")], [clean("t"), failure("u")])) == {
        "few elements",
        "majority",
        "first element",
    }


def clicking(name: str, wanted: str, page: str = BUSY) -> Row:
    answer = {"role": "assistant", "content": f"click('{wanted}')"}
    return row(name, messages=[{"role": "user", "content": page}, answer])


def test_a_click_on_the_first_element_counts_where_it_is_wanted_or_reloads() -> None:
    again = [{"role": "user", "content": "[3] button 'Try again'"}, failure().answer]
    rows = [clicking("a", "1"), clicking("b", "2"), failure("f"), failure("g", messages=again)]
    retry_on_clean = clicking("c", "4", "[3] button 'Try again'\n[4] link 'Cart'")

    first = by_name([*rows, retry_on_clean])["first element"]

    assert str(first.agreement) == "1/3"
    assert str(first.recovery) == "1/2"
    assert str(first.false_reloads) == "1/3"
    assert first.balanced == pytest.approx((1 / 2 + 1 / 3) / 2)


def test_words_of_the_history_alone_are_a_baseline_where_there_is_one() -> None:
    def after(name: str, site: str, past: str, *, failing: bool) -> Row:
        made = failure if failing else row
        prompt = {"role": "user", "content": f"# Current page\n\n{BUSY}\n\n# History\n\n{past}"}
        return made(name, site=site, messages=[prompt, made().answer])

    sites = [f"{at}.example" for at in range(6)]
    rows = [after(f"c{it}", it, "click('4')", failing=False) for it in sites]
    rows += [after(f"f{it}", it, "the list is missing", failing=True) for it in sites]

    assert by_name(rows)["words of the history"].balanced == 1
    assert "words of the history" not in by_name([clean("c"), failure("f")], [clean("t")])


def test_a_test_is_separable_from_six_tasks_of_each_kind() -> None:
    both = [it(f"{it.__name__}{at}") for at in range(6) for it in (clean, failure)]
    easy = baselines(both, (), vocabulary)
    few = baselines(both[:10], (), vocabulary)
    hard = baselines([clean("c", page="heading 'Empty'"), failure("f")], (), vocabulary)

    assert separable_by(easy) is not None
    assert verdict_on_test(easy).startswith("This test is separable: few elements is right in 100%")
    assert separable_by(few) is None
    assert verdict_on_test(few).startswith("This test has too few tasks to tell")
    assert separable_by(hard) is None
    assert "not separable" in verdict_on_test(hard)
    assert verdict_on_test(baselines([failure("f")], (), vocabulary)) == ""
