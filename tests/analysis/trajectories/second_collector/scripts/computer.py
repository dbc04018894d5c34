# ruff: noqa: E501  (What a model says stays on one line.)
"""Computer use: screenshots, keys and clicks at coordinates, in the forms of two APIs."""

from typing import Any

from tests.analysis.trajectories.second_collector.cases import (
    AGAIN,
    BLIND,
    Say,
    Script,
    Variant,
    answers,
    rule,
    tool,
)
from tests.analysis.trajectories.second_collector.scripts.harness import reserved
from tests.analysis.trajectories.second_collector.sites import board, library

_L = library.BASE
_B = board.BASE
_LIBRARY = {library.HOST: library.page}
_BOARD = {board.HOST: board.page}


def _a(action: str, words: str = "", /, **options: Any) -> Say:
    """Return an action in Anthropic's form."""
    return tool("computer", words, action=action, **options)


def _o(kind: str, words: str = "", /, **options: Any) -> Say:
    """Return an action in OpenAI's form."""
    return tool("computer", words, type=kind, **options)


def _click(name: str, words: str = "") -> Say:
    return _a("left_click", words, coordinate=f"@at:{name}")


def _press(name: str, words: str = "") -> Say:
    return _o("click", words, x=f"@x:{name}", y=f"@y:{name}", button="left")


def _address(url: str, words: str = "") -> Say:
    """Type an address, in three actions of one answer."""
    keys = ({"action": "key", "text": "ctrl+l"}, {"action": "type", "text": f"{url}\n"})
    return Say(words, tuple(("computer", inputs) for inputs in keys))


_SHELF = Script(
    "cu-shelf", ("computer_use",), "computer", {"api": "anthropic", "start": f"{_L}/books"}, _LIBRARY,
    "On which shelf is A Guide to Moss? The library's list is open.",
    [
        ("", _a("screenshot", "I take a screenshot.")),
        ("4 books", _click("moss", "I click the title.")),
        (r"Shelf (F-\d+)", Say("It is on shelf %FOUND%.")),
    ],
    Say("I couldn't find the shelf because the page wouldn't load."),
    answers("F-02"),
    [
        Variant("a", [rule("http_error", f"{_L}/book/moss")], [_a("key", "The page shows a server error. I'll refresh.", text="F5")]),
        Variant("b", [rule("http_error", f"{_L}/books", times=2, status=503)], [_a("key", "", text="ctrl+r"), _a("key", "", text="ctrl+r")]),
        Variant("c", [rule("network_error", f"{_L}/book/moss", delay=1)], [_a("key", "It can't be reached. Back.", text="alt+Left"), _click("moss", "I click it again.")]),
        Variant("d", [rule("http_error", f"{_L}/book/moss", times={"always": True})], [_a("wait", "", duration=2), _a("key", "", text="F5")]),
        Variant("e", [rule("connection_cut", f"{_L}/book/moss")], [_a("mouse_move", "An error page.", coordinate=[300, 300]), _a("wait", "Maybe it takes time.", duration=3)], Say("It is on shelf F-20.")),
    ],
)  # fmt: skip

_RESERVE = Script(
    "cu-reserve", ("computer_use",), "computer", {"api": "anthropic", "start": f"{_L}/book/harbour"}, _LIBRARY,
    "Reserve the book on the screen.",
    [
        ("", _a("screenshot")),
        ("On the shelf", _click("reserve", "The button is on the page.")),
        ("Reserved for you", Say("The book is reserved.")),
    ],
    Say("I was unable to reserve the book: after the click an error appeared."),
    reserved("harbour"),
    [
        Variant("a", [rule("http_error", method=["POST"])], [_a("key", "Internal error; back to the book.", text="alt+Left"), _click("reserve", "Press it again.")]),
        Variant("b", [rule("http_error", method=["POST"], stage="response")], [_address(f"{_L}/book/harbour", "An error. I open the book's page to see its state.")]),
        Variant("c", [rule("http_error", f"{_L}/book/harbour", method=["GET"], times={"nth": [1, 2]}, status=502)], [_a("key", "Bad gateway.", text="F5"), _a("key", "Bad gateway again.", text="F5")]),
        Variant("d", [rule("popup", f"{_L}/book/harbour")], [BLIND, _a("key", "A dialog covers the page. Escape.", text="Escape"), _click("reserve")]),
    ],
)  # fmt: skip

_OWN = (
    "<h1>Service is busy</h1><p>Sorry.<p><button id=again onclick=location.reload()>Reload</button>"
)

_BOARDS = Script(
    "cu-board", ("computer_use", "spa"), "computer", {"api": "responses", "start": f"{_B}/projects"}, _BOARD,
    "What is the budget of Cobalt?",
    [
        ("", _o("screenshot")),
        ("Cobalt", _press("cobalt", "I open the project.")),
        (r"Budget: (\d+)", Say("%FOUND% euros")),
    ],
    Say("The budget is not shown; the app reports a problem."),
    answers("15900"),
    [
        Variant("a", [rule("http_error", f"{_B}/api/project/*")], [_press("again")]),
        Variant("b", [rule("http_error", f"{_B}/api/projects", times=2)], [_press("again", "Try again."), _o("keypress", "Reload with the keyboard.", keys=["CTRL", "R"])]),
        Variant("c", [rule("http_error", f"{_B}/projects", status=503, body=_OWN)], [_press("again", "The page has a Reload button.")]),
        Variant("d", [rule("http_error", f"{_B}/api/project/cobalt", times=1)], [_o("keypress", "", keys=["ALT", "LEFT"]), _press("cobalt")]),
        Variant("e", [rule("javascript_failure", f"{_B}/app.js", delay=0.3), rule("soft_error", f"{_B}/api/project/cobalt", resource=["xhr"])], [_o("keypress", "", keys=["F5"]), _o("wait")], Say("The budget is 15000 euros.")),
    ],
)  # fmt: skip

_HOURS = Script(
    "cu-hours", ("computer_use",), "computer", {"api": "responses", "tools": ["computer", "goto"]}, _LIBRARY,
    f"Which telephone number does the library have? {_L}/hours",
    [
        ("", tool("goto", url=f"{_L}/hours")),
        ("9 to 18", _press("contact")),
        (r"Telephone (\d+-\d+)", Say("%FOUND%")),
    ],
    Say("I'm sorry, the site is unavailable, so I have no number."),
    answers("555-0142"),
    [
        Variant("a", [rule("http_error", f"{_L}/hours", status=500), rule("http_error", f"{_L}/contact", status=500)], [tool("goto", "Error 500, so I open it again.", url=f"{_L}/hours"), _o("keypress", "The contact page has an error as well.", keys=["CTRL", "r"])]),
        Variant("b", [rule("dns_failure", f"{_L}/*", hold=2)], [_o("wait", "This site can't be reached."), tool("goto", url=f"{_L}/contact")]),
        Variant("c", [rule("http_error", f"{_L}/contact", times=2)], [_o("keypress", "Back.", keys=["ALT", "LEFT"]), _press("contact", "Again.")], Say("555-0124")),
        Variant("d", [rule("captcha_wall", f"{_L}/contact")], [_o("keypress", "A check whether I am human. F5.", keys=["F5"])]),
        Variant("e", [rule("llm_error", error="overloaded", times=1), rule("http_error", f"{_L}/hours", status=504)], [AGAIN]),
    ],
)  # fmt: skip

SCRIPTS = [_SHELF, _RESERVE, _BOARDS, _HOURS]
