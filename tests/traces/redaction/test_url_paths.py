"""The short way past a URL leads to what the long way leads to."""

from urllib.parse import quote

import pytest

from tests.traces import ordinary_text
from tests.traces.planted_secrets import planted
from warex.traces.redaction.structured import redact_text, redact_url
from warex.traces.redaction.url_paths import simple_url

URLS = [
    *ordinary_text.URLS,
    *(
        f"https://a.example{path}"
        for secret in planted("paths")
        for value in (secret.value, secret.value[:9], secret.value[:13], quote(secret.value))
        for path in (f"/p?{secret.name or 'x'}={value}", f"/auth/{value}", f"/a/{value}?v=1")
    ),
]


@pytest.mark.parametrize(
    "url",
    ["https://a.example/static/app.0123456789ab.js?v=12", "http://127.0.0.1:8001/", "http://a/"],
)
def test_most_urls_of_most_sites_are_simple(url: str) -> None:
    assert simple_url(url) is not None


def test_no_url_is_redacted_otherwise_for_being_simple() -> None:
    differ = [url for url in URLS if redact_url(url) != redact_text(url)]

    assert sum(simple_url(url) is not None for url in URLS) > 100
    assert differ == []
