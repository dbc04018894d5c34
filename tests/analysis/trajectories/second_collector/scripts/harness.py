# ruff: noqa: E501  (What a model says stays on one line.)
"""Harnesses with different formats of answers, at the library."""

from collections.abc import Sequence
from typing import Any

from tests.analysis.trajectories.second_collector.cases import (
    AGAIN,
    BLIND,
    Script,
    Step,
    Variant,
    Words,
    answers,
    rule,
)
from tests.analysis.trajectories.second_collector.scripts.wording import put
from tests.analysis.trajectories.second_collector.sites import World, library

_B = library.BASE
_HOSTS = {library.HOST: library.page}
_TOOLS = {
    "mcp": ["navigate", "navigate_back", "click", "type", "wait_for", "evaluate", "tabs"],
    "openai": ["open_url", "press_element", "type_text", "go_back", "refresh_page", "pause"],
    "magentic": ["visit_url", "click", "input_text", "history_back", "sleep", "stop_action"],
}


def options(style: str, **more: Any) -> dict[str, Any]:
    """Return the options of `agents.tools` for a style."""
    names = _TOOLS.get(style)
    if style == "mcp" and names:
        names = [f"mcp__playwright__browser_{n}" for n in names]
    read = "tools" if names else {"cline": "xml"}.get(style, style)
    return {"format": read, "tools": names or []} | more


def reserved(name: str) -> Any:
    """Return a check that exactly this book is reserved, once."""

    def check(world: World, text: str) -> bool:
        return world.reserved == [name]

    return check


def _script(
    name: str,
    style: str,
    task: str,
    steps: Sequence[tuple[str, Sequence[Any]]],
    give_up: Sequence[Any],
    solved: Any,
    variants: Sequence[Variant],
    **more: Any,
) -> Script:
    message: list[Step] = [(see, put(style, *words)) for see, words in steps]
    return Script(
        *(name, ("harness",), "tools", options(style, **more), _HOSTS, task),
        *(message, put(style, *give_up), solved, variants),
    )


def _v(
    style: str,
    name: str,
    rules: list[Any],
    *reactions: Any,
    give_up: Sequence[Any] | None = None,
    **more: Any,
) -> Variant:
    words: list[Words] = [r if isinstance(r, str) else put(style, *r) for r in reactions]
    end = None if give_up is None else put(style, *give_up)
    return Variant(name, rules, words, end, **more)


_REACT = _script(
    "hs-react", "react", "On which shelf is A Guide to Moss? Start at https://library.test/books",
    [
        ("", ("I need to open the list.", "goto", f"{_B}/books")),
        ("4 books", ("The list is here.", "click", "moss")),
        (r"Shelf (F-\d+)", ("I now know the final answer", "end", "Shelf %FOUND%")),
    ],
    ("I cannot go on.", "end", "I was not able to find the shelf, as the library's site returned an error."),
    answers("F-02"),
    [
        _v("react", "a", [rule("http_error", f"{_B}/book/*")], ("The page shows an error. Reloading may help.", "reload")),
        _v("react", "b", [rule("http_error", f"{_B}/books", times=2, status=503)], ("Server busy.", "wait", 2), ("Open it once more.", "goto", f"{_B}/books"), ("And again.", "goto", f"{_B}/books")),
        _v("react", "c", [rule("javascript_failure", f"{_B}/main.js", delay=0.5)], ("The page is blank where the shelf should be.", "back"), ("I try the link again.", "click", "moss"), give_up=("Unclear.", "end", "It is probably shelf A-1.")),
        _v("react", "d", [rule("redirect_loop", f"{_B}/book/moss")]),
        _v("react", "e", [rule("http_error", f"{_B}/book/moss", times=2)], ("An error. Again.", "reload"), silent=True),
    ],
)  # fmt: skip

_XML = _script(
    "hs-xml", "xml", "Reserve The Tides at https://library.test/book/tides",
    [
        ("", ("I'll open the book's page.", "goto", f"{_B}/book/tides")),
        ("On the shelf", ("It is available, so I reserve it.", "click", "reserve")),
        ("Reserved for you", ("", "end", "The Tides is reserved for you.")),
    ],
    ("", "end", "Unfortunately the reservation could not be made."),
    reserved("tides"),
    [
        _v("xml", "a", [rule("http_error", method=["POST"], status=500)], ("An internal error. I go back and press it again.", "goto", f"{_B}/book/tides"), ("Now again.", "click", "reserve")),
        _v("xml", "b", [rule("http_error", method=["POST"], status=502, stage="response")], ("The gateway failed. Let me look whether it worked.", "goto", f"{_B}/book/tides")),
        _v("xml", "c", [rule("network_error", f"{_B}/book/tides", times={"nth": 2}, delay=1)], ("", "reload")),
        _v("xml", "d", [rule("popup", f"{_B}/*", times=1)], BLIND, ("A dialog is in the way; I press Escape.", "reload"), ("", "click", "reserve")),
        _v("xml", "e", [rule("llm_refusal", llm={"step": [2]}), rule("http_error", method=["POST"])], AGAIN, ("", "goto", f"{_B}/book/tides")),
    ],
)  # fmt: skip

_CLINE = _script(
    "hs-cline", "cline", "When is the library open? Try https://library.test/old-hours",
    [
        ("", ("I open the old address.", "goto", f"{_B}/old-hours")),
        (r"(Monday to Friday, 9 to 18)", ("", "end", "It is open %FOUND%.")),
    ],
    ("", "end", "The site did not load, so I can't tell the hours."),
    answers("9 to 18"),
    [
        _v("cline", "a", [rule("http_error", f"{_B}/old-hours", status=404)], ("That address is dead; the current page should be /hours.", "goto", f"{_B}/hours")),
        _v("cline", "b", [rule("http_error", f"{_B}/hours", status=503)], ("Overloaded. I wait.", "wait", 2), ("I try the address again.", "goto", f"{_B}/old-hours")),
        _v("cline", "c", [rule("connection_cut", f"{_B}/old-hours")], give_up=("Nothing came.", "end", "The library is open Monday to Friday, 10 to 16.")),
        _v("cline", "e", [rule("llm_empty", llm={"step": [1]}), rule("tls_error", f"{_B}/*", hold=2)], ("The certificate is wrong. I wait.", "wait", 3), ("Once more.", "goto", f"{_B}/old-hours")),
        _v("cline", "d", [rule("connection_timeout", f"{_B}/*", hold=1)], ("", "goto", f"{_B}/hours")),
    ],
)  # fmt: skip

_AUTOGPT = _script(
    "hs-autogpt", "json_text", "Which book is the book of the month, and on which shelf? https://library.test/",
    [
        ("", ("Open the site.", "goto", f"{_B}/")),
        ("Book of the month", ("Follow the link.", "click", "picked")),
        (r"Shelf (A-\d+)", ("", "end", "Clocks of Prague, Shelf %FOUND%.")),
    ],
    ("", "end", "Task failed: the website is unavailable."),
    answers("A-77"),
    [
        _v("json_text", "a", [rule("http_error", f"{_B}/go/clocks")], ("The short link fails. The book is Clocks of Prague; open it directly.", "goto", f"{_B}/book/clocks")),
        _v("json_text", "b", [rule("llm_malformed", how="body", times=1, llm={"step": [2]}), rule("http_error", f"{_B}/book/clocks", status=500)], ("Failure; back and once more.", "back"), ("", "click", "picked")),
        _v("json_text", "c", [rule("slow_page", f"{_B}/book/clocks", pause=0.2), rule("javascript_failure", f"{_B}/main.js", delay=1, times={"nth": 2})], ("The shelf has not appeared. Wait.", "wait", 2), ("Still dots. Load it anew.", "goto", f"{_B}/book/clocks")),
        _v("json_text", "d", [rule("http_error", f"{_B}/*", times={"nth": [1, 4]}, resource=["document"])], AGAIN, give_up=("", "end", "Clocks of Prague, shelf unknown: the page with the shelf is down.")),
    ],
)  # fmt: skip

_MCP = _script(
    "hs-mcp", "mcp", "Reserve Harbour Nights (https://library.test/books) and tell whether it shows as reserved.",
    [
        ("", ("", "goto", f"{_B}/books")),
        ("4 books", ("", "click", "harbour")),
        ("On the shelf", ("", "click", "reserve")),
        ("Reserved for you", ("", "end", "Harbour Nights is reserved.")),
    ],
    ("", "end", "I couldn't complete the reservation because the page kept failing."),
    reserved("harbour"),
    [
        _v("mcp", "a", [rule("http_error", f"{_B}/book/harbour", method=["GET"])], ("", "back"), ("", "click", "harbour")),
        _v("mcp", "b", [rule("http_error", f"{_B}/book/harbour", times={"nth": 2}, method=["GET"], status=503)], ("The confirmation did not show. I open the book again to check.", "goto", f"{_B}/book/harbour")),
        _v("mcp", "c", [rule("connection_cut", method=["POST"], stage="response")], ("The connection was reset. Let me check the book's page.", "goto", f"{_B}/book/harbour")),
        _v("mcp", "d", [rule("http_error", f"{_B}/books", status=500), rule("http_error", f"{_B}/book/harbour", method=["GET"], status=502)], ("", "js", "() => location.reload()"), ("", "js", "() => { location.href = '/book/harbour' }")),
    ],
)  # fmt: skip

_GYM = _script(
    "hs-gym", "browsergym", "Renew my loan. Card number 4711. https://library.test/account",
    [
        ("", ("Open the account.", "goto", f"{_B}/account")),
        ("Sign in", ("Type the card number.", "fill", "user", "4711")),
        ("Sign in", ("Sign in.", "click", "signin")),
        ("Loan due: 3 April", ("Renew.", "click", "renew")),
        ("Loan due: 1 May", ("", "end", "Renewed until 1 May.")),
    ],
    ("", "give_up", "The account pages do not work."),
    lambda world, message: "renewed" in world.done,
    [
        _v("browsergym", "a", [rule("session_expired", f"{_B}/account*", times={"nth": 3})], ("I am logged out. Sign in again.", "fill", "user", "4711"), ("", "click", "signin")),
        _v("browsergym", "b", [rule("http_error", f"{_B}/account/renew", status=500)], ("", "reload")),
        _v("browsergym", "c", [rule("http_error", f"{_B}/login", status=503)], ("", "back"), ("", "fill", "user", "4711"), ("", "click", "signin")),
        _v("browsergym", "d", [rule("http_error", f"{_B}/account", times={"nth": 1}), rule("http_error", f"{_B}/account?renewed=1")], ("Error 500, F5.", "reload"), ("", "press", "Enter")),
    ],
)  # fmt: skip

_BU = _script(
    "hs-bu", "browser_use", "Suggest the book 'Lamps' to the library at https://library.test/suggest",
    [
        ("", ("Unknown", "goto", f"{_B}/suggest")),
        ("none yet", ("Success", "fill", "title", "Lamps")),
        ("none yet", ("Success", "click", "send")),
        ("Suggestions: Lamps", ("Success", "end", "Suggested 'Lamps'.")),
    ],
    ("Failed", "give_up", "The suggestion could not be sent."),
    lambda world, message: world.comments == ["Lamps"],
    [
        _v("browser_use", "a", [rule("http_error", method=["POST"], status=500)], ("Failed - internal server error after sending", "goto", f"{_B}/suggest"), ("Success", "fill", "title", "Lamps"), ("Success", "click", "send")),
        _v("browser_use", "b", [rule("http_error", method=["POST"], status=500)], give_up=("Success", "end", "Suggested 'Lamps'.")),
        _v("browser_use", "c", [rule("maintenance_page", f"{_B}/suggest", status=200)], ("Failed - maintenance. Try a different page", "goto", f"{_B}/"), ("Success - the site works", "click", "suggest")),
        _v("browser_use", "e", [rule("duplicate_write", f"{_B}/suggest", method=["POST"])]),
        _v("browser_use", "d", [rule("rate_limit", f"{_B}/*", window=4)], ("Failed - 429", "wait", 5), ("Unknown", "goto", f"{_B}/suggest")),
    ],
)  # fmt: skip

_ARENA = _script(
    "hs-arena", "webarena", "What is the library's telephone number? https://library.test/hours",
    [
        ("", ("Let's think step-by-step.", "goto", f"{_B}/hours")),
        ("9 to 18", ("The contact page has it.", "click", "contact")),
        (r"Telephone (\d+-\d+)", ("", "end", "%FOUND%")),
    ],
    ("The page cannot be reached.", "end", "N/A"),
    answers("555-0142"),
    [
        _v("webarena", "a", [rule("http_error", f"{_B}/contact", times=2)], ("The page failed.", "reload")),
        _v("webarena", "b", [rule("dns_failure", f"{_B}/*", hold=2)], ("The site can't be reached.", "wait", 3), ("", "reload")),
        _v("webarena", "c", [rule("http_error", f"{_B}/hours", status=403)], ("Forbidden. Open a new tab.", "new_tab", f"{_B}/contact")),
        _v("webarena", "d", [rule("http_error", f"{_B}/hours", status=500)], ("Something is wrong with the page. I go on.", "scroll"), ("Still broken, so I scroll.", "scroll")),
    ],
    reloads_by_itself=True,
)  # fmt: skip

_SEEACT = _script(
    "hs-seeact", "seeact", "Find the year of Clocks of Prague. https://library.test/books",
    [
        ("", ("(Current Webpage Identification) Nothing is open.", "goto", f"{_B}/books")),
        ("4 books", ("The list of books is shown.", "click", "clocks")),
        (r"Published (\d+)", ("The year is shown.", "end", "%FOUND%")),
    ],
    ("The site is down, the task cannot be done.", "end", "The year could not be determined."),
    answers("2003"),
    [
        _v("seeact", "a", [rule("http_error", f"{_B}/book/clocks", status=504)], ("A gateway timeout is shown.", "reload")),
        _v("seeact", "b", [rule("http_error", f"{_B}/book/clocks", status=500)], ("This is not the page of the book.", "back"), ("The list again.", "click", "clocks")),
        _v("seeact", "c", [rule("captcha_wall", f"{_B}/book/*")], ("A check for robots. I wait.", "wait"), ("It is still there, so I reload.", "reload")),
        _v("seeact", "d", [rule("wrong_redirect", f"{_B}/book/clocks", to="/hours")], ("This shows the opening hours, not the book.", "goto", f"{_B}/book/clocks")),
        _v("seeact", "e", [rule("text_corruption", f"{_B}/book/clocks", value="number")]),
    ],
)  # fmt: skip

_MAGENTIC = _script(
    "hs-magentic", "magentic", "Does the library have My account with a fine? Card 12. https://library.test/account",
    [
        ("", ("", "goto", f"{_B}/account")),
        ("Sign in", ("", "fill", "user", "12")),
        ("Sign in", ("", "click", "signin")),
        (r"Fine: (\d\.\d+)", ("", "end", "The fine is %FOUND% euros.")),
    ],
    ("", "end", "I could not read the fine; the website was not working."),
    answers("2.40"),
    [
        _v("magentic", "a", [rule("connection_cut", f"{_B}/login", stage="response")], ("", "goto", f"{_B}/account")),
        _v("magentic", "b", [rule("text_corruption", f"{_B}/account", times={"nth": 2})], give_up=("", "end", "The fine is 3.40 euros.")),
        _v("magentic", "c", [rule("http_error", f"{_B}/account", times={"nth": [1, 2]})], ("", "reload"), ("", "goto", f"{_B}/account")),
        _v("magentic", "d", [rule("llm_error", error="unavailable", times=4, after_step=1)], ),
    ],
)  # fmt: skip

SCRIPTS = [
    *(_REACT, _XML, _CLINE, _AUTOGPT, _MCP, _GYM, _BU, _ARENA, _SEEACT, _MAGENTIC),
]
