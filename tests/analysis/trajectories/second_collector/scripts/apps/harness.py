# ruff: noqa: E501  (What a model says stays on one line.)
"""Agents that act by single tools, at apps."""

from tests.analysis.trajectories.second_collector.cases import answers, rule
from tests.analysis.trajectories.second_collector.scripts.blind.wording import script
from tests.analysis.trajectories.second_collector.sites.apps import huts, pantry

_H = huts.BASE
_P = pantry.BASE

_PRICE = script(
    "ah-price", ("spa", "harness"), "devtools", {pantry.HOST: pantry.page},
    f"What does Heather honey cost at {_P}/?",
    [
        ("", ("", "goto", f"{_P}/")),
        ("Green olives", ("", "click", "honey")),
        (r"Price .([\d.]+), stock", ("", "end", "Heather honey costs %FOUND% euros.")),
    ],
    ("", "fail", "The price could not be determined, since the shop did not open the product."),
    answers("7.80 euros"),
    [
        ("a", [rule("http_error", f"{_P}/rest/goods?*", status=500)], [("Goods unavailable, it says. Reload.", "reload")], None),
        ("b", [rule("http_error", f"{_P}/rest/goods/honey", times=2, status=503)], [("Status 503. Click again.", "click", "honey")], None),
        ("c", [rule("http_error", f"{_P}/main.js", status=500)], [("A blank page.", "goto", f"{_P}/")], None),
        ("d", [rule("http_error", f"{_P}/rest/goods/honey", status=500)], [], ("", "end", "Heather honey costs 8.20 euros.")),
        ("e", [rule("http_error", f"{_P}/rest/goods/honey", status=503)], [], None),
        ("f", [rule("connection_cut", f"{_P}/")], [("The page did not load. Use a new tab.", "new_tab", f"{_P}/")], None),
    ],
)  # fmt: skip

_COUNT = script(
    "ah-count", ("spa", "harness"), "browser_use", {huts.HOST: huts.page},
    f"How many reservations do I have at {_H}/?",
    [
        ("", ("Open the site.", "goto", f"{_H}/")),
        ("Reservations", ("Open the reservations.", "click", "saved")),
        (r"Reservations: (\d+)", ("Done.", "end", "You have %FOUND% reservations.")),
    ],
    ("It keeps failing.", "fail", "I could not find out how many reservations you have."),
    answers("0 reservations"),
    [
        ("a", [rule("http_error", f"{_H}/api/saved", status=500)], [("They could not be loaded. There is a Try again button.", "click", "again")], None),
        ("b", [rule("http_error", f"{_H}/api/saved", status=503)], [("They could not be loaded. I navigate to the page.", "goto", f"{_H}/saved")], None),
        ("c", [rule("connection_cut", f"{_H}/api/saved")], [("It failed. I wait a little.", "wait", 1), ("I go back.", "back"), ("I open the reservations again.", "click", "saved")], None),
        ("d", [rule("http_error", f"{_H}/api/saved", status=500)], [("It failed. I wait.", "wait", 1)], None),
        ("e", [rule("http_error", f"{_H}/api/huts", status=500), rule("http_error", f"{_H}/api/saved", status=500)], [("An alert. Send F5.", "js", "location.reload()")], None),
    ],
)  # fmt: skip

SCRIPTS = [_PRICE, _COUNT]
