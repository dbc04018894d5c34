"""A noun has the article that is spoken before it."""

import pytest

from warex.words import a


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
