import string

from warex.faults.pages.wording import choose_language, direction, languages, options


def test_everything_is_said_in_at_least_ten_languages() -> None:
    assert len(languages()) >= 10
    for language in languages():
        for key in ("captcha_title", "accept", "maintenance_end", "login_button", "error_server"):
            assert all(text.strip() for text in options(language, key))


def test_a_text_names_nothing_but_the_site() -> None:
    for key in ("consent_uses", "captcha_sentence", "error_client"):
        for language in languages():
            for text in options(language, key):
                names = {name for _, name, _, _ in string.Formatter().parse(text) if name}
                assert names == ({"site"} if key == "consent_uses" else set())


def test_a_language_is_spoken_without_its_region_and_english_where_none_is() -> None:
    assert choose_language("de-AT") == "de"
    assert choose_language("", "zz", " ZH-Hant;q=0.8") == "zh"
    assert choose_language() == choose_language("tlh", "*") == "en"


def test_some_languages_are_written_from_the_right() -> None:
    assert (direction("ar"), direction("he"), direction("ja")) == ("rtl", "rtl", "ltr")
