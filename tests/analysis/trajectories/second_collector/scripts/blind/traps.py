# ruff: noqa: E501  (What a model says stays on one line.)
"""Cases in which requests mislead: redirects back, revisits, prefetches, faults that do not matter."""

from tests.analysis.trajectories.second_collector.cases import rule
from tests.analysis.trajectories.second_collector.scripts.blind.wording import script
from tests.analysis.trajectories.second_collector.sites.blind import records

_R = records.BASE
_HOSTS = {records.HOST: records.page}

_WISH = script(
    "bt-wish", ("traps",), "taxy", _HOSTS,
    f"Put Polar Choir on the list of wishes: {_R}/disc/polar",
    [
        ("", ("Open the record.", "goto", f"{_R}/disc/polar")),
        ("", ("Press the button.", "click", "wish")),
        ("", ("", "end", "Polar Choir is on the list of wishes.")),
    ],
    ("", "fail", "The record could not be put on the list."),
    lambda world, message: "polar" in world.done,
    [
        ("a", [rule("javascript_failure", f"{_R}/site.js", delay=0.2)], [], None),
        ("b", [rule("http_error", f"{_R}/disc/polar", method=["GET"], times={"nth": 2}, status=500)], [], None),
        ("c", [rule("http_error", f"{_R}/wish/polar", status=500)], [], None),
        ("d", [rule("slow_page", f"{_R}/disc/polar", pause=0.1)], [], None),
    ],
)  # fmt: skip

_TWO = script(
    "bt-two", ("traps",), "devtools", _HOSTS,
    f"Put Dusk Quartet and Ember Suite into the basket; look at the basket after each. {_R}/disc/dusk",
    [
        ("", ("", "goto", f"{_R}/disc/dusk")),
        ("", ("", "click", "add")),
        ("", ("The second record.", "goto", f"{_R}/disc/ember")),
        ("", ("", "click", "add")),
        ("", ("", "goto", f"{_R}/basket")),
        ("", ("", "end", "Both records are in the basket.")),
    ],
    ("", "fail", "One of the records is missing in the basket."),
    lambda world, message: world.reserved == ["dusk", "ember"],
    [
        ("a", [rule("http_error", f"{_R}/basket", method=["GET"], times={"nth": 1}, status=500), rule("resource_failure", f"{_R}/site.css", times={"nth": 1})], [], None),
        ("b", [rule("http_error", f"{_R}/basket", method=["POST"], times={"nth": 1}, status=500)], [], None),
    ],
)  # fmt: skip

SCRIPTS = [_WISH, _TWO]
