import pytest

from tests.faults.variation.injected import settings
from warex.faults.variation.relabel import SYNONYMS
from warex.faults.variation.translate import WORDS, Translate


def test_the_language_is_the_one_that_is_asked_for_or_the_seeds() -> None:
    assert settings(Translate(language="fr", strength=1))["words"]["save"] == "Enregistrer"
    assert {settings(Translate(), seed)["language"] for seed in range(40)} == {"de", "fr", "es"}


def test_the_strength_is_the_share_of_the_labels() -> None:
    assert settings(Translate(strength=0))["words"] == {}
    assert settings(Translate(strength=1))["words"].keys() == WORDS.keys()
    assert 20 < len(settings(Translate(strength=0.5))["words"]) < 55


@pytest.mark.parametrize("at", range(3))
def test_two_labels_share_a_translation_only_where_they_mean_the_same(at: int) -> None:
    same = [
        {"log in", "login", "sign in"},
        {"log out", "logout", "sign out"},
        {"about", "about us"},
    ]
    by_word: dict[str, set[str]] = {}
    for message, others in WORDS.items():
        by_word.setdefault(others[at].lower(), set()).add(message)

    assert all(len(it) == 1 or any(it <= group for group in same) for it in by_word.values())


def test_what_is_translated_is_a_label_that_is_known() -> None:
    assert WORDS.keys() <= SYNONYMS.keys()
