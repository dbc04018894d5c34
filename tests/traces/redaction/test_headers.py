import pytest

from tests.traces.ordinary_text import UNLISTED_HEADERS
from warex.traces.redaction.headers import redact_header
from warex.traces.redaction.redactor import Redactor


@pytest.mark.parametrize(("name", "value"), UNLISTED_HEADERS)
def test_an_unlisted_header_keeps_only_length_and_hash(name: str, value: str) -> None:
    retained = Redactor().header(name, value)[1]

    assert retained.startswith(f"[redacted:{len(value)}:")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Referer", "https://shop.example/list?page=2"),
        ("Sec-Fetch-User", "?1"),
        ("sec-fetch-mode", "navigate"),
        ("Purpose", "prefetch"),
        ("User-Agent", "verifier/1"),
        ("X-Unknown", "4"),
    ],
)
def test_what_the_analysis_reads_stays(name: str, value: str) -> None:
    assert redact_header(name, value) == (name, value)
