"""What the written-down lists share: a form of a secret, its encodings, and how it is planted."""

import base64
import html
import json
import quopri
import random  # noqa: TID251  (Of this run, not of a trial.)
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from bench.secrets.planted import Planted
from bench.secrets.values import Draw

ENCODINGS: Mapping[str, Callable[[str], str]] = {
    "": lambda text: text,
    "percent": lambda text: quote(text, safe=""),
    "every character as percent": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "percent twice": lambda text: quote(quote(text, safe=""), safe=""),
    "html": html.escape,
    "html decimal": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "html hexadecimal": lambda text: "".join(f"&#x{ord(char):x};" for char in text),
    "unicode escapes": lambda text: "".join(f"\\u{ord(char):04x}" for char in text),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 of bob:": lambda text: base64.b64encode(f"bob:{text}".encode()).decode(),
    "hexadecimal": lambda text: text.encode().hex(),
    "json": lambda text: json.dumps(text)[1:-1],
    "json twice": lambda text: json.dumps(json.dumps(text)[1:-1])[1:-1],
    "javascript": lambda text: "".join(f"\\x{ord(char):02x}" for char in text),
    "quoted-printable": lambda text: quopri.encodestring(text.encode()).decode(),
    "octal": lambda text: "".join(f"\\{byte:03o}" for byte in text.encode()),
    "code points": lambda text: "".join(f"\\u{{{ord(char):x}}}" for char in text),
    "base32": lambda text: base64.b32encode(text.encode()).decode().rstrip("="),
    "url-safe base64 of bob:": lambda text: (
        base64.urlsafe_b64encode(f"bob:{text}".encode()).decode().rstrip("=")
    ),
    "slashes": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "zero width": lambda text: f"\u200b{text}\u200b",
}


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of secrets, each a context with ``{}`` for the encoded secret."""

    kind: str
    draw: Draw
    places: Sequence[str]
    contexts: Sequence[str]
    encoding: str = ""
    before: str = ""


def plant(forms: Sequence[Form], seed: int = 1) -> Iterator[Planted]:
    """Yield a planted secret of each context."""
    rng = random.Random(seed)
    for form in forms:
        for context in form.contexts:
            place = form.places[rng.randrange(len(form.places))]
            secret = form.draw(rng)
            encoded = ENCODINGS[form.encoding](secret)
            text = context.replace("{}", encoded)
            yield Planted(form.kind, place, secret, text, form.before, encoded=encoded)
