"""A recorded body as the viewer shows it: as text, JSON and HTML indented, never more than it can.

A body is what a site or an agent chose to send, of any form and depth.
"""

import re
from codecs import BOM_UTF8
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

import msgspec
from turbohtml import Html, Indent, parse

from warex.errors import TraceError
from warex.text.escaping import escape_controls
from warex.traces.blobs import BlobStore
from warex.traces.paths import BLOBS
from warex.view.media import media_type

LARGEST_BODY: Final = 1 << 22
"""Bytes of a body that is shown; also the most that is recorded of one."""
LONGEST_TEXT: Final = 1_000_000
"""Characters of a body that are shown."""
_LARGEST_INDENTED: Final = 1 << 24
"""Bytes of indented JSON, at most."""
_HEAD: Final = 4096
_BINARY: Final = ("image/", "audio/", "video/", "font/", "application/octet-stream")
_LONGEST_TYPE: Final = 100
_JSON_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
"""Also one without an end, so that no byte is looked at twice."""
_NOT_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in b"[]{}")


class _Line(msgspec.Struct, gc=False):
    seq: int
    body_blob: str = ""
    headers: list[tuple[str, str]] = msgspec.field(default_factory=list)


_line = msgspec.json.Decoder(_Line)


def lines_with_bodies(lines: Iterable[str]) -> list[int]:
    """Return the numbers of the lines of a trace that refer to a body."""
    return [read.seq for line in lines if (read := _read(line)) and read.body_blob]


def body_document(attempt: Path, lines: Iterable[str], seq: int) -> dict[str, Any]:
    """Return the body that line ``seq`` of a trace refers to. Raises TraceError if there is none.

    ``form`` is JSON, HTML, text or binary; the text of a binary body is empty.
    """
    line = next((read for line in lines if (read := _read(line)) and read.seq == seq), None)
    if line is None or not line.body_blob:
        raise TraceError(f"Line {seq} of the trace in {attempt} refers to no body.")
    data = BlobStore(attempt / BLOBS).get(line.body_blob, LARGEST_BODY)
    types = [value for name, value in line.headers if name.lower() == "content-type"]
    return {
        "file": f"{BLOBS}/{line.body_blob}",
        "size": len(data),
        **as_text(data, types[0] if types else ""),
    }


def as_text(data: bytes, content_type: str) -> dict[str, Any]:
    """Return the ``form`` of a body, its ``text``, and ``notes`` on what is not as it was sent."""
    notes = []
    kind = content_type.partition(";")[0].strip().lower()
    image = media_type(data)
    if "svg" not in kind and (
        image.startswith("image/") or kind.startswith(_BINARY) or b"\0" in data[:_HEAD]
    ):
        name = escape_controls(kind or image)[:_LONGEST_TYPE]
        return {"form": "binary", "text": "", "notes": [f"It is {name}; only text is shown."]}
    data = data.removeprefix(BOM_UTF8)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode(errors="replace")
        notes.append("It is not UTF-8; each byte that cannot be read is shown as �.")
    form = "text"
    if (json_text := _indented_json(data)) is not None:
        form, text = "JSON", json_text
    elif "html" in kind:
        # One character more, so that what is left out shows.
        form, text = "HTML", _indented_html(text[: LONGEST_TEXT + 1])
    if len(text) > LONGEST_TEXT:
        notes.append(f"Only the first {LONGEST_TEXT:,} characters are shown.")
    shown = text[:LONGEST_TEXT].replace("\r\n", "\n")
    return {"form": form, "text": escape_controls(shown), "notes": notes}


def _indented_json(data: bytes) -> str | None:
    """Return JSON indented, its values and their order unchanged; None if it is not JSON."""
    if data.lstrip()[:1] not in (b"{", b"["):
        return None
    frame = _JSON_STRING.sub(b"", data)
    depths = accumulate(1 if b in b"[{" else -1 for b in frame.translate(None, _NOT_BRACKETS))
    lines = sum(map(frame.count, (b",", b"[", b"]", b"{", b"}")))
    if len(data) + lines * max(depths, default=0) > _LARGEST_INDENTED:
        return None
    try:
        return msgspec.json.format(data, indent=1).decode()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _indented_html(text: str) -> str:
    """Return HTML as a parser reads it, indented, up to a little more than what is shown of it."""
    pieces, length = [], 0
    for piece in parse(text).serialize_iter(Html(layout=Indent(1))):
        pieces.append(piece)
        length += len(piece)
        if length > LONGEST_TEXT:
            break
    return "".join(pieces)


def _read(line: str) -> _Line | None:
    """Return a line of a trace; None for a damaged one."""
    try:
        return _line.decode(line)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None
