"""What it costs to change a value of an answer: a page that has none, and JSON of 1 MB."""

import json
import time
from statistics import median

from bench.row import Row
from bench.setting import Setting
from warex.exchange import Request, Response
from warex.rewriting.base import Edit
from warex.rewriting.json_edit import JsonEdit
from warex.rewriting.text_edit import TextEdit
from warex.seeds import Luck, draw

_SIZE = 1024 * 1024
_PIECE = 65536
_ASKED = Request("GET", "https://shop.example/")


def measure(setting: Setting) -> list[Row]:
    """Change a page and an answer again and again, in processor time."""
    rounds = 3 if setting.quick else 30
    luck = Luck(1, "values")
    page, data = _page(), _data()
    nothing = [_seconds(TextEdit("price", luck), "text/html", page, 0) for _ in range(rounds)]
    by_kind: list[float] = []
    decoding: list[float] = []
    for _ in range(rounds):
        edit = JsonEdit("off_by_one", luck, kind="price")
        by_kind.append(_seconds(edit, "application/json", data, 1))
        began = time.process_time()
        json.loads(data)
        decoding.append(time.process_time() - began)
    return [
        Row(
            "values-text",
            "a price is looked for in a dense page of 1 MB that has none: processor time",
            median(nothing) * 1000,
            "ms",
            5,
            at_least=False,
            detail=f"least {min(nothing) * 1000:.2f} ms, {rounds} rounds",
        ),
        Row(
            "values-json",
            "a price is chosen and changed in JSON of 1 MB: processor time, to decoding it",
            median(by_kind) / median(decoding),
            "times",
            15,
            at_least=False,
            detail=f"{median(by_kind) * 1000:.0f} ms, least {min(by_kind) * 1000:.0f}; decoding"
            f" {median(decoding) * 1000:.0f} ms",
        ),
    ]


def _seconds(edit: Edit, content_type: str, body: bytes, changes: int) -> float:
    """Return what it took; raise RuntimeError where not so many values were changed."""
    rewriting = edit.begin(_ASKED, Response(200, {"content-type": content_type}))
    if rewriting is None:
        raise RuntimeError(f"{content_type} is not changed: nothing was measured")
    began = time.process_time()
    out = [rewriting.body.feed(body[at : at + _PIECE]) for at in range(0, len(body), _PIECE)]
    out.append(rewriting.body.close())
    took = time.process_time() - began
    if len(rewriting.body.changes) != changes or (b"".join(out) == body) == bool(changes):
        raise RuntimeError(f"{len(rewriting.body.changes)} values were changed, not {changes}")
    return took


def _page() -> bytes:
    """Return a page with a tag for each few words, and numbers in its attributes and texts."""
    cards: list[str] = ["<!doctype html><title>Shop</title>"]
    size = 0
    while size < _SIZE:
        number = int(draw(1, "card", size) * 10_000)
        cards.append(
            f'<div class="card c{number % 9}"><a href="/p/{number}"><b>a red shirt of wool</b></a>'
            f"<span>{number % 90}</span></div>\n"
        )
        size += len(cards[-1])
    return "".join(cards).encode()


def _data() -> bytes:
    """Return a list of records, about a hundred bytes each."""
    items: list[object] = []
    size = 0
    while size < _SIZE:
        number = draw(1, "item", len(items))
        item = {
            "id": int(number * 1e6),
            "name": f"Item {len(items)}",
            "price": round(number * 100, 2),
            "tags": ["a", "b"],
            "seller": {"name": "Ann", "rating": 4.5},
        }
        items.append(item)
        size += len(json.dumps(item)) + 2
    return json.dumps({"items": items, "total": len(items)}).encode()
