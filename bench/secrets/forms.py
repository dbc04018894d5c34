"""What the written-down lists share: a form of a secret, its encodings, and how it is planted."""

import base64
import html
import json
import quopri
import random  # noqa: TID251  (Of this run, not of a trial.)
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import quote

import yaml

from bench.secrets.planted import Planted
from bench.secrets.values import draw_value

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
    draw: Sequence[str]
    """Templates, of which one makes the value."""
    places: Sequence[str]
    contexts: Sequence[str]
    encoding: str = ""
    before: str = ""


def _load(name: str) -> tuple[Form, ...]:
    text = Path(__file__).with_name(name).read_text("utf-8")
    return tuple(Form(**entry) for entry in yaml.safe_load(text))


OTHERS: Final = _load("others.yaml")
THIRD: Final = _load("third.yaml")
_PROSE: Final = Form(
    "words in prose",
    ["{letters_password}"],
    ("prompt", "answer"),
    (
        "To get in, say {} at the door.",
        "My sister always uses {} for the shop.",
        "It is {}, as on the note.",
        "bob, then {}, then Enter",
    ),
)
"""What nothing but the sense of a sentence tells; ``--redact-string`` takes it."""


def weaker() -> Iterator[tuple[str, Sequence[Form]]]:
    """Yield kinds of passwords that are less like one than the third list's, in its forms."""
    forms = [form for form in THIRD if form.draw == ["{word_password}"] and not form.encoding]
    for name, draw in (
        ("passwords such as otter42", "{short_password}"),
        ("random letters and digits", "{token 14}"),
        ("passwords of letters", "{letters_password}"),
    ):
        yield name, [replace(form, draw=[draw]) for form in forms]
    yield "words in prose", (_PROSE,)


def plant(forms: Sequence[Form], seed: int = 1) -> Iterator[Planted]:
    """Yield a planted secret of each context."""
    rng = random.Random(seed)
    for form in forms:
        for context in form.contexts:
            place = form.places[rng.randrange(len(form.places))]
            secret = draw_value(rng, form.draw)
            encoded = ENCODINGS[form.encoding](secret)
            text = context.replace("{}", encoded)
            yield Planted(form.kind, place, secret, text, form.before, encoded=encoded)
