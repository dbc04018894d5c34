from tests.faults.variation.injected import settings
from warex.faults.variation.relabel import SYNONYMS, VERBS, Relabel

SAME = (
    {"log in", "login", "sign in"},
    {"log out", "logout", "sign out"},
    {"username", "user name"},
)
JOINS = {"register", "sign up", "create account"}


def test_no_label_is_another_things_name_or_is_offered_for_two_things() -> None:
    for table in (SYNONYMS, VERBS):
        for message, others in table.items():
            for other in others:
                assert other.lower() not in table, other
                also = {it for it, names in table.items() if other in names}
                assert any(also <= group for group in ({message}, *SAME, JOINS)), (other, also)


def test_the_strength_is_the_share_of_the_known_labels_that_change() -> None:
    assert settings(Relabel(strength=0))["words"] == {}
    assert settings(Relabel(strength=1))["words"].keys() == SYNONYMS.keys()
    assert 30 < len(settings(Relabel(strength=0.5))["words"]) < 65


def test_what_changes_at_a_lower_strength_changes_alike_at_a_higher() -> None:
    some, more = (settings(Relabel(strength=it))["words"] for it in (0.3, 0.7))

    assert some.items() < more.items()


def test_another_seed_chooses_other_words() -> None:
    assert len({settings(Relabel(strength=1), seed)["words"]["save"] for seed in range(20)}) == 2
