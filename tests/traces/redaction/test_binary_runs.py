import base64
import hashlib

import pytest

from warex.traces.redaction.binary_runs import binary_runs
from warex.traces.redaction.text import redact_bytes

RANDOM = hashlib.shake_256(b"x").digest(30_000)
FILE = base64.b64encode(RANDOM)
TOKEN = b"ghp_0123456789abcdefghijABCDEFGHIJ012345"


@pytest.mark.parametrize("before", [b"", b"data:application/pdf;base64,", b"a " * 9_000])
@pytest.mark.parametrize("after", [b"", b" and more", b'"'])
@pytest.mark.parametrize("file", [FILE, base64.urlsafe_b64encode(RANDOM)])
def test_the_base64_of_a_file_is_one_run(before: bytes, after: bytes, file: bytes) -> None:
    assert list(binary_runs(before + file + after)) == [(len(before), len(before) + len(file))]


@pytest.mark.parametrize(
    "text",
    [b"", FILE[:8_000], b"a long text " * 9_000, base64.b64encode("Grüße, ".encode() * 9_000)],
    ids=["nothing", "short", "text", "base64 of a text"],
)
def test_possible_secrets_are_not_binary_runs(text: bytes) -> None:
    assert list(binary_runs(text)) == []


def test_text_beside_a_file_is_redacted() -> None:
    text = b"token " + TOKEN + b" " + FILE + b" " + TOKEN

    assert redact_bytes(text) == b"token [redacted] " + FILE + b" [redacted]"
