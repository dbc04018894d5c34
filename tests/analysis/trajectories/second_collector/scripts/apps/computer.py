# ruff: noqa: E501  (What a model says stays on one line.)
"""Computer use at apps, in four forms."""

from typing import Any

from tests.analysis.trajectories.second_collector.cases import (
    AGAIN,
    Say,
    Script,
    Variant,
    answers,
    rule,
    tool,
)
from tests.analysis.trajectories.second_collector.sites.apps import auction, council, ledger

_C = council.BASE
_A = auction.BASE
_L = ledger.BASE
_AUCTION = {auction.HOST: auction.page}


def _tars(action: str, thought: str = "") -> str:
    return f"Thought: {thought}\nAction: {action}"


def _tap(name: str, thought: str = "") -> str:
    return _tars(f"click(start_box='(@place:{name})')", thought)


def _a(action: str, words: str = "", /, **options: Any) -> Say:
    return tool("computer", words, action=action, **options)


def _o(kind: str, words: str = "", /, **options: Any) -> Say:
    return tool("computer", words, type=kind, **options)


def _press(name: str, words: str = "") -> Say:
    return _o("click", words, x=f"@x:{name}", y=f"@y:{name}", button="left")


_QUEUE = Script(
    "au-queue", ("spa", "computer_use"), "blind.computer", {"format": "gemini"}, {council.HOST: council.page},
    f"Is a ticket being served now? {_C}/",
    [
        ("", tool("navigate", "I open the council.", url=f"{_C}/")),
        ("Town council", tool("click_at", "The queue.", x="@x:queue", y="@y:queue")),
        (r"Now serving: ticket (\d+)", Say("Yes: a ticket is being served, number %FOUND%.")),
    ],
    Say("I can't tell: the queue did not come up."),
    answers("number 3"),
    [
        Variant("a", [rule("http_error", f"{_C}/now", status=500)], [tool("wait_5_seconds", "The number is missing, the server reported 500. It may come.")]),
        Variant("b", [rule("http_error", f"{_C}/queue", status=503)], [tool("click_at", "The server reported 503. I click Queue again.", x="@x:queue", y="@y:queue")]),
        Variant("c", [rule("http_error", f"{_C}/", status=502), rule("connection_cut", f"{_C}/queue")], [tool("key_combination", "Bad gateway. Reload.", keys="control+r"), tool("navigate", "No connection. I use the address.", url=f"{_C}/queue")]),
        Variant("d", [rule("http_error", f"{_C}/lib/htmx.js", status=500)], []),
    ],
)  # fmt: skip

_CLOCK = Script(
    "au-clock", ("spa", "computer_use"), "blind.computer", {"format": "tars", "start": f"{_A}/"}, _AUCTION,
    "What does the ship's clock cost at present?",
    [
        ("Ship's clock", _tap("lot4", "I open the clock.")),
        (r"price: (\d+) crowns", _tars("finished(content='The clock costs %FOUND% crowns.')", "Done.")),
    ],
    _tars("call_user(content='The auction house shows an error instead of the price.')", "Stuck."),
    answers("780 crowns"),
    [
        Variant("a", [rule("http_error", f"{_A}/lots.json*", status=500)], [_tap("anew", "The lots did not arrive; there is a link to fetch them again.")]),
        Variant("b", [rule("http_error", f"{_A}/partial/lot*", status=500)], [_tars("hotkey(key='alt left')", "An error. Go back."), _tap("lot4", "The clock again.")]),
        Variant("c", [rule("network_error", f"{_A}/partial/lot*", delay=0.3)], [_tars("hotkey(key='f5')", "An error. Refresh.")]),
        Variant("d", [rule("http_error", f"{_A}/price*", status=500)], []),
        Variant("e", [rule("http_error", f"{_A}/partial/lot*", status=500)], [_tap("lots", "An error. I go to the lots by the menu."), _tap("lot4", "And the clock.")]),
        Variant("f", [rule("http_error", f"{_A}/partial/lot*", times={"always": True}, status=503)], [_tars("wait()", "An error. Wait."), _tars("hotkey(key='f5')", "Still. Refresh.")]),
    ],
)  # fmt: skip

_BID = Script(
    "au-bid", ("spa", "computer_use"), "computer", {"api": "anthropic", "start": f"{_A}/#lot-1"}, _AUCTION,
    "Bid 500 on the lot on the screen and tell me the receipt.",
    [
        ("", _a("screenshot")),
        ("sextant", _a("left_click", "The amount.", coordinate="@at:amount")),
        ("sextant", _a("type", "", text="500")),
        ("sextant", _a("left_click", "Bid.", coordinate="@at:bid")),
        (r"receipt (B-\d+)", Say("The bid is placed, the receipt is %FOUND%.")),
    ],
    Say("My bid failed and I could not place it."),
    lambda world, message: len(world.orders) == 1,
    [
        Variant("a", [rule("http_error", f"{_A}/bid", status=500)], [_a("left_click", "It failed; bid again.", coordinate="@at:bid")]),
        Variant("b", [rule("http_error", f"{_A}/bid", stage="response", status=500)], [_a("left_click", "Failed with 500, but perhaps it counts. My bids.", coordinate="@at:mine"), Say("The bid is placed: it stands among your bids.")]),
        Variant("c", [rule("http_error", f"{_A}/site.js", status=500), rule("connection_cut", f"{_A}/bid")], [_a("key", "The page is empty. Reload.", text="F5"), _a("left_click", "The bid failed. Again.", coordinate="@at:bid")]),
        Variant("d", [rule("http_error", f"{_A}/partial/lot*", times=2, status=502)], [_a("key", "An error: 502. Reload.", text="ctrl+r"), _a("key", "Again.", text="ctrl+r")]),
    ],
)  # fmt: skip

_TRAVEL = Script(
    "au-travel", ("spa", "computer_use"), "computer", {"api": "responses", "start": f"{_L}/"}, {ledger.HOST: ledger.page},
    "What is the balance of travel?",
    [
        ("", _o("screenshot")),
        ("travel", _press("acc-travel")),
        (r"Balance of travel: (\d+)", Say("The balance is %FOUND%.")),
    ],
    Say("I was not able to retrieve the balance of travel."),
    answers("342"),
    [
        Variant("a", [rule("http_error", f"{_L}/graphql", status=500)], [_press("reconnect")]),
        Variant("b", [rule("http_error", f"{_L}/graphql", status=401)], []),
        Variant("c", [rule("http_error", f"{_L}/graphql", times={"nth": [2]}, status=502)], [_press("acc-travel", "It is not known. Once more.")]),
        Variant("d", [rule("http_error", f"{_L}/auth/token", status=503)], [_o("keypress", keys=["CTRL", "R"])]),
        Variant("e", [rule("http_error", f"{_L}/feed*", times={"always": True}, status=500)], []),
        Variant("f", [rule("connection_cut", f"{_L}/graphql", times={"nth": [2]})], [AGAIN]),
        Variant("g", [rule("http_error", f"{_L}/graphql", times={"nth": [1]}, status=500)], [_press("accounts", "Not available. I choose Accounts in the menu.")]),
    ],
)  # fmt: skip

SCRIPTS = [_QUEUE, _CLOCK, _BID, _TRAVEL]
