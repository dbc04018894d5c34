from pathlib import Path

import pytest

from tests.exports.builders import MANIFEST, failure, row
from warex.errors import InputError
from warex.exports.dataset import Dataset
from warex.exports.rows import ChatMessage, Row
from warex.training.ranking.legal import LegalAnswers, legal_of, read_legal


def dataset(*rows: Row) -> Dataset:
    return Dataset(Path("data"), MANIFEST, {"train": rows})


def page(*elements: str) -> list[ChatMessage]:
    return [{"role": "user", "content": "# Goal\n\nBuy.\n\n# Page\n\n" + "\n".join(elements)}]


def test_legal_answers_are_the_data_sets_forms_on_the_pages_elements() -> None:
    legal = legal_of(dataset(row(), failure()))

    assert set(legal.to(page("[4] button 'Pay'", "[9] button 'Save'")).texts) == {
        "click('4')",
        "click('9')",
        "reload()",
    }
    assert legal.to(page("heading 'Bad Gateway'")).texts == ("reload()",)


def test_a_line_of_thought_is_allowed_where_most_answers_have_one() -> None:
    plain = [{"role": "user", "content": "[1] button 'Save'"}, {"role": "assistant"}]
    silent = row("r2", messages=[plain[0], {**plain[1], "content": "click('1')"}])

    assert legal_of(dataset(row(), failure())).thought
    assert not legal_of(dataset(silent)).thought


def test_where_no_action_is_legal_every_answer_is_allowed() -> None:
    assert LegalAnswers((), {}).to(page("[4] button 'Pay'")).texts == ()


def test_a_data_set_without_an_action_is_refused() -> None:
    words = row(messages=[*page(), {"role": "assistant", "content": "I wait."}])
    with pytest.raises(InputError, match="no answer of train has an action"):
        legal_of(dataset(words))


def test_a_folder_that_is_neither_data_set_nor_ranker_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"neither a data set .* nor a ranker"):
        read_legal(tmp_path)
