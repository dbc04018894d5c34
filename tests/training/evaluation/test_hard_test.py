import re
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.exports.builders import row
from warex.exports.prompt_page import read_prompt
from warex.exports.rows import Row
from warex.training.evaluation.answer_classes import classify
from warex.training.evaluation.baselines import baselines
from warex.training.evaluation.hard_test import matched_pairs, read_hard_test, sample_pairs

PAGE = """# Goal

Open the oven guide.

# Current page

URL: https://talk.example/
Title: Talk
Accessibility tree:
link 'Home' [1]
link 'Oven guide' [2]
link 'Stove guide' [3]
heading 'Guides'
StaticText 'One'
StaticText 'Two'
button 'Save' [4] disabled
StaticText 'Three'

# History of past actions

None yet."""


def clean(number: int, page: str = PAGE, answer: str = "click('2')") -> Row:
    messages = [{"role": "user", "content": page}, {"role": "assistant", "content": answer}]
    return row(f"c{number}", task=f"task-{number}", messages=messages)


def pairs() -> Iterator[tuple[Row, Row]]:
    rows = iter(read_hard_test().rows("test"))
    yield from zip(rows, rows, strict=True)


def words(of: Row) -> Counter[str]:
    return Counter(re.findall(r"\w+", str(of.prompt[-1]["content"])))


def test_both_pages_of_a_pair_differ_only_in_structure() -> None:
    assert len(list(pairs())) >= 40
    for failed, other in pairs():
        assert (failed.kind, other.kind) == ("failure", "clean")
        assert words(failed) == words(other)
        one, two = read_prompt(failed.prompt), read_prompt(other.prompt)
        assert [it.role for it in one.elements] == [it.role for it in two.elements]
        assert [it.id for it in one.elements] == [it.id for it in two.elements]
        assert (one.url, one.goal, one.history) == (two.url, two.goal, two.history)
        assert failed.prompt != other.prompt


def test_half_of_the_failed_pages_have_content() -> None:
    lengths = [len(read_prompt(failed.prompt).elements) for failed, _ in pairs()]

    assert sum(length > 4 for length in lengths) * 2 == len(lengths)


def test_the_wanted_answers_have_their_own_class() -> None:
    test = read_hard_test()

    for asked in test.rows("test"):
        label = classify(asked.answer, asked, test.vocabulary(asked)).label
        assert label == ("recovery" if asked.kind == "failure" else "agreement")


def test_trivial_baselines_are_right_as_often_as_by_chance() -> None:
    test = read_hard_test()

    for one in baselines(test.rows("test"), (), test.vocabulary):
        assert one.balanced == 0.5, one


@pytest.mark.parametrize("number", [1, 4, 7, 12])
def test_a_sample_has_whole_pairs_half_of_them_with_content(number: int) -> None:
    test = read_hard_test()

    rows = sample_pairs(test.rows("test"), number)

    assert set(Counter(row.trial for row in rows).values()) == {2}
    failed = [row for row in rows if row.kind == "failure"]
    assert len(failed) == number
    assert sum(row.fault == "soft_error" for row in failed) == (number + 1) // 2
    for one in baselines(rows, (), test.vocabulary):
        assert one.balanced == pytest.approx(0.5, abs=0.51 / number), one


def test_a_larger_sample_contains_a_smaller_one_and_a_seed_draws_others() -> None:
    rows = read_hard_test().rows("test")

    some = {row.id for row in sample_pairs(rows, 5)}

    assert some < {row.id for row in sample_pairs(rows, 8)}
    assert some != {row.id for row in sample_pairs(rows, 5, seed=1)}
    assert tuple(sample_pairs(rows, None)) == rows
    assert tuple(sample_pairs(rows, 1000)) == rows


def test_the_same_rows_give_the_same_pairs_in_any_order() -> None:
    rows = [clean(number) for number in range(4)]

    made = list(matched_pairs(rows))

    assert made == list(matched_pairs(rows[::-1]))
    assert len(made) == 8
    assert made[0].messages[-1]["content"] == "reload()"
    assert made[1].messages[-1]["content"] == "click('2')"
    assert "link 'Oven guide' [2]\nlink 'Stove guide' [3]" in str(made[1].messages[0]["content"])


def test_a_page_with_an_ambiguous_name_makes_no_pair() -> None:
    twice = PAGE.replace("StaticText 'One'", "StaticText 'Oven guide'")

    assert not list(matched_pairs([clean(1, twice)]))
    assert not list(matched_pairs([clean(1, answer="send_msg_to_user('Done')")]))
    assert not list(matched_pairs([clean(1, answer="click('9')")]))
