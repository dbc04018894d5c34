"""A noun has the article that is spoken before it, and a word that is not known the nearest one."""

import pytest

from warex.words import a, did_you_mean


@pytest.mark.parametrize(
    "said",
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
def test_a_noun_has_the_article_that_is_spoken_before_it(said: str) -> None:
    assert a(said.partition(" ")[2]) == said


def test_the_nearest_word_is_asked_for_if_one_is_near_enough() -> None:
    assert did_you_mean("refesh", ("reload", "refresh")) == "; did you mean 'refresh'?"
    assert did_you_mean("refesh", ("reload", "refresh"), likeness=0.95) == ""
    assert did_you_mean("nothing", ()) == ""
