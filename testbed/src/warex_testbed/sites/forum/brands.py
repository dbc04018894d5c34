"""What each brand of forum has of its own: name, layout, wording, ways; read from `brands/`."""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

_HERE = Path(__file__).parent

BRANDS: Mapping[str, str] = {
    "forum.warex.test": "freewheel",
    "board.warex.test": "uplink",
    "talk.warex.test": "larder",
}
"""The brand of each host: a file in `brands/`."""


@dataclass(frozen=True, slots=True)
class Brand:
    """One brand. `transport` is how its buttons write: plain forms, or a script's `fetch`.

    `sorts` are the orders of topics and `orders` those of replies, each with its name; the first
    is the usual one. `words` are the brand's names for what every forum has.
    """

    slug: str
    name: str
    tagline: str
    layout: Literal["table", "feed", "answers"]
    transport: Literal["form", "fetch"]
    downvotes: bool
    topics_per_page: int
    posts_per_page: int
    paths: Mapping[str, str]
    sorts: Mapping[str, str]
    orders: Mapping[str, str]
    reasons: tuple[str, ...]
    digests: Mapping[str, str]
    words: Mapping[str, str]

    def url(self, kind: str, number: int | None = None) -> str:
        """Return the path of a topic, board or person, or of the form for a new topic."""
        path = f"/{self.paths[kind]}"
        return path if number is None else f"{path}/{number}"


@functools.cache
def read(slug: str) -> Mapping[str, Any]:
    """Return what a brand's file holds."""
    return tomllib.loads((_HERE / "brands" / f"{slug}.toml").read_text("utf-8"))


@functools.cache
def load(host: str) -> Brand:
    """Return the brand of a host."""
    slug = BRANDS[host]
    table = read(slug)
    common = tomllib.loads((_HERE / "words.toml").read_text("utf-8"))
    own = table["brand"] | {"reasons": tuple(table["brand"]["reasons"])}
    return Brand(slug=slug, words=common | table["words"], **own)
