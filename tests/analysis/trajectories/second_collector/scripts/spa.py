# ruff: noqa: E501  (What a model says stays on one line.)
"""Single-page apps: data requests, client-side routes, retries of the page, a service worker."""

from collections.abc import Sequence
from typing import Any

from tests.analysis.trajectories.second_collector.cases import (
    Rule,
    Script,
    Step,
    Variant,
    answers,
    rule,
)
from tests.analysis.trajectories.second_collector.scripts.harness import options
from tests.analysis.trajectories.second_collector.scripts.wording import put
from tests.analysis.trajectories.second_collector.sites import board

_B = board.BASE
_HOSTS = {board.HOST: board.page}


def _script(
    name: str,
    style: str,
    task: str,
    steps: Sequence[tuple[str, Sequence[Any]]],
    give_up: Sequence[Any],
    solved: Any,
    variants: Sequence[tuple[str, list[Rule], list[Any], Sequence[Any] | None]],
    **more: Any,
) -> Script:
    message: list[Step] = [(see, put(style, *words)) for see, words in steps]
    made = [
        Variant(
            name_,
            rules,
            [w if isinstance(w, str) else put(style, *w) for w in reactions],
            None if end is None else put(style, *end),
        )
        for name_, rules, reactions, end in variants
    ]
    return Script(
        *(name, ("spa",), "tools", options(style, **more), _HOSTS, task),
        *(message, put(style, *give_up), solved, made),
    )


_BUDGET = _script(
    "sp-budget", "openai", f"What is Apollo's budget? {_B}/projects",
    [
        ("", ("Open the projects.", "goto", f"{_B}/projects")),
        ("apollo", ("Open Apollo.", "click", "apollo")),
        (r"Budget: (\d+)", ("Found.", "end", "48200 euros")),
    ],
    ("It keeps failing.", "give_up", "The budget could not be loaded."),
    answers("48200"),
    [
        ("a", [rule("http_error", f"{_B}/api/project/*")], [("The page offers to try again.", "click", "again")], None),
        ("b", [rule("http_error", f"{_B}/api/projects", times=2, status=502)], [("Could not be loaded. Try again.", "click", "again"), ("Once more, with a reload.", "reload")], None),
        ("c", [rule("network_error", f"{_B}/api/project/apollo", delay=1)], [("Something went wrong. Back to the list.", "back"), ("Open Apollo.", "click", "apollo")], None),
        ("d", [rule("soft_error", f"{_B}/api/project/apollo", resource=["xhr"])], [("The page shows no budget.", "wait", 2)], ("", "end", "Apollo's budget is 48000 euros.")),
        ("e", [rule("javascript_failure", f"{_B}/app.js", delay=0.5, mode="throw")], [("The app hangs at its start.", "goto", f"{_B}/projects")], None),
    ],
)  # fmt: skip

_TICK = _script(
    "sp-tick", "mcp", f"Tick 'wire' in the project Beacon. {_B}/project/beacon",
    [
        ("", ("", "goto", f"{_B}/project/beacon")),
        ("wire", ("", "click", "wire")),
        ("wire done", ("", "end", "'wire' is ticked.")),
    ],
    ("", "end", "The app does not save the tick, I have to leave it."),
    lambda world, message: "wire" in world.done,
    [
        ("a", [rule("http_error", f"{_B}/api/task/*")], [("It says not saved, undone. I click again.", "click", "wire")], None),
        ("b", [rule("http_error", f"{_B}/api/task/*", stage="response")], [("Undone? I reload to see the true state.", "goto", f"{_B}/project/beacon")], None),
        ("c", [rule("network_error", f"{_B}/api/task/*", delay=1)], [("", "wait", 2)], None),
        ("d", [rule("lost_write", f"{_B}/api/task/*", method=["PATCH"])], [], None),
        ("e", [rule("http_error", f"{_B}/api/task/*", times=2), rule("http_error", f"{_B}/api/news", times={"every": 2})], [("", "click", "wire"), ("", "click", "wire")], None),
    ],
)  # fmt: skip

_COMMENT = _script(
    "sp-comment", "browser_use", f"Write the comment 'Looks good' in Cobalt. {_B}/project/cobalt",
    [
        ("", ("", "goto", f"{_B}/project/cobalt")),
        ("Owner: Li Wen", ("", "fill", "text", "Looks good")),
        ("Owner: Li Wen", ("", "click", "send")),
        (r"Comment \d posted", ("Success", "end", "The comment is posted.")),
    ],
    ("Failed", "give_up", "The comment was not sent."),
    lambda world, message: world.comments == ["Looks good"],
    [
        ("a", [rule("http_error", f"{_B}/api/comments")], [("Unknown - sending", "wait", 2)], None),
        ("b", [rule("http_error", f"{_B}/api/comments", times=4, status=503)], [("Unknown - still sending", "wait", 4), ("Failed - it was not sent, click again", "click", "send")], None),
        ("c", [rule("http_error", f"{_B}/api/comments", times={"always": True})], [("Unknown - sending", "wait", 4)], None),
        ("d", [rule("connection_cut", f"{_B}/api/comments", stage="response", times=1)], [("", "wait", 3)], None),
        ("e", [rule("http_error", f"{_B}/api/project/cobalt"), rule("http_error", f"{_B}/api/comments", times=1)], [("Failed - an error, use the button", "click", "again"), ("", "wait", 3)], None),
    ],
)  # fmt: skip

_SEARCH = _script(
    "sp-search", "react", f"Search for 'beacon' on {_B}/ and tell the owner.",
    [
        ("", ("Open the app.", "goto", f"{_B}/")),
        ("Choose a section", ("Type the word.", "fill", "q", "beacon")),
        ("Choose a section", ("Search.", "click", "find")),
        (r"owner Tom Oduya", ("I know it.", "end", "Tom Oduya")),
    ],
    ("No result.", "end", "The search does not work, so I do not know the owner."),
    answers("Oduya"),
    [
        ("a", [rule("http_error", f"{_B}/graphql")], [("The search failed. Press Find again.", "click", "find")], None),
        ("b", [rule("soft_error", f"{_B}/graphql", resource=["xhr"])], [("The search failed. Perhaps the project page tells it.", "goto", f"{_B}/project/beacon")], None),
        ("c", [rule("empty_result", f"{_B}/graphql")], [], ("There is nothing.", "end", "There is no such project.")),
        ("e", [rule("json_corruption", f"{_B}/graphql", at="/data/search/0/owner", how="nulled")], [], ("The result names nobody.", "end", "It has no owner.")),
        ("d", [rule("http_error", f"{_B}/graphql", times=2)], [("The search failed. Reload.", "reload"), ("Type again.", "fill", "q", "beacon"), ("", "click", "find"), ("Failed again.", "click", "find")], None),
    ],
)  # fmt: skip

_DRAFT = _script(
    "sp-draft", "browsergym", f"Type 'two crates' into the draft at {_B}/draft and wait until it is saved.",
    [
        ("", ("", "goto", f"{_B}/draft")),
        ("Draft", ("", "fill", "text", "two crates")),
        ("Saved", ("", "end", "Saved.")),
    ],
    ("", "give_up", "The draft is not saved."),
    lambda world, message: world.draft == "two crates",
    [
        ("a", [rule("http_error", f"{_B}/api/draft", times={"first": 1})], [("Wait for it.", "wait", 1000), ("Saving failed, retrying. The page retries, so I wait.", "wait", 3000)], None),
        ("b", [rule("http_error", f"{_B}/api/draft", times=2)], [("Wait.", "wait", 1000), ("Saving failed. I type it again.", "fill", "text", "two crates"), ("", "wait", 1000)], None),
        ("c", [rule("http_error", f"{_B}/draft", status=500), rule("http_error", f"{_B}/api/draft", times={"always": True})], [("F5.", "reload"), ("", "wait", 1500)], ("", "end", "The text is in the draft.")),
        ("d", [rule("connection_cut", f"{_B}/api/draft", times=1), rule("http_error", f"{_B}/api/news", times=1)], [("", "wait", 1500), ("Let me look around.", "scroll"), ("", "wait", 2000)], None),
    ],
)  # fmt: skip

_WIND = _script(
    "sp-wind", "json_text", f"How strong is the wind? {_B}/wind",
    [
        ("", ("", "goto", f"{_B}/wind")),
        (r"Wind: (\d+) knots", ("", "end", "%FOUND% knots")),
    ],
    ("", "end", "The page says that it is offline, so there is no wind speed."),
    answers("17 knots"),
    [
        ("a", [rule("http_error", f"{_B}/api/weather")], [("Loading.", "wait", 2)], None),
        ("b", [rule("http_error", f"{_B}/api/weather", times=2, status=503)], [("Loading.", "wait", 2), ("Offline. There is a button.", "click", "again")], None),
        ("c", [rule("connection_cut", f"{_B}/api/weather", times=4)], [("Loading.", "wait", 2), ("Offline. There is a button.", "click", "again"), ("", "wait", 2)], None),
        ("d", [rule("javascript_failure", f"{_B}/sw.js", delay=0.2, mode="fail"), rule("http_error", f"{_B}/wind")], [("An error page.", "reload"), ("It still says: starting.", "goto", f"{_B}/wind")], None),
    ],
)  # fmt: skip

_STALL = _script(
    "sp-stall", "seeact", f"How many pallets are there? {_B}/stall",
    [
        ("", ("", "goto", f"{_B}/stall")),
        (r"(\d+) pallets", ("", "end", "%FOUND% pallets")),
    ],
    ("There are no data.", "end", "No data available on the page."),
    answers("3 pallets"),
    [
        ("a", [rule("http_error", f"{_B}/api/projects")], [("The page has a button to reload itself.", "click", "reload")], None),
        ("b", [rule("http_error", f"{_B}/api/projects", times=2)], [("", "click", "reload"), ("", "click", "reload")], None),
        ("c", [rule("partial_list", f"{_B}/api/projects")], [("The page shows 2 pallets.", "end", "2 pallets")], None),
        ("d", [rule("http_error", f"{_B}/stall", status=503, body="<h1>Busy</h1><p>Too many visitors.<button id=reload onclick=location.reload()>Reload</button>")], [("Busy. Its own button reloads.", "click", "reload")], None),
        ("e", [rule("http_error", f"{_B}/api/projects", times={"always": True})], [("Perhaps it comes.", "wait", 2)], ("", "end", "There are 3 pallets.")),
    ],
)  # fmt: skip

SCRIPTS = [_BUDGET, _TICK, _COMMENT, _SEARCH, _DRAFT, _WIND, _STALL]
