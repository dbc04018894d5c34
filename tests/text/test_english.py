"""A noun has the article that is spoken before it, and a word that is not known the nearest one."""

import pytest

from warex.text.english import count_noun, did_you_mean, listing, nearest, of_number, with_article


@pytest.mark.parametrize(
    "text",
    [
        "an image",
        "a script",
        "an xhr",
        "an other",
        "a font",
        "a URL",
        "a user",
        "a unit",
        "a usage",
        "a Unix socket",
        "a UDP port",
        "an unknown name",
        "an HTML page",
        "an XHR",
        "an SPA",
        "a HAR file",
        "a one-shot",
        "an hour",
        "a host",
        "a JSON file",
        "an empty text",
        "a manifest",
        "an outcome",
        "an index",
    ],
)
def test_a_noun_has_the_article_that_is_spoken_before_it(text: str) -> None:
    assert with_article(text.partition(" ")[2]) == text


def test_the_nearest_word_is_asked_for_if_one_is_near_enough() -> None:
    assert did_you_mean("refesh", ("reload", "refresh")) == "; did you mean 'refresh'?"
    assert did_you_mean("refesh", ("reload", "refresh"), likeness=0.95) == ""
    assert did_you_mean("nothing", ()) == ""


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("server_error", "paper/server-error"),
        ("timeout", "timeout_s"),
        ("maxSteps", "max_steps"),
        ("PAPER/Server-Error", "paper/server-error"),
        ("scenarios", None),
        ("scenario", None),
        ("latency", None),
    ],
)
def test_a_word_that_only_shares_some_letters_is_no_guess(word: str, near: str | None) -> None:
    known = ("schema_version", "sarif", "isolate", "timeout_s", "max_steps", "paper/server-error")
    assert nearest(word, known) == near


def test_a_noun_is_counted_as_people_do() -> None:
    assert [count_noun(n, "trial") for n in (0, 1, 2, 1200)] == [
        "0 trials",
        "1 trial",
        "2 trials",
        "1,200 trials",
    ]
    assert count_noun(1, "query", "queries") == "1 query"
    assert count_noun(2, "query", "queries") == "2 queries"
    assert [of_number(number, "step") for number in (0, 1, 1.0, 1.5)] == [
        "steps",
        "step",
        "step",
        "steps",
    ]


def test_words_are_listed_as_in_a_sentence() -> None:
    assert [listing("a"), listing("ab"), listing("abc", "or")] == ["a", "a and b", "a, b or c"]
