import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.rewriting.site_look.reader import read_look
from warex.rewriting.site_look.text_language import language_of

TEXTS = {
    "de": "Die Pfannen und die T\u00f6pfe sind auf dem Tisch, wir sind nicht in der Stadt.",
    "fr": "Les tables et les chaises sont dans la cuisine, avec vous et pour nous.",
    "en": "The pots and the pans are for you, with this kitchen.",
    "ja": "\u53f0\u6240\u9053\u5177\u5e97 \u304a\u3059\u3059\u3081",
    "zh": "\u53a8\u623f\u7528\u54c1\u5546\u5e97",
    "ar": "\u0627\u0644\u0645\u062a\u062c\u0631 \u0645\u0631\u062d\u0628\u0627",
    "": "Pots 12 pans",
}


@pytest.mark.parametrize("language", TEXTS)
def test_a_text_is_in_the_language_of_its_letters_or_words(language: str) -> None:
    assert language_of(TEXTS[language]) == language


@pytest.mark.parametrize(
    ("named", "language"), [("", "de"), ("en-US", "de"), ("fr-CA", "fr-CA"), ("x y", "de")]
)
def test_a_page_without_a_name_for_its_language_has_that_of_its_text(
    named: str, language: str
) -> None:
    page = f"<html lang='{named}'><script>the and of to is for with</script><p>{TEXTS['de']}"

    assert read_look(page.encode(), "https://shop.test/", {}).language == language


@given(st.text(max_size=300))
def test_any_text_is_in_a_known_language_or_none(text: str) -> None:
    value = language_of(text)
    assert value == "" or (value.isascii() and len(value) == 2)
