# ruff: noqa: E501  (What a model says stays on one line.)
"""Cases in which the network misleads: requests that are no recovery, and recoveries that hide."""

from collections.abc import Sequence
from typing import Any

from tests.analysis.trajectories.second_collector.cases import (
    AGAIN,
    BLIND,
    Rule,
    Script,
    Step,
    Variant,
    answers,
    rule,
)
from tests.analysis.trajectories.second_collector.scripts.harness import options
from tests.analysis.trajectories.second_collector.scripts.wording import put
from tests.analysis.trajectories.second_collector.sites import World, board, library

_L = library.BASE
_B = board.BASE
_LIBRARY = {library.HOST: library.page}


def _script(
    name: str,
    style: str,
    task: str,
    steps: Sequence[tuple[str, Sequence[Any]]],
    give_up: Sequence[Any],
    solved: Any,
    variants: Sequence[tuple[str, list[Rule], list[Any], Sequence[Any] | None]],
    *,
    hosts: Any = _LIBRARY,
    kinds: tuple[str, ...] = (),
    **more: Any,
) -> Script:
    message: list[Step] = [(see, put(style, *words)) for see, words in steps]
    made = [
        Variant(
            variant,
            rules,
            [w if isinstance(w, str) else put(style, *w) for w in reactions],
            None if end is None else put(style, *end),
        )
        for variant, rules, reactions, end in variants
    ]
    return Script(
        *(name, ("traps", *kinds), "tools", options(style, **more), hosts, task),
        *(message, put(style, *give_up), solved, made),
    )


def _first_reserved(world: World, text: str) -> bool:
    return "moss" in world.reserved


_SAME = _script(
    "tr-same", "openai", f"Reserve A Guide to Moss. {_L}/book/moss",
    [
        ("", ("Open the book.", "goto", f"{_L}/book/moss")),
        ("", ("Reserve it.", "click", "reserve")),
        ("", ("", "end", "I pressed the button; the book is reserved.")),
    ],
    ("", "give_up", "It did not work."),
    _first_reserved,
    [
        ("a", [rule("javascript_failure", f"{_L}/main.js", delay=0.3)], [], None),
        ("b", [rule("resource_failure", f"{_L}/main.css")], [], None),
        ("c", [rule("slow_page", f"{_L}/book/moss", pause=0.1)], [], None),
        ("d", [rule("text_corruption", f"{_L}/book/moss", value="number")], [], None),
        ("e", [rule("header_change", f"{_L}/book/moss", change="policy")], [], None),
    ],
)  # fmt: skip

_SHARED = _script(
    "tr-shared", "react", f"What are the years of Harbour Nights and The Tides? {_L}/books",
    [
        ("", ("Open the list.", "goto", f"{_L}/books")),
        ("", ("The first one.", "click", "harbour")),
        ("", ("Back to the list.", "goto", f"{_L}/books")),
        ("", ("The second one.", "click", "tides")),
        ("", ("I have both.", "end", "1974 and 1961")),
    ],
    ("", "end", "I don't know the years."),
    answers("1961"),
    [
        ("a", [rule("javascript_failure", f"{_L}/main.js", delay=0.3, times={"nth": 2})], [], None),
        ("b", [rule("resource_failure", f"{_L}/main.css", times={"first": 1})], [], None),
        ("c", [rule("http_error", f"{_L}/books", times={"nth": 2})], [BLIND], None),
        ("d", [rule("http_error", f"{_L}/book/harbour")], [], None),
    ],
)  # fmt: skip

_REVISIT = _script(
    "tr-revisit", "mcp", f"Reserve The Tides and A Guide to Moss, looking at the list before each: {_L}/books",
    [
        ("", ("The list.", "goto", f"{_L}/books")),
        ("", ("The first book.", "goto", f"{_L}/book/tides")),
        ("", ("", "click", "reserve")),
        ("", ("The list again, as told.", "goto", f"{_L}/books")),
        ("", ("The second book.", "goto", f"{_L}/book/moss")),
        ("", ("", "click", "reserve")),
        ("", ("", "end", "Both books are reserved.")),
    ],
    ("", "end", "I could not finish."),
    lambda world, message: sorted(world.reserved) == ["moss", "tides"],
    [
        ("a", [rule("http_error", f"{_L}/books")], [], None),
        ("b", [rule("http_error", f"{_L}/books", times={"nth": 2}), rule("http_error", f"{_L}/book/tides", method=["GET"], times={"nth": 2})], [], None),
        ("c", [rule("http_error", f"{_L}/book/*", method=["POST"], times={"nth": 1})], [], None),
        ("d", [rule("network_error", f"{_L}/books", delay=1)], [], None),
    ],
)  # fmt: skip

_HOP = _script(
    "tr-hop", "openai", f"On which shelf is the book of the month? Use {_L}/go/clocks, which leads to /book/clocks.",
    [
        ("", ("I follow the short link.", "goto", f"{_L}/go/clocks")),
        (r"Shelf (A-\d+)", ("", "end", "Shelf %FOUND%")),
    ],
    ("", "give_up", "The short link is broken."),
    answers("A-77"),
    [
        ("a", [rule("http_error", f"{_L}/go/clocks", status=502)], [("The link fails, but I know where it leads.", "goto", f"{_L}/book/clocks")], None),
        ("b", [rule("http_error", f"{_L}/book/clocks", status=503)], [("", "goto", f"{_L}/book/clocks")], None),
        ("c", [rule("connection_cut", f"{_L}/go/clocks")], [("Nothing. Is it in the list?", "goto", f"{_L}/books"), ("", "click", "clocks")], None),
        ("d", [rule("redirect_loop", f"{_L}/go/clocks")], [("Too many redirects. Again.", "reload")], None),
    ],
)  # fmt: skip

_AFTER = _script(
    "tr-after", "xml", f"Open {_B}/draft and tell the headline.",
    [
        ("", ("", "goto", f"{_B}/draft")),
        ("Draft", ("", "end", "The headline is: Draft.")),
    ],
    ("", "end", "The page does not show a headline: it failed to load."),
    answers("is: draft"),
    [
        ("a", [rule("http_error", f"{_B}/api/news", times=1)], [], None),
        ("b", [rule("connection_cut", f"{_B}/draft", times=1)], [], None),
        ("c", [rule("network_error", f"{_B}/api/news", delay=1, times=2)], [], None),
        ("d", [rule("http_error", f"{_B}/draft", status=503, body="<title>Busy</title><h1>Busy</h1><script>setTimeout(() => location.reload(), 4000)</script>")], [], None),
    ],
    hosts={board.HOST: board.page},
    lingers=5,
    reloads_by_itself=True,
)  # fmt: skip

_SILENT = _script(
    "tr-silent", "browsergym", f"What is the telephone number? {_L}/contact",
    [
        ("", ("Go there.", "goto", f"{_L}/contact")),
        (r"(555-\d+)", ("", "end", "%FOUND%")),
    ],
    ("", "give_up", "The page is not reachable."),
    answers("555-0142"),
    [
        ("a", [rule("connection_cut", f"{_L}/contact", times=1)], [], None),
        ("b", [rule("connection_cut", f"{_L}/contact", times=2)], [("The site can't be reached. Try again.", "goto", f"{_L}/contact")], None),
        ("c", [rule("connection_refused", f"{_L}/*", hold=0.3)], [("", "reload")], None),
    ],
    harness_retries=True,
)  # fmt: skip

_ITSELF = _script(
    "tr-itself", "react", f"When is the library open? {_L}/hours",
    [
        ("", ("Open the page.", "goto", f"{_L}/hours")),
        (r"9 to 18", ("", "end", "Monday to Friday, 9 to 18.")),
    ],
    ("", "end", "The library's page is unreachable, I cannot say."),
    answers("9 to 18"),
    [
        ("a", [rule("connection_cut", f"{_L}/hours")], [("Not reachable. I wait some seconds.", "wait", 3)], None),
        ("b", [rule("connection_cut", f"{_L}/hours", times=2)], [("Not reachable. I wait.", "wait", 2), ("Now I open it again.", "goto", f"{_L}/hours")], None),
        ("c", [rule("connection_refused", f"{_L}/*", hold=0.5)], [("This site can't be reached.", "wait", 3)], None),
        ("d", [rule("http_error", f"{_L}/hours", status=503)], [("An error. I wait.", "wait", 4)], None),
    ],
    reloads_by_itself=True,
)  # fmt: skip

_QUEUE = _script(
    "tr-queue", "openai", f"Wait in the hall queue until you have a code. {_L}/queue",
    [
        ("", ("Join the queue.", "goto", f"{_L}/queue")),
        ("number 3", ("I wait; the page refreshes itself.", "wait", 3)),
        ("number|code", ("Wait.", "wait", 4)),
        ("number|code", ("Wait.", "wait", 4)),
        (r"code is (HL-\d+)", ("", "end", "The code is %FOUND%.")),
    ],
    ("", "give_up", "I lost my place: the queue shows an error."),
    answers("HL-88"),
    [
        ("a", [rule("http_error", f"{_L}/queue", times={"nth": 2})], [("An error; reload the queue.", "reload")], None),
        ("b", [rule("http_error", f"{_L}/queue", times={"nth": 1}, status=503, body="<meta http-equiv=refresh content=2><h1>Busy, one moment</h1>")], [("Busy. The page says one moment.", "wait", 3)], None),
        ("c", [rule("javascript_failure", f"{_L}/main.js", delay=0.2)], [], None),
        ("d", [rule("network_error", f"{_L}/queue", times={"nth": 3}, delay=1)], [], None),
    ],
)  # fmt: skip

_BACK = _script(
    "tr-back", "webarena", f"Find the shelf of A Guide to Moss and the year of Clocks of Prague. {_L}/books",
    [
        ("", ("Open the list.", "goto", f"{_L}/books")),
        ("4 books", ("The first.", "click", "moss")),
        (r"F-02", ("Return to the list.", "back")),
        ("4 books", ("The second.", "click", "clocks")),
        (r"Published 2003", ("", "end", "F-02 and 2003")),
    ],
    ("", "end", "N/A, the library has errors"),
    answers("f-02 and 2003"),
    [
        ("a", [rule("http_error", f"{_L}/book/moss")], [("An error. Return to the list.", "back"), ("Click it again.", "click", "moss")], None),
        ("b", [rule("resource_failure", f"{_L}/main.css")], [], None),
        ("c", [rule("http_error", f"{_L}/book/moss")], [("Return to the list.", "back"), ("Then the other one.", "click", "clocks")], ("", "end", "F-01 and 2003")),
        ("d", [rule("header_change", f"{_L}/book/moss", change="type")], [("The source is shown. Forward and back.", "back"), ("", "forward")], None),
    ],
)  # fmt: skip

_PREFETCH = _script(
    "tr-prefetch", "json_text", f"Hours and telephone, please. {_L}/hours",
    [
        ("", ("", "goto", f"{_L}/hours")),
        ("9 to 18", ("", "click", "contact")),
        ("555-0142", ("", "end", "Monday to Friday, 9 to 18; 555-0142")),
    ],
    ("", "end", "Only the hours are known, 9 to 18: the contact page failed."),
    answers("555-0142"),
    [
        ("a", [rule("http_error", f"{_L}/contact")], [("Error.", "back"), ("", "click", "contact")], None),
        ("b", [rule("http_error", f"{_L}/hours", status=500)], [("Error 500. Perhaps the contact page has both.", "goto", f"{_L}/contact"), ("The hours are missing. The hours again.", "goto", f"{_L}/hours")], None),
        ("c", [rule("http_error", f"{_L}/contact", times={"always": True})], [AGAIN], None),
    ],
)  # fmt: skip

_LOGIN = _script(
    "tr-login", "browser_use", f"Tell my reservations, card 5. {_L}/account",
    [
        ("", ("", "goto", f"{_L}/account")),
        ("Sign in", ("", "fill", "user", "5")),
        ("Sign in", ("", "click", "signin")),
        (r"Reservations: none", ("", "end", "There are no reservations.")),
    ],
    ("Failed", "give_up", "I cannot sign in."),
    answers("no reservations"),
    [
        ("a", [rule("http_error", f"{_L}/account", times={"nth": 2})], [("Failed - an error after signing in", "reload")], None),
        ("b", [rule("http_error", f"{_L}/account", times={"nth": 1})], [("Failed", "goto", f"{_L}/"), ("Unknown", "click", "account")], None),
        ("c", [rule("session_expired", f"{_L}/account", login="own", times={"nth": 2})], [("Failed - it asks for a login again", "goto", f"{_L}/account")], None),
        ("d", [rule("http_error", f"{_L}/login", stage="response"), rule("popup", f"{_L}/account")], [("Failed - server error", "goto", f"{_L}/account")], None),
    ],
)  # fmt: skip

_TWICE = _script(
    "tr-twice", "openai", f"Suggest 'Maps' and then 'Sails' at {_L}/suggest.",
    [
        ("", ("", "goto", f"{_L}/suggest")),
        ("", ("", "fill", "title", "Maps")),
        ("", ("", "click", "send")),
        ("", ("The second suggestion.", "goto", f"{_L}/suggest")),
        ("", ("", "fill", "title", "Sails")),
        ("", ("", "click", "send")),
        ("", ("", "end", "Both suggestions are sent.")),
    ],
    ("", "give_up", "Not all suggestions could be sent."),
    lambda world, message: world.comments == ["Maps", "Sails"],
    [
        ("a", [rule("http_error", f"{_L}/suggest", method=["POST"])], [], None),
        ("b", [rule("http_error", f"{_L}/suggest", method=["GET"], times={"nth": 2})], [], None),
        ("c", [rule("connection_cut", f"{_L}/suggest", method=["POST"], stage="response")], [], None),
        ("d", [rule("duplicate_write", f"{_L}/suggest", method=["POST"])], [], None),
    ],
)  # fmt: skip

SCRIPTS = [
    *(_SAME, _SHARED, _REVISIT, _HOP, _AFTER, _SILENT, _ITSELF, _QUEUE, _BACK, _PREFETCH),
    *(_LOGIN, _TWICE),
]
