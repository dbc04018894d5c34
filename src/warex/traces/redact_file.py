"""Takes secrets out of a file that somebody else's program wrote."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from warex.traces.files import write_whole
from warex.traces.redact import REDACTED, redact_text, redact_url

_LEAST = 8
"""Characters; what is shorter is no secret, and stands in other words too."""


def secrets_of(environment: Mapping[str, str]) -> frozenset[str]:
    """Return the values of variables such as ``OPENAI_API_KEY``, ``TOKEN`` and ``APP_SECRET``.

    A value of several lines, such as a PEM key, is told by its lines.
    """
    return frozenset(
        line
        for name, value in environment.items()
        if f"_{name.upper()}".endswith(("_API_KEY", "_TOKEN", "_SECRET"))
        for line in value.splitlines()
        if len(line) >= _LEAST
    )


def redact_file(path: Path, secrets: Collection[str] = ()) -> None:
    """Redact a file of text or JSON line by line; a file that is not there is none.

    What has the shape of a key goes, what redact_url takes out, and every one of ``secrets``.
    Raises MachineError where the disk refuses.
    """
    if path.is_symlink() or not path.is_file():
        return
    write_whole(path, _redacted(path, _needles(secrets)))


def _needles(secrets: Iterable[str]) -> tuple[str, ...]:
    """Return the secrets as they stand in text and in JSON, none before one that it begins."""
    ways = {way for secret in secrets for way in _ways(secret)}
    return tuple(sorted(ways, key=len, reverse=True))


def _ways(secret: str) -> Iterator[str]:
    yield secret
    for ascii_only in (True, False):
        yield json.dumps(secret, ensure_ascii=ascii_only)[1:-1]


def _redacted(path: Path, needles: tuple[str, ...]) -> Iterator[bytes]:
    with path.open("rb") as file:
        for line in file:
            text = line.decode("utf-8", "surrogateescape")
            for needle in needles:
                text = text.replace(needle, REDACTED)
            if "://" in text:
                text = redact_url(text)
            yield redact_text(text).encode("utf-8", "surrogateescape")
