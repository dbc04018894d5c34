import pytest

from warex.analysis.recovery.action_addresses import begin_of_target, joined, target_of
from warex.analysis.recovery.trial_events import ModelAction


def _goto(*arguments: str) -> ModelAction:
    return ModelAction("goto", "goto", list(arguments))


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://a.example/x", "https://a.example/x"),
        ("/y", "https://a.example/y"),
        ("a.example/z", "https://a.example/z"),
        ("base + '/y'", ""),
        ("//[", ""),
    ],
)
def test_an_action_names_an_absolute_address_a_path_or_a_host(text: str, url: str) -> None:
    assert target_of(_goto(text), "https://a.example/list") == url


@pytest.mark.parametrize(
    ("text", "begin"),
    [
        ("'/item/' + number", "/item/"),
        ("f'https://a.example/{path}'", "https://a.example/"),
        ("'/item/%d' % number", "/item/"),
        ("page_url", ""),
        ("$URL", ""),
        ("https://a.example/20%25", None),
        ("two words", None),
    ],
)
def test_the_literal_beginning_of_an_address_expression_is_known(
    text: str, begin: str | None
) -> None:
    assert begin_of_target(_goto(text)) == begin


def test_an_invalid_address_has_no_absolute_form() -> None:
    assert joined("https://a.example/", "//[") == ""
