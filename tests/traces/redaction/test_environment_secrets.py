import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.traces.redaction.environment_secrets import KnownSecrets, secrets_of

SECRET = 'Otter!12/34 é"+x'


@pytest.mark.parametrize(
    "name", ["PGPASSWORD", "DB_PASSWORD", "GITHUB_PAT", "AWS_SECRET_ACCESS_KEY", "SSH_PASSPHRASE"]
)
def test_the_value_of_a_variable_with_a_secrets_name_is_known(name: str) -> None:
    assert secrets_of({name: "Harbor.1234xyz"}) == {"Harbor.1234xyz"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SSH_AUTH_SOCK", "/tmp/ssh-XXXX/agent.1"),
        ("GIT_ASKPASS", "/usr/lib/git-core/askpass"),
        ("XDG_SESSION_ID", "3"),
        ("TOKENIZERS_PARALLELISM", "disabled1"),
        ("MAX_TOKENS", "10000000"),
        ("PATH", "/usr/bin:/bin"),
        ("PASSWORD_STORE_DIR", "~/.password-store"),
    ],
)
def test_other_variables_are_not(name: str, value: str) -> None:
    assert secrets_of({name: value}) == set()


def test_only_the_password_of_a_url_is_secret() -> None:
    url = "postgres://app:Harbor.1234xyz@db.example/app"

    assert secrets_of({"DATABASE_URL": url, "ANY": "https://site.example/"}) == {"Harbor.1234xyz"}


@pytest.mark.parametrize(
    "spelled",
    [
        SECRET,
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(SECRET))[3:-3],
        quote(SECRET, safe=""),
        quote(SECRET),
        quote_plus(SECRET),
        quote(quote(SECRET, safe=""), safe=""),
        html.escape(SECRET),
        SECRET.encode().hex(),
    ],
)
def test_a_secret_is_replaced_in_every_spelling(spelled: str) -> None:
    text = f"<{spelled}>".encode()

    assert KnownSecrets([SECRET]).replaced(text, b"[redacted]") == b"<[redacted]>"


@given(st.binary(max_size=9), st.binary(max_size=9))
def test_a_secret_in_base64_is_replaced_in_any_context(before: bytes, after: bytes) -> None:
    raw = b"Harbor.1234xyz"
    encoded = base64.b64encode(before + raw + after)

    left = KnownSecrets([raw.decode()]).replaced(encoded, b"")

    assert len(left) <= len(encoded) - 16


def test_none_is_replaced_before_a_longer_one_that_begins_with_it() -> None:
    known = KnownSecrets(["Harbor.1234", "Harbor.1234xyz"])

    assert known.replaced(b"Harbor.1234xyz", b"*") == b"*"
