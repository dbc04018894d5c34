"""The tasks of the collected agents at the shop, and their checks."""

import random  # noqa: TID251  (Of the collection, not of a trial.)
import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.analysis.trajectories.collector.site import BARE, NEWS, PAY, World

type Action = dict[str, object]


def goto(url: str) -> Action:
    return {"do": "goto", "url": url}


def click(name: str) -> Action:
    return {"do": "click", "id": name}


def fill(name: str, text: str) -> Action:
    return {"do": "fill", "id": name, "text": text}


@dataclass(frozen=True, slots=True)
class Step:
    """Actions on a page, and the text that the page shows if they worked."""

    page: str
    """The page of the actions; empty if the first action opens it."""
    actions: list[Action]
    expect: str
    leads_to: str
    """The URL of the page or data that then appears."""
    writes: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """A task, its steps and its check."""

    kind: str
    steps: list[Step]
    says: str
    """The agent's final answer; ``{found}`` is the match of the last step's pattern."""
    solved: Callable[[World, str | None], bool]
    targets: list[tuple[str, str | None, str | None]]
    """Requests that may fail and matter to the task: URL glob, method, resource."""


def _answer(wanted: str) -> Callable[[World, str | None], bool]:
    return lambda world, claim: claim is not None and re.search(wanted, claim) is not None


def _ordered(item: str) -> Callable[[World, str | None], bool]:
    return lambda world, claim: world.orders == [item]


def _open(url: str, expect: str) -> Step:
    return Step("", [goto(url)], expect, url)


def form_order(base: str, rng: random.Random) -> Task:
    first = _open(f"{base}/checkout?item=rug", "Delivery")
    place: list[Action] = [fill("name", "Ada"), click("place")]
    steps = [
        first,
        Step(first.leads_to, place, "Thank you, your", f"{base}/thanks", writes=True),
    ]
    targets = [
        (f"{base}/orders", "POST", None),
        (f"{base}/orders", "POST", None),
        (f"{base}/checkout*", "GET", "document"),
        (f"{base}/thanks", None, None),
    ]
    return Task("form-order", steps, "The rug is ordered.", _ordered("rug"), targets)


def cart_order(base: str, rng: random.Random) -> Task:
    steps = [
        _open(f"{base}/", "Welcome"),
        Step(f"{base}/", [click("catalog")], r"\d items", f"{base}/catalog/"),
        Step(f"{base}/catalog/", [click("item-kettle")], "Price: ", f"{base}/p/kettle"),
        Step(f"{base}/p/kettle", [click("add")], "1 x kettle", f"{base}/cart", writes=True),
        Step(f"{base}/cart", [click("checkout")], "Delivery", f"{base}/checkout"),
        Step(f"{base}/checkout", [click("place")], "Thank you, y", f"{base}/thanks", writes=True),
    ]
    targets: list[tuple[str, str | None, str | None]] = [
        (f"{base}/cart/add", "POST", None),
        (f"{base}/catalog*", None, "document"),
        (f"{base}/p/kettle", None, "document"),
        (f"{base}/price.js", None, "script"),
        (f"{base}/checkout", None, "document"),
        (f"{base}/cart", "GET", "document"),
        (f"{base}/orders", "POST", None),
    ]
    return Task("cart-order", steps, "I ordered a kettle.", _ordered("kettle"), targets)


def quick_order(base: str, rng: random.Random) -> Task:
    page = f"{base}/quick?item=lamp"
    steps = [
        _open(page, "Ready, 7"),
        Step(page, [click("buy")], "Order placed", f"{base}/api/orders", writes=True),
    ]
    targets: list[tuple[str, str | None, str | None]] = [
        (f"{base}/api/orders", "POST", "xhr"),
        (f"{base}/api/orders", "POST", "xhr"),
        (f"{base}/api/stock*", None, "xhr"),
        (f"{base}/quick.js", None, "script"),
        (f"{base}/quick*", None, "document"),
    ]
    return Task("quick-order", steps, "The lamp has been ordered.", _ordered("lamp"), targets)


def pay_order(base: str, rng: random.Random) -> Task:
    page = f"{base}/checkout-pay?item=vase"
    steps = [
        _open(page, "Delivery"),
        Step(page, [click("place")], "Thank you, your", f"{PAY}/thanks", writes=True),
    ]
    targets: list[tuple[str, str | None, str | None]] = [
        (f"{PAY}/confirm", "POST", None),
        (f"{PAY}/thanks", None, None),
        (f"{PAY}/*", None, None),
        (page, None, "document"),
    ]
    return Task("pay-order", steps, "The vase is paid.", _ordered("vase"), targets)


def price(base: str, rng: random.Random) -> Task:
    steps = [
        _open(f"{base}/catalog", r"\d items"),
        Step(f"{base}/catalog/", [click("item-clock")], r"Price: \d+", f"{base}/p/clock"),
    ]
    targets: list[tuple[str, str | None, str | None]] = [
        (f"{base}/api/price*", None, "xhr"),
        (f"{base}/price.js", None, "script"),
        (f"{base}/p/clock", None, "document"),
        (f"{base}/catalog", None, "document"),
        (f"{base}/catalog/", None, "document"),
    ]
    return Task("price", steps, "{found} euros", _answer(r"\b17\b"), targets)


def review(base: str, rng: random.Random) -> Task:
    page = f"{base}/reviews"
    send = [fill("text", "Very good indeed"), click("send")]
    steps = [
        _open(page, "3 reviews"),
        Step(page, send, "[4-9] reviews", f"{base}/graphql", writes=True),
    ]
    targets: list[tuple[str, str | None, str | None]] = [
        (f"{base}/graphql", "POST", "xhr"),
        (f"{base}/graphql", "POST", "xhr"),
        (f"{base}/graphql", "POST", "xhr"),
        (f"{base}/reviews.js", None, "script"),
        (page, None, "document"),
    ]
    return Task("review", steps, "The review is there.", lambda w, c: len(w.reviews) == 1, targets)


def note(base: str, rng: random.Random) -> Task:
    page = f"{base}/note" + rng.choice(("", "?eager=1"))
    write: list[Action] = [fill("text", "milk and bread")]
    if rng.random() < 0.5:
        write.append(click("save"))
    steps = [
        _open(page, "Save"),
        Step(page, write, "All changes saved", f"{base}/api/note", writes=True),
    ]
    targets: list[tuple[str, str | None, str | None]] = [
        (f"{base}/api/note*", "PUT", None),
        (f"{base}/api/note*", "PUT", None),
        (f"{base}/note.js", None, "script"),
        (page, None, "document"),
    ]
    retained = "milk and bread"
    return Task("note", steps, "The note is saved.", lambda w, c: w.note == retained, targets)


def board(base: str, rng: random.Random) -> Task:
    page = f"{base}/board" + rng.choice(("", "?refresh=1", "?refresh=1"))
    steps = [
        _open(f"{base}/", "Welcome"),
        Step("", [goto(page)], r"Visitors today: \d+", page),
    ]
    targets: list[tuple[str, str | None, str | None]] = [
        (f"{base}/api/tick", None, "xhr"),
        (page, None, "document"),
        (page, None, "document"),
        (f"{base}/board.js", None, "script"),
    ]
    return Task("board", steps, "{found}", _answer(r"\b412\b"), targets)


def explore(base: str, rng: random.Random) -> Task:
    steps = [
        _open(f"{base}/spa/", "Choose an item"),
        Step(f"{base}/spa/", [click("show-vase")], r"Weight: \d+ g", f"{base}/spa/vase"),
        Step(f"{base}/spa/", [click("show-rug")], r"rug. Weight: \d+ g", f"{base}/spa/rug"),
    ]
    targets: list[tuple[str, str | None, str | None]] = [
        (f"{base}/api/items/*", None, "xhr"),
        (f"{base}/api/items/rug", None, "xhr"),
        (f"{base}/spa.js", None, "script"),
        (f"{base}/spa/*", None, "document"),
    ]
    return Task("explore", steps, "{found}", _answer(r"\b4100\b"), targets)


def returns(base: str, rng: random.Random) -> Task:
    start = BARE if base.startswith("https") and rng.random() < 0.6 else base
    steps = [
        _open(f"{start}/help", "Returns"),
        Step(f"{base}/help", [click("returns")], r"have \d+ days", f"{base}/help/returns"),
    ]
    targets: list[tuple[str, str | None, str | None]] = [
        (f"{start}/help", None, "document"),
        (f"{base}/help", None, "document"),
        (f"{base}/help/returns", None, "document"),
        (f"{base}/*", None, "document"),
    ]
    return Task("returns", steps, "You {found}.", _answer(r"\b30\b"), targets)


def news(base: str, rng: random.Random) -> Task:
    steps = [
        _open(f"{NEWS}/", "Nothing new"),
        _open(f"{base}/p/lamp", r"Price: \d+"),
    ]
    targets: list[tuple[str, str | None, str | None]] = [
        (f"{NEWS}/", None, "document"),
        (f"{base}/p/lamp", None, "document"),
        (f"{base}/api/price*", None, "xhr"),
    ]
    return Task("news", steps, "No news. {found}", _answer(r"\b39\b"), targets)


TASKS = (
    *(form_order, form_order, cart_order, cart_order, quick_order, quick_order, pay_order),
    *(price, price, review, review, note, board, explore, returns, returns, news),
)
