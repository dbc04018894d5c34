"""Every kind of client is answered behind `warex exec` as without it, and meets the faults."""

import hashlib
import json
import re
import subprocess
import sys
from itertools import product

import pytest

from tests.exec.conftest import Desk, Machine, desk_of
from tests.exec.support import clients
from tests.exec.support import machine as there
from tests.sandbox.support.users import USERS, User

pytestmark = [pytest.mark.slow, pytest.mark.wire]

SHOP, SIX, REFUSING = "https://shop.test", "https://six.test", "https://gone.test"
LITERALS = (f"http://[{there.SIX}]", f"http://{there.FOUR}")
FAILS = """
name: fails
rules:
  - name: failing
    match: {url: "https://*/failing*"}
    trigger: {always: true}
    fault: {kind: http_error, status: 500, body: failed}
"""
REFUSES = """
  - name: gone
    match: {url: "*://gone.test/*"}
    trigger: {always: true}
    fault: {kind: connection_refused}
"""
FAILED = hashlib.sha256(b"failed").hexdigest()[:8]
REFUSED = re.compile(r"refused|ECONNREFUSED|Couldn't connect", re.IGNORECASE)

MODES = ("namespace", "environment")
QUICK = {(USERS[0], "namespace"), (USERS[1], "environment")}
"""Each user and each mode once; the other pairs are for the slow tier."""
SOME = ("curl, HTTP/2", "urllib", *clients.RAW)
"""For other ways to name a site; all are told of the site by its name."""


def hosts(mode: str) -> list[str]:
    # A socket of one's own goes past the proxy where nothing but variables leads to it.
    return [SHOP, SIX, *LITERALS] if mode == "namespace" else [SHOP, SIX]


@pytest.fixture(scope="module")
def without(machine: Machine) -> dict[str, str]:
    """What each client is told when WAREX is not there."""
    with desk_of(machine, USERS[0]) as desk:
        every = answers(desk.ran(clients.__file__, SHOP))
        return every | answers(desk.ran(clients.__file__, " ".join(hosts("namespace")), *SOME))


def answers(done: "subprocess.CompletedProcess[str]") -> dict[str, str]:
    assert done.returncode == 0, done
    document: dict[str, str] = json.loads(done.stdout)
    return document


def behind(desk: Desk, mode: str, *asked: str, rules: str = "") -> dict[str, str]:
    """What clients are told behind WAREX: of which sites, by which clients."""
    options = ["--quiet", "--isolate", mode]
    if rules:
        scenario = desk.folder / "scenario.yaml"
        scenario.write_text(rules)
        options += ["--scenario", str(scenario)]
    return answers(desk.warex(*options, "--", sys.executable, clients.__file__, *asked))


def test_the_sites_answer_each_in_its_own_way(without: dict[str, str]) -> None:
    body = hashlib.sha256(there.BODY).hexdigest()[:8]

    assert without[f"curl, HTTP/2 {SHOP}/body"] == f"200 2 {body}"
    assert without[f"httpx, HTTP/2 {SHOP}/body"] == f"200 HTTP/2 {body}"
    others = {name: message for name, message in without.items() if name.endswith(f"{SHOP}/body")}
    assert {values.split()[0] for values in others.values()} == {"200", "101", "tcp"}, without


@pytest.mark.parametrize("mode", MODES)
def test_without_a_scenario_each_client_works_as_without_warex(
    mode: str, machine: Machine, without: dict[str, str]
) -> None:
    with desk_of(machine, USERS[0]) as desk:
        some = [name for name in SOME if mode == "namespace" or name in clients.CLIENTS]
        fields = behind(desk, mode, " ".join(hosts(mode)), *some)

    assert fields == {asked: without[asked] for asked in fields}
    assert len(fields) >= 2 * len(hosts(mode))


@pytest.mark.parametrize(
    ("who", "mode"),
    [
        pytest.param(
            who, mode, id=f"{who}-{mode}", marks=() if (who, mode) in QUICK else pytest.mark.slow
        )
        for who, mode in product(USERS[:2], MODES)
    ],
)
def test_each_client_meets_the_faults_and_nothing_else(
    mode: str, who: User, machine: Machine, without: dict[str, str]
) -> None:
    with desk_of(machine, who) as desk:
        if mode == "namespace":
            fields = behind(desk, mode, f"{SHOP} {REFUSING}", rules=FAILS + REFUSES)
        else:
            fields = behind(desk, mode, SHOP, *clients.CLIENTS, rules=FAILS)

    of_gone = {asked: fields.pop(asked) for asked in list(fields) if REFUSING in asked}
    assert bool(of_gone) == (mode == "namespace")
    assert {it: message for it, message in of_gone.items() if not REFUSED.search(message)} == {}
    for asked, message in fields.items():
        if asked.endswith("/failing"):
            status, *protocol, body = message.split()
            was = without[asked].split()[1:-1]
            # Git tells no body; and a WebSocket that is refused has been HTTP until then.
            assert (status, protocol) == ("500", was), (asked, message)
            assert body == FAILED or asked.startswith("git"), (asked, message)
        else:
            assert message == without[asked], (asked, message)
