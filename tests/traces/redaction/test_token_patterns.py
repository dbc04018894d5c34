import pytest

from warex.traces.redaction.token_patterns import prefixed_token, redact_vendor_keys


def test_a_random_token_behind_a_vendors_word_is_found() -> None:
    token = b"figd" + b"_4VnyRj52fKjkmHBdDKfCmEaNalTbXFacwbeJSh3"

    assert prefixed_token(b"x " + token + b" y", 2) == (2, 2 + len(token))


@pytest.mark.parametrize(
    "text", [b"call_4VnyRj52fKjkmHBdDKfCmEaNalTbXFac", b"sc-bdVaJa", b"css-1q"]
)
def test_ids_and_class_names_are_not_tokens(text: bytes) -> None:
    assert prefixed_token(text, 0) is None


def test_a_private_key_that_is_cut_short_goes_too() -> None:
    assert redact_vendor_keys(b"-----BEGIN PRIVATE KEY-----\\nMIIEvQIB") == (
        b"-----BEGIN PRIVATE KEY-----[redacted]"
    )
