import pytest

from warex.traces.redaction.names import (
    Secrecy,
    is_secret,
    looks_random,
    looks_secret,
    name_secrecy,
)


@pytest.mark.parametrize(
    "name",
    [
        "user[password]",
        "userPassword",
        "X-User-Password",
        "user%5Bpassword%5D",
        "PHPSESSID",
        "APIKey",
        "x-api-key",
        "Ocp-Apim-Subscription-Key",
        "X-Hub-Signature-256",
        "AWS_SECRET_ACCESS_KEY",
        "SAMLResponse",
        "one_time_code",
    ],
)
def test_a_name_is_split_into_words_in_every_style(name: str) -> None:
    assert name_secrecy(name) is Secrecy.SECRET


@pytest.mark.parametrize(
    "name",
    [
        "token_type",
        "max_tokens",
        "nextPageToken",
        "password_hint",
        "sort_key",
        "Idempotency-Key",
        "country_code",
        "monkey",
        "keyboard",
        "author",
        "signup",
        "X-Request-Id",
        "",
        "2",
    ],
)
def test_the_last_word_says_what_the_value_is(name: str) -> None:
    assert name_secrecy(name) is Secrecy.NOTHING


@pytest.mark.parametrize("name", ["key", "code", "sid", "X-Functions-Thing-Key", "session"])
def test_some_names_only_say_maybe(name: str) -> None:
    assert name_secrecy(name) is Secrecy.MAYBE


def test_hashes_and_ids_do_not_look_random_by_themselves() -> None:
    assert looks_random("q7Rt2LmX9bVc4KpZ8wYn")
    for value in (
        "9fceb02d0ae598e95dc970b74767f19372d61af8",
        "550e8400-e29b-41d4-a716-446655440000",
        "getElementsByTagName2",
        "how-to-reset-your-password-2026",
    ):
        assert not looks_random(value)
    assert looks_secret("harbor-1234-xyz")
    assert not looks_secret("harbor and maple 1")


def test_a_program_under_the_name_code_is_not_a_secret() -> None:
    assert name_secrecy("code") is Secrecy.MAYBE
    assert not is_secret(Secrecy.MAYBE, "time.sleep(1.5)")
    assert not is_secret(Secrecy.MAYBE, "items[10:20]")
    assert is_secret(Secrecy.MAYBE, "4/0AX4XfWh-2f81")
