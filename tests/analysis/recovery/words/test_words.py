from pathlib import Path

import pytest

from tests.yaml_files import load_yaml
from warex.analysis.recovery.words import (
    KNOWN_LANGUAGES,
    admits_failure,
    speaks_of_retrying,
    trouble_in,
)

PHRASES = load_yaml(Path(__file__).with_name("phrases.yaml"))


def test_each_known_language_has_its_example() -> None:
    assert set(PHRASES["errors"]) == set(KNOWN_LANGUAGES)
    assert len(KNOWN_LANGUAGES) >= 10


@pytest.mark.parametrize("language", PHRASES["errors"])
def test_trouble_and_another_try_are_found_in_each_language(language: str) -> None:
    trouble, again = PHRASES["errors"][language]

    assert trouble_in(trouble)
    assert speaks_of_retrying(again)


@pytest.mark.parametrize("text", PHRASES["plain"])
def test_plain_words_are_not_trouble(text: str) -> None:
    assert not trouble_in(text)


def test_a_long_text_is_read_in_no_time_of_note() -> None:
    assert not admits_failure("click the next button and go on with it " * 5_000)


@pytest.mark.parametrize(
    "text",
    ["await sleep(500)", "wait_for_timeout( 503 )", "setTimeout(show, 500)", '{"timeout": 504}'],
)
def test_a_number_that_counts_time_is_not_a_status(text: str) -> None:
    assert not trouble_in(text)
    assert trouble_in(f"{text} // HTTP 500")
