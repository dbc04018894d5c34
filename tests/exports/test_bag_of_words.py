import pytest

from warex.exports.bag_of_words import BagOfWords, prompt_text

TEXTS = ["Bad Gateway", "Basket and Save", "Gateway Timeout", "Save the Basket"]
FAILING = [True, False, True, False]


def test_the_system_message_is_not_counted() -> None:
    prompt = [{"role": "system", "content": "rules"}, {"role": "user", "content": "page"}]

    assert prompt_text(prompt) == "page"


@pytest.mark.slow
def test_a_bag_of_words_classifies_unseen_texts() -> None:
    """Slow: scikit-learn's import takes seconds."""
    words = BagOfWords(TEXTS, FAILING)

    assert words.failures([0, 1], [2, 3]) == [True, False]
    assert words.failures(range(2, 4), range(2)) == [True, False]


@pytest.mark.slow
def test_one_kind_of_training_text_predicts_that_kind() -> None:
    assert BagOfWords(TEXTS, FAILING).failures([0, 2], [1, 3]) == [True, True]
