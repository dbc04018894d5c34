"""The control API: who may call, what each call does, and that it is in the trace."""

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import JsonValue

from tests.proxy.support.client import trusting
from tests.proxy.support.lanes import Begin, Lane, scenario
from tests.proxy.support.origin import Origin
from warex.errors import InputError, TraceError
from warex.faults.connection.tls_error import TlsError
from warex.faults.server.http_error import HttpError
from warex.lane.control.control_api import _CALLS, _READS
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Match, Rule, Scenario, Trigger
from warex.scenarios.injection.replay import read_replay
from warex.traces import Control, FaultMissed, FaultPlanned, TaskBegan, TaskEnded

REFERENCE = Path(__file__).parents[2] / "docs/reference/control-api.md"

FIRST = scenario(HttpError(status=500), Trigger(first=1), match={"url": "*/page"})


def test_every_call_is_documented() -> None:
    page = REFERENCE.read_text()
    for method, calls in (("GET", _READS), ("POST", _CALLS)):
        for name in calls:
            assert f"`{method} /{name}`" in page, name


def ask(
    lane: Lane, path: str, body: bytes | None = None, token: str | None = None, method: str = ""
) -> tuple[int, Any]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{lane.proxy.control_port}{path}",
        data=body,
        headers={"Authorization": f"Bearer {lane.proxy.token if token is None else token}"},
        method=method or ("GET" if body is None else "POST"),
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


@pytest.mark.wire
@pytest.mark.parametrize(
    ("path", "body", "token", "status", "text"),
    [
        ("/status", None, "wrong", 401, "token"),
        ("/status", None, "", 401, "token"),
        ("/nothing", None, None, 404, "GET /status, GET /episodes, POST /task/begin, "),
        ("/arm", None, None, 404, "POST /arm"),
        ("/faults", b"{", None, 400, "the body is not JSON: "),
        ("/faults", b"\xff", None, 400, "the body is not JSON: "),
        ("/faults", b"[" * 100_000, None, 400, "the body is not JSON: "),
        ("/faults", b"[]", None, 400, "[] is not allowed; give a mapping with the keys fault, "),
        (
            "/faults",
            b'{"fault": {"kind": "http_error", "status": 200}}',
            None,
            400,
            "fault.status: 200 is not allowed; give a whole number from 400 to 599",
        ),
        ("/faults", b'{"fault": {"kind": "http_error"}, "name": ""}', None, 400, 'name: "" is not'),
        (
            "/faults",
            b'{"fault": {"kind": "http_error", "status": 1}, "name": 2}',
            None,
            400,
            "name: 2 is not allowed; give text",
        ),
        ("/faults", b"{}", None, 400, "'fault' is missing; give a mapping whose 'kind' is one of "),
        (
            "/faults",
            b'{"fault": {"kind": "teapot"}}',
            None,
            400,
            "kind 'teapot' does not exist; there are: ",
        ),
        (
            "/faults",
            b'{"fault": {"kind": "http_error"}, "match": {"status": 200}}',
            None,
            400,
            "stage",
        ),
        ("/task/begin", b'{"task": 1}', None, 400, "task: 1 is not allowed; give text"),
        ("/task/begin", b'{"task": ""}', None, 400, "a task's name is 1 to 200 printable"),
        ("/task/begin", rb'{"task": "a\u0000"}', None, 400, "a task's name is 1 to 200 printable"),
        ("/task/begin", rb'{"task": "\ud800"}', None, 400, "task"),
        (
            "/arm",
            b'{"now": true}',
            None,
            400,
            "this call takes nothing: leave the body out, or give {}",
        ),
    ],
)
def test_a_control_call_that_fails_says_why(
    begin: Begin, path: str, body: bytes | None, token: str | None, status: int, text: str
) -> None:
    with begin() as lane:
        answered, what = ask(lane, path, body, token)
    assert (answered, text in what["error"]) == (status, True), what
    assert lane.events(Control) == []
    assert lane.proxy.broken is None


@pytest.mark.wire
def test_each_control_call_is_in_the_trace(begin: Begin) -> None:
    with begin(seed=3) as lane:
        call = lane.proxy.call
        assert call("POST", "/task/begin", {"task": "one", "seed": 7}) == {"task": "one", "seed": 7}
        assert call("GET", "/status") == {
            "task": "one",
            "armed": True,
            "steps": 0,
            "exchanges": 0,
            "delivered": 0,
            "missed": 0,
            "broken": None,
        }
        assert call("POST", "/disarm") == {"armed": False}
        assert call("POST", "/arm") == {"armed": True}
        assert call("POST", "/task/end") == {"task": "one"}
        assert call("GET", "/ledger") == []
        second = call("POST", "/task/begin", {"task": "two"})
        with pytest.raises(InputError, match="there is no call GET /x"):
            call("GET", "/x")
    assert [event.call for event in lane.events(Control)] == [
        "begin_task",
        "status",
        "disarm",
        "arm",
        "end_task",
        "ledger",
        "begin_task",
    ]
    assert [(e.task, e.seed) for e in lane.events(TaskBegan)] == [
        ("one", 7),
        ("two", second["seed"]),
    ]
    assert [event.task for event in lane.events(TaskEnded)] == ["one"]


@pytest.mark.wire
def test_a_one_shot_hits_the_next_exchange_that_matches_and_no_other(
    begin: Begin, plain: Origin
) -> None:
    site = f"http://127.0.0.1:{plain.port}"
    with begin() as lane, httpx.Client(proxy=lane.url) as client:
        assert client.get(f"{site}/page").status_code == 200
        planned = lane.proxy.call(
            "POST",
            "/faults",
            {"fault": {"kind": "http_error", "status": 502}, "match": {"url": "*/page"}},
        )
        assert planned["rule"]["name"] == "one-shot-1"
        assert client.get(f"{site}/other").status_code == 200
        assert [client.get(f"{site}/page").status_code for _ in range(3)] == [502, 200, 200]
        assert [event["event"] for event in lane.proxy.call("GET", "/ledger")] == [
            "fault_planned",
            "fault_delivered",
        ]
    (event,) = lane.events(FaultPlanned)
    assert (event.rule, event.scope, event.ordinal) == ("one-shot-1", f"GET {site}/page", 1)


@pytest.mark.wire
def test_an_unnamed_one_shot_takes_the_next_name_that_is_free(begin: Begin) -> None:
    def plan(lane: Lane, **name: JsonValue) -> str:
        body: JsonValue = {"fault": {"kind": "http_error"}, **name}
        return str(lane.proxy.call("POST", "/faults", body)["rule"]["name"])

    with begin() as lane:
        assert plan(lane, name="one-shot-2") == "one-shot-2"
        assert [plan(lane) for _ in range(2)] == ["one-shot-1", "one-shot-3"]
        lane.proxy.call("POST", "/task/begin", {"task": "next"})
        assert plan(lane) == "one-shot-4"


@pytest.mark.wire
def test_every_rule_begins_again_with_a_task(begin: Begin, plain: Origin) -> None:
    site = f"http://127.0.0.1:{plain.port}"
    with begin(scenario=FIRST) as lane, httpx.Client(proxy=lane.url) as client:
        met = []
        for task in ("one", "two"):
            lane.proxy.call("POST", "/task/begin", {"task": task})
            met += [client.get(f"{site}/page").status_code for _ in range(2)]
            lane.proxy.call("POST", "/task/end")
            met.append(client.get(f"{site}/page").status_code)
    assert met == [500, 200, 200] * 2
    assert [event.ordinal for event in lane.events(FaultPlanned)] == [1, 1]
    missed = lane.events(FaultMissed)
    assert [(event.reason, event.count) for event in missed] == [("trial_over", 1)] * 2


@pytest.mark.wire
def test_a_replay_hits_the_same_exchanges_again(begin: Begin, plain: Origin) -> None:
    """Tasks, a rule that draws, and a one-shot in the middle: all of it comes back."""
    site = f"http://127.0.0.1:{plain.port}"
    chance = Scenario(
        name="chance",
        rules=(
            Rule(
                name="half",
                match=Match(url="*/page*"),
                trigger=Trigger(probability=0.4),
                fault=HttpError(status=500),
            ),
        ),
    )
    one_shot: JsonValue = {
        "fault": {"kind": "http_error", "status": 502},
        "match": {"url": "*/shot"},
    }

    def drive(lane: Lane, *, plan: bool) -> list[int]:
        met = []
        with httpx.Client(proxy=lane.url) as client:
            for task in ("one", "two"):
                lane.proxy.call("POST", "/task/begin", {"task": task})
                for number in range(6):
                    met.append(client.get(f"{site}/page{number % 2}").status_code)
                    met.append(client.get(f"{site}/shot").status_code)
                    if plan and (task, number) == ("two", 2):
                        lane.proxy.call("POST", "/faults", one_shot)
        return met

    with begin(scenario=chance, seed=5) as lane:
        first = drive(lane, plan=True)
    assert first.count(502) == 1
    assert 1 <= first.count(500) <= 11
    replay = read_replay(lane.out)
    with begin(schedule=replay.schedule) as idle:
        pass
    assert ["POST /task/begin" in notice for notice in idle.notices] == [True]
    # Another seed draws differently: only the ledger decides.
    with begin(scenario=replay.scenario, seed=99, schedule=replay.schedule) as again:
        assert drive(again, plan=False) == first


@pytest.mark.wire
def test_a_replay_of_one_task_needs_no_call(begin: Begin, plain: Origin) -> None:
    site = f"http://127.0.0.1:{plain.port}"

    def drive(lane: Lane) -> list[int]:
        with httpx.Client(proxy=lane.url) as client:
            return [client.get(f"{site}/page").status_code for _ in range(4)]

    nth = scenario(HttpError(status=500), Trigger(nth=(3,)))
    with begin(scenario=nth) as lane:
        lane.proxy.call("POST", "/task/begin", {"task": "one"})
        lane.proxy.call("POST", "/faults", {"fault": {"kind": "http_error", "status": 502}})
        first = drive(lane)
    assert first == [502, 200, 500, 200]
    replay = read_replay(lane.out)
    with begin(scenario=replay.scenario, schedule=replay.schedule) as again:
        assert drive(again) == first
    with begin(scenario=replay.scenario, schedule=replay.schedule) as begun:
        begun.proxy.call("POST", "/task/begin", {"task": "one"})
        assert drive(begun) == first
    assert again.notices == begun.notices == []


@pytest.mark.wire
@pytest.mark.parametrize("arm", ["start", "first_page"])
def test_a_replay_of_a_trial_armed_by_calls_needs_none(
    begin: Begin, plain: Origin, arm: str
) -> None:
    """What came unarmed is passed over again, although the replay is armed all along."""
    site = f"http://127.0.0.1:{plain.port}"
    rules = scenario(HttpError(status=500), Trigger(nth=(2,)), match={"url": "*/page"})

    def drive(lane: Lane, *, by_hand: bool) -> list[int]:
        def call(path: str, body: JsonValue = None) -> None:
            if by_hand:
                lane.proxy.call("POST", path, body)

        with httpx.Client(proxy=lane.url) as client:

            def pages(number: int) -> list[int]:
                return [client.get(f"{site}/page").status_code for _ in range(number)]

            call("/disarm")
            met = pages(3)
            call("/arm")
            met += pages(1)
            call("/disarm")
            met += pages(2)
            call("/arm")
            call("/faults", {"fault": {"kind": "http_error", "status": 502}})
            met += pages(3)
        return met

    with begin(scenario=rules, arm=arm) as lane:
        first = drive(lane, by_hand=True)
    assert first == [200, 200, 200, 200, 200, 200, 500, 502, 200]
    replay = read_replay(lane.out)
    with begin(scenario=replay.scenario, schedule=replay.schedule, arm=replay.arm) as again:
        assert drive(again, by_hand=False) == first
    with begin(scenario=replay.scenario, schedule=replay.schedule, arm=replay.arm) as same:
        assert drive(same, by_hand=True) == first


@pytest.mark.wire
@pytest.mark.parametrize("kind", ["connection_refused", "connection_timeout", "dns_failure"])
def test_a_one_shot_that_cannot_show_is_refused_with_the_mode_that_can(
    kind: str, begin: Begin
) -> None:
    with begin() as lane:
        status, value = ask(lane, "/faults", json.dumps({"fault": {"kind": kind}}).encode())
    assert status == 400
    assert "warex exec --isolate namespace" in value["error"]
    assert lane.events(Control) == []


@pytest.mark.wire
def test_arming_by_a_call_names_rules_that_just_skipped_an_attempt(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin
) -> None:
    of = scenario(TlsError(), Trigger(first=1)).model_copy(update={"arm": "first_llm_call"})
    with begin(scenario=of) as lane:
        with httpx.Client(proxy=lane.url, verify=trusting(ca.certificate)) as client:
            assert client.get(f"https://localhost:{secure_h1.port}/").status_code == 200
        lane.proxy.call("POST", "/arm")
        with (
            httpx.Client(proxy=lane.url, verify=trusting(ca.certificate)) as client,
            pytest.raises(httpx.ConnectError),
        ):
            client.get(f"https://localhost:{secure_h1.port}/")
    assert lane.events(Control)[0].arguments == {
        "passed": {"rule": {"": 1}},
        "straddled": ["rule"],
    }
    with pytest.raises(TraceError, match="within the hold of a connection try that rule 'rule'"):
        read_replay(lane.out)
