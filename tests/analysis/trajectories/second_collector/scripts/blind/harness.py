# ruff: noqa: E501  (What a model says stays on one line.)
"""Harnesses with further formats of answers, at the shop for records."""

from tests.analysis.trajectories.second_collector.cases import AGAIN, answers, rule, tool
from tests.analysis.trajectories.second_collector.scripts.blind.wording import script
from tests.analysis.trajectories.second_collector.sites.blind import records

_R = records.BASE
_HOSTS = {records.HOST: records.page}

_SEARCH = script(
    "bh-webvoyager", ("harness",), "webvoyager", _HOSTS,
    "Find the price of Polar Choir by the search of the shop.",
    [
        ("newest record", ("I see the shop's search box.", "fill", "q", "polar")),
        ("1 found", ("One result.", "click", "polar")),
        (r"Price: \$(\d+\.\d+)", ("The price is visible.", "end", "Polar Choir costs $%FOUND%.")),
    ],
    ("I am stuck.", "fail", "Unable to determine the price due to a persistent error on the website."),
    answers("14.25"),
    [
        ("a", [rule("http_error", f"{_R}/search*", status=500)], [("The search shows a server error. I go back to type it again.", "back"), ("Type the query.", "fill", "q", "polar")], None),
        ("b", [rule("http_error", f"{_R}/disc/polar", status=403)], [("Access is denied. I go back and click it again.", "back"), ("The results are here.", "click", "polar")], None),
        ("c", [rule("http_error", f"{_R}/search*", status=503)], [("The search is out of service. Maybe the record is in All records.", "goto", f"{_R}/list/2"), ("It is in the list.", "click", "polar"), ("The price is visible.", "end", "Polar Choir costs $14.25.")], None),
    ],
    start=f"{_R}/",
)  # fmt: skip

_ORDER = script(
    "bh-agente", ("harness",), "agent_e", _HOSTS,
    f"Buy Lagoon Tapes at {_R}/disc/lagoon and give the receipt's number.",
    [
        ("", ("", "goto", f"{_R}/disc/lagoon")),
        ("LT-204", ("", "click", "add")),
        ("In the basket: Lagoon", ("", "click", "checkout")),
        (r"Receipt (R-\d+)", ("", "end", "The purchase is complete; the receipt is %FOUND%.")),
    ],
    ("", "fail", "I could not complete the purchase; the checkout ended in an error."),
    lambda world, message: len(world.orders) == 1 and "Lagoon Tapes" not in message,
    [
        ("m", [rule("http_error", f"{_R}/disc/lagoon", status=500), rule("http_error", f"{_R}/basket", method=["POST"], status=502), rule("http_error", f"{_R}/receipt/1", status=500)], [("", "goto", f"{_R}/disc/lagoon"), ("", "goto", f"{_R}/disc/lagoon"), ("", "click", "add"), ("The receipt shows a 500. I request it again.", "goto", f"{_R}/receipt/1")], None),
        ("b", [rule("http_error", f"{_R}/checkout", status=502)], [("", "goto", f"{_R}/basket"), ("", "click", "checkout")], None),
        ("c", [rule("http_error", f"{_R}/receipt/1", status=500)], [("The receipt shows a 500. I request it again.", "press", "F5"), ("", "goto", f"{_R}/receipt/1")], None),
        ("d", [rule("connection_cut", f"{_R}/checkout", stage="response")], [("", "goto", f"{_R}/orders"), ("", "end", "The order was placed (1 order is listed), but I did not see the receipt's number.")], None),
        ("e", [rule("http_error", f"{_R}/disc/lagoon"), rule("http_error", f"{_R}/checkout", status=500)], [AGAIN, ("", "goto", f"{_R}/basket")], None),
    ],
)  # fmt: skip

_WISH = script(
    "bh-skyvern", ("harness",), "skyvern", _HOSTS,
    f"Log in and read the voucher on the page of wishes. {_R}/wishes",
    [
        ("", ("Open the page.", "goto", f"{_R}/wishes")),
        ("Log in", ("Type the name.", "fill", "name", "ann")),
        ("Log in", ("Submit.", "click", "login")),
        (r"Voucher: (WX-\d+)", ("The voucher is visible.", "end", "The voucher is %FOUND%.")),
    ],
    ("The page is broken.", "fail", "The goal cannot be achieved: the page of wishes returns an error."),
    answers("WX-55"),
    [
        ("m", [rule("http_error", f"{_R}/wishes", times={"nth": [1, 3]}, status=500), rule("http_error", f"{_R}/login*", method=["POST"], status=503)], [("The page shows an error, so it is reloaded.", "reload"), ("The login failed. Open it again.", "goto", f"{_R}/login?next=/wishes"), ("Type the name.", "fill", "name", "ann"), ("Submit.", "click", "login"), ("An error again. Reload.", "reload")], None),
        ("n", [rule("http_error", f"{_R}/login*", method=["GET"], status=500), rule("session_expired", f"{_R}/wishes", login="own", times={"nth": 2})], [("An error.", "reload"), ("Logged out. Log in again.", "goto", f"{_R}/login?next=/wishes"), ("", "fill", "name", "ann"), ("", "click", "login")], None),
        ("o", [rule("http_error", f"{_R}/wishes", times={"nth": [1, 3]}, status=500)], [("Reload the page.", "reload")], ("Done.", "end", "The voucher is WX-50.")),
    ],
)  # fmt: skip

_BASKET = script(
    "bh-openhands", ("harness",), "openhands", _HOSTS,
    f"Put Velvet Engines into the basket. {_R}/list/3",
    [
        ("", ("I'll open the list.", "goto", f"{_R}/list/3")),
        ("Last page", ("", "click", "velvet")),
        ("VE-640", ("", "click", "add")),
        ("In the basket: Velvet", ("", "end", "Velvet Engines is in the basket.")),
    ],
    ("", "fail", "The record is not in the basket. The site returned errors that I could not get around."),
    lambda world, message: world.reserved == ["velvet"],
    [
        ("m", [rule("http_error", f"{_R}/list/3", status=429, retry_after=1), rule("http_error", f"{_R}/disc/velvet", status=500), rule("http_error", f"{_R}/basket", method=["GET"], status=500)], [("Too many requests; wait.", "wait", 1500), ("", "goto", f"{_R}/list/3"), ("A 500 for the record's page.", "back"), ("", "click", "velvet"), ("The basket shows an error after the redirect. I open it.", "goto", f"{_R}/basket")], None),
        ("n", [rule("http_error", f"{_R}/list/3", status=502), rule("captcha_wall", f"{_R}/disc/velvet")], [("A bad gateway. Once more.", "goto", f"{_R}/list/3"), tool("think", "A robot check. I can't solve it, maybe it goes away.", thought="It may go away."), ("I open the list.", "goto", f"{_R}/list/3")], None),
    ],
)  # fmt: skip

_CHART = script(
    "bh-taxy", ("harness", "spa"), "taxy", _HOSTS,
    f"What is number one of the chart? {_R}/",
    [
        ("", ("Open the shop.", "goto", f"{_R}/")),
        ("newest", ("The chart has a link.", "click", "chartlink")),
        (r"Number one: (\w+ \w+)", ("", "end", "Number one is %FOUND%.")),
    ],
    ("", "fail", "The chart is missing on the page, I cannot tell number one."),
    answers("is Velvet Engines"),
    [
        ("m", [rule("http_error", f"{_R}/", status=503), rule("http_error", f"{_R}/chart.json", times=2, status=500)], [("Unavailable. Open it again.", "goto", f"{_R}/"), ("The chart is missing, but the page offers to try again.", "click", "anew"), ("Still missing.", "wait"), ("Once more.", "click", "anew")], None),
        ("n", [rule("javascript_failure", f"{_R}/site.js", delay=0.2, times={"nth": 2}), rule("connection_cut", f"{_R}/chart.json")], [("It keeps loading.", "wait"), ("The link again.", "click", "chartlink"), ("The chart is missing.", "wait")], None),
    ],
)  # fmt: skip

SCRIPTS = [_SEARCH, _ORDER, _WISH, _BASKET, _CHART]
