"""What describes an action."""

from tests.training.ranking.test_candidates import template, wanting
from warex.training.ranking.candidates import candidates
from warex.training.ranking.features import features

BUCKETS = 2**14


def described(page: str, goal: str = "Open the cart.") -> list[list[int]]:
    made = template("click('1')", "[1] button 'Save'", goal)
    _, read = wanting("", page, goal)
    return features(read, candidates(read, [made]), BUCKETS)


def test_features_depend_on_the_element_and_are_deterministic() -> None:
    one, other = described("[3] button 'Cart'\n[4] button 'Home'")

    assert one != other
    assert [one, other] == described("[3] button 'Cart'\n[4] button 'Home'")
    assert all(0 <= bucket < BUCKETS for bucket in one)


def test_the_number_of_an_element_says_nothing() -> None:
    assert described("[3] button 'Cart'") == described("[88] button 'Cart'")


def test_the_goal_s_words_count() -> None:
    assert described("[3] button 'Cart'") != described("[3] button 'Cart'", "Open the page.")
