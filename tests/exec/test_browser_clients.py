"""A Chromium that Playwright or chromedriver starts is behind `warex exec`."""

import json
import shutil
import sys

import pytest

from tests.exec.conftest import Machine, desk_of
from tests.exec.support import browse
from tests.sandbox.support.users import USERS, User

pytestmark = pytest.mark.slow

FAILS = """
name: fails
rules:
  - name: failing
    match: {url: "https://*/failing*"}
    trigger: {always: true}
    fault: {kind: http_error, status: 500, body: "<title>Failed</title>"}
"""
REFUSES = """
  - name: gone
    match: {url: "*://gone.test/*"}
    trigger: {always: true}
    fault: {kind: connection_refused}
"""
PLAYS = [
    (mode, how, who)
    for mode in ("namespace", "environment")
    for how, who in (("playwright", USERS[0]), ("selenium", USERS[-1]))
]


@pytest.mark.parametrize(("mode", "how", "who"), PLAYS, ids=str)
def test_a_browser_sees_the_sites_and_the_faults(
    mode: str, how: str, who: User, machine: Machine
) -> None:
    for needed in ("chromium", "chromedriver"):
        assert shutil.which(needed), f"no {needed}: install the package chromium-driver"
    # Root may not have Chromium's sandbox; others have it inside, too.
    flags = ["--no-sandbox"] if who.number is None else []
    with desk_of(machine, who) as desk:
        scenario = desk.folder / "scenario.yaml"
        scenario.write_text(FAILS + (REFUSES if mode == "namespace" else ""))
        done = desk.warex(
            *("--quiet", "--isolate", mode, "--scenario", scenario, "--"),
            *(sys.executable, browse.__file__, how, *flags),
        )
    assert done.returncode == 0, done
    seen = json.loads(done.stdout)

    assert seen["https://shop.test/page"] == ["The page", "h2"]
    assert seen["https://shop.test/failing"] == ["Failed", "h2"]
    assert seen["WebSocket"] == "said and heard"
    if mode == "namespace":
        assert seen["https://gone.test/page"] == "ERR_CONNECTION_REFUSED"
