"""Connection faults in a namespace: what programs meet, that it heals, and what the ledger says."""

import json
import sys
from collections import Counter
from collections.abc import Iterable

import pytest
from pydantic import JsonValue

from tests.fetch import FETCH
from tests.proxy.support.namespace_programs import BeginInside, LaneNamespace, mapped
from tests.proxy.support.origin import Origin
from warex.scenarios import Scenario
from warex.scenarios.injection.replay import read_replay
from warex.traces import FaultDelivered, FaultMissed, FaultPlanned, TlsRejected, Tunnel

pytestmark = pytest.mark.wire

FAULTS: dict[str, dict[str, JsonValue]] = {
    "refused": {"kind": "connection_refused"},
    "unanswered": {"kind": "connection_timeout"},
    "unknown": {"kind": "dns_failure", "code": "nxdomain"},
    "unresolved": {"kind": "dns_failure", "code": "servfail"},
    "silent": {"kind": "dns_failure", "code": "timeout"},
    "expired": {"kind": "tls_error", "how": "expired"},
}
POINTS = {
    "refused": "connect",
    "unanswered": "connect",
    "unknown": "name",
    "unresolved": "name",
    "silent": "name",
    "expired": "tls",
}
CURL = {
    "refused": "7",
    "unanswered": "28",
    "unknown": "6",
    "unresolved": "6",
    "silent": "6",
    "expired": "60",
}
NODE = {
    "refused": "ECONNREFUSED",
    "unanswered": "ETIMEDOUT",
    "unknown": "ENOTFOUND",
    "unresolved": "EAI_AGAIN",
    "silent": "EAI_AGAIN",
    "expired": "CERT_HAS_EXPIRED",
}
REQUESTS = {
    "refused": "ConnectionError Connection refused",
    "unanswered": "ConnectTimeout timed out",
    "unknown": "ConnectionError Name or service not known",
    "unresolved": "ConnectionError Temporary failure in name resolution",
    "silent": "ConnectionError Temporary failure in name resolution",
    "expired": "SSLError certificate has expired",
}

# Runs a program at every host side by side, each until it comes through or its tries are used up.
VISITS = """
import json, subprocess, sys
from concurrent.futures import ThreadPoolExecutor

hosts, tries, *command = json.loads(sys.argv[1])

def visit(host):
    met = []
    while len(met) < tries and met[-1:] != ["200"]:
        words = [word.replace("HOST", host) for word in command]
        done = subprocess.run(words, capture_output=True, text=True)
        met.append(done.stdout.strip() if done.returncode == 0 else str(done.returncode))
    return host, met

with ThreadPoolExecutor(len(hosts)) as pool:
    print(json.dumps(dict(pool.map(visit, hosts))))
"""
_CURL = ("curl", "-s", "-m", "20", "-o", "/dev/null", "-w", "%{http_code}", "https://HOST.test/")
_NODE = """
require("https")
  .get(process.argv[1], {agent: false}, it => { console.log(it.statusCode); it.resume() })
  .on("error", error => console.log(error.code));
"""
_REQUESTS = """
import re, sys, requests
try:
    print(requests.get(sys.argv[1], timeout=20).status_code)
except requests.exceptions.RequestException as error:
    words = r"(Connection refused|timed out|Name or service not known"
    words += r"|Temporary failure in name resolution|certificate has expired)"
    print(type(error).__name__, re.search(words, str(error))[1])
"""


def unreachable(hold: float) -> Scenario:
    """Every host fails in its own way, the first time."""
    rules = [
        {
            "name": name,
            "match": {"url": f"https://{name}.test"},
            "trigger": {"first": 1},
            "fault": {**fault, "hold": hold},
        }
        for name, fault in FAULTS.items()
    ]
    return Scenario.model_validate({"name": "unreachable", "rules": rules})


def visits(
    within: LaneNamespace, tries: int, *command: str, hosts: Iterable[str] = FAULTS
) -> dict[str, list[str]]:
    message = within.says(sys.executable, "-c", VISITS, json.dumps([[*hosts], tries, *command]))
    document: dict[str, list[str]] = json.loads(message)
    return document


@pytest.mark.slow
def test_curl_meets_each_failure_and_then_the_site(
    begin_inside: BeginInside, plain: Origin
) -> None:
    maps = mapped(*(f"https://{name}.test" for name in FAULTS), port=plain.port)
    with begin_inside(scenario=unreachable(hold=0.5), maps=maps) as within:
        met = visits(within, 500, *_CURL)
    assert {name: tries[0] for name, tries in met.items()} == CURL
    assert {name: tries[-1] for name, tries in met.items()} == dict.fromkeys(FAULTS, "200")
    lane = within.lane
    planned = lane.events(FaultPlanned)
    assert {event.ordinal for event in planned} == {1}, "all tries were one occurrence each"
    assert {event.rule: event.point for event in planned} == POINTS
    firsts = Counter(event.rule for event in planned if event.repeat_of is None)
    assert firsts == dict.fromkeys(FAULTS, 1)
    assert len(lane.events(FaultDelivered)) == len(planned)
    for kind in (FaultMissed, TlsRejected, Tunnel):
        assert lane.trace.of(kind) == ()


@pytest.mark.parametrize(
    ("command", "meant"),
    [
        pytest.param(("node", "-e", _NODE, "https://HOST.test/"), NODE, marks=pytest.mark.slow),
        pytest.param(
            (sys.executable, "-c", _REQUESTS, "https://HOST.test/"),
            REQUESTS,
            marks=pytest.mark.slow,
        ),
        (
            (sys.executable, "-c", _REQUESTS, "https://HOST.test/"),
            {name: REQUESTS[name] for name in ("refused", "unknown", "expired")},
        ),
    ],
    ids=["node", "requests", "requests, without waiting"],
)
def test_programs_call_each_failure_what_it_is(
    command: tuple[str, ...], meant: dict[str, str], begin_inside: BeginInside, plain: Origin
) -> None:
    maps = mapped(*(f"https://{name}.test" for name in FAULTS), port=plain.port)
    with begin_inside(scenario=unreachable(hold=60), maps=maps) as within:
        met = visits(within, 1, *command, hosts=meant)
        within.lane.proxy.call("POST", "/task/end")
        well = visits(within, 1, *command, hosts=meant)
    assert {name: tries[0] for name, tries in met.items()} == meant
    assert {name: tries[0] for name, tries in well.items()} == dict.fromkeys(meant, "200")
    assert {event.rule for event in within.lane.events(FaultPlanned)} == set(meant)


def test_a_replay_fails_the_same_attempts(begin_inside: BeginInside, plain: Origin) -> None:
    maps = mapped("https://a.test", "https://b.test", port=plain.port)
    coin = Scenario.model_validate(
        {
            "name": "coin",
            "rules": [
                {
                    "name": "coin",
                    "trigger": {"nth": [2, 3]},
                    "per": "url",
                    "fault": {"kind": "connection_refused", "hold": 0},
                }
            ],
        }
    )

    def play(within: LaneNamespace) -> list[str]:
        urls = [f"https://{host}.test/" for host in "aababb"]
        codes = [within.run(*FETCH, url).returncode for url in urls]
        return ["refused" if code else "well" for code in codes]

    with begin_inside(scenario=coin, seed=5, maps=maps) as within:
        first = play(within)
    assert first == ["well", "refused", "well", "refused", "refused", "refused"]
    past = read_replay(within.lane.out)
    with begin_inside(
        scenario=past.scenario, seed=99, arm=past.arm, schedule=past.schedule, maps=maps
    ) as again:
        assert play(again) == first


def test_a_one_shot_refuses_the_very_next_connection(
    begin_inside: BeginInside, plain: Origin
) -> None:
    maps = mapped("https://a.test", port=plain.port)
    with begin_inside(maps=maps) as within:
        within.fetch("https://a.test/")
        within.lane.proxy.call("POST", "/faults", {"fault": {"kind": "connection_refused"}})
        assert within.fetch_fails("https://a.test/") == 7
    assert [event.ordinal for event in within.lane.events(FaultPlanned)] == [1]
