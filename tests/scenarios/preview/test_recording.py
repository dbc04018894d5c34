"""Which requests of a recording a scenario would have hit."""

import json
from pathlib import Path

import msgspec
import pytest

from warex.errors import TraceError
from warex.scenarios.preview.recording import hits_in_recording
from warex.scenarios.scenario import Scenario
from warex.traces import (
    SCHEMA_VERSION,
    Disarmed,
    Dns,
    Event,
    FaultPlanned,
    LlmCall,
    McpCall,
    RequestSeen,
    ResponseSeen,
    TaskBegan,
    Timings,
    TrialBegan,
)

SHOP = "https://shop.example"


def scenario(
    trigger: object,
    match: object = None,
    stage: str = "request",
    per: str = "rule",
    arm: object = None,
) -> Scenario:
    return Scenario.model_validate(
        {
            "name": "s",
            "arm": arm,
            "rules": [
                {
                    "name": "down",
                    "match": match or {},
                    "trigger": trigger,
                    "per": per,
                    "fault": {"kind": "http_error", "stage": stage},
                }
            ],
        }
    )


def row(url: str, second: float = 0, took: float = 10, status: int = 200, **more: object) -> object:
    return {
        "startedDateTime": f"2026-05-04T12:00:{second:06.3f}Z",
        "time": took,
        "request": {"method": "GET", "url": url, "headers": []},
        "response": {"status": status, "headers": [], "content": {"text": "x"}},
        **more,
    }


def har(folder: Path, *rows: object) -> Path:
    path = folder / "shop.har"
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": rows}}))
    return path


def test_the_hits_of_a_har_are_reported_with_their_place(tmp_path: Path) -> None:
    path = har(
        tmp_path,
        row(f"{SHOP}/app.js", 1, _resourceType="script"),
        row(f"{SHOP}/", 0, _resourceType="document"),
        row(f"{SHOP}/cart", 2.5, _resourceType="document"),
    )
    (hit,) = hits_in_recording(scenario({"nth": 2}, {"resource": "document"}), path)
    assert (hit.number, hit.at, hit.method, hit.url) == (3, 2.5, "GET", f"{SHOP}/cart")
    assert (hit.resource, hit.rule, hit.ordinal, hit.stage) == ("document", "down", 2, "request")
    assert not hit.superseded


def test_what_never_crossed_the_network_is_not_counted(tmp_path: Path) -> None:
    path = har(
        tmp_path,
        row("data:text/html,x"),
        row(f"{SHOP}/", _fromCache="memory"),
        row(f"{SHOP}/favicon.ico"),
        row(f"{SHOP}/cart", 1),
    )
    (hit,) = hits_in_recording(scenario({"first": 1}), path)
    assert hit.url == f"{SHOP}/cart"


def test_a_rule_about_answers_is_judged_when_they_come(tmp_path: Path) -> None:
    path = har(
        tmp_path,
        row(f"{SHOP}/slow", 0, took=5000, status=404),
        row(f"{SHOP}/quick", 1, status=404),
        row(f"{SHOP}/fine", 2),
        row(f"{SHOP}/lost", 3, status=0),
    )
    hits = hits_in_recording(scenario({"always": True}, {"status": 404}, "response"), path)
    assert [(hit.number, hit.url, hit.ordinal, hit.at) for hit in hits] == [
        (2, f"{SHOP}/quick", 1, 1.01),
        (1, f"{SHOP}/slow", 2, 5.0),
    ]


def test_calls_of_a_chat_page_in_a_har_are_its_sites(tmp_path: Path) -> None:
    url = f"{SHOP}/v1/chat/completions"
    text = '{"model": "m", "messages": [{"role": "user", "content": "hi"}]}'
    origin = {"name": "Origin", "value": SHOP}
    asked = {"method": "POST", "url": url, "postData": {"text": text}, "headers": [origin]}
    path = har(tmp_path, row(f"{SHOP}/0", 0), row(url, 1, request=asked))

    hits = hits_in_recording(scenario({"first": 1}, arm="first_llm_call"), path)

    assert hits == ()


def test_windows_are_measured_from_the_first_request(tmp_path: Path) -> None:
    path = har(tmp_path, *(row(f"{SHOP}/{n}", 10 + n) for n in range(5)))
    hits = hits_in_recording(scenario({"always": True, "between": [1, 3]}), path)
    assert [hit.url for hit in hits] == [f"{SHOP}/1", f"{SHOP}/2"]


def test_calls_to_a_model_in_a_har_are_steps(tmp_path: Path) -> None:
    def call(second: float, text: str) -> object:
        url = "https://api.openai.com/v1/chat/completions"
        return row(url, second, request={"method": "POST", "url": url, "postData": {"text": text}})

    path = har(
        tmp_path,
        row(f"{SHOP}/0", 0),
        call(1, "a"),
        call(2, "a"),
        row(f"{SHOP}/1", 3),
        call(4, "b"),
        row(f"{SHOP}/2", 5),
    )
    hits = hits_in_recording(scenario({"always": True, "after_step": 2}), path)
    assert [hit.url for hit in hits] == [f"{SHOP}/2"]
    armed = hits_in_recording(scenario({"first": 1}, arm="first_llm_call"), path)
    assert [hit.url for hit in armed] == [f"{SHOP}/1"]


def test_the_same_seed_hits_the_same_and_another_hits_others(tmp_path: Path) -> None:
    path = har(tmp_path, *(row(f"{SHOP}/{n}", n) for n in range(40)))
    made = scenario({"probability": 0.5})
    urls = [tuple(hit.url for hit in hits_in_recording(made, path, seed)) for seed in (1, 1, 2)]
    assert urls[0] == urls[1] != urls[2]


def test_a_rule_about_the_sites_needs_them_named(tmp_path: Path) -> None:
    path = har(tmp_path, row(f"{SHOP}/"), row("https://other.example/", 1))
    made = scenario({"always": True}, {"url": "{sites}"})
    assert len(hits_in_recording(made, path)) == 2
    assert [hit.url for hit in hits_in_recording(made, path, sites=(SHOP,))] == [f"{SHOP}/"]


def test_a_recording_that_does_not_exist_is_reported(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="does not exist; give a HAR file, a trial's folder"):
        hits_in_recording(scenario({"first": 1}), tmp_path / "gone.har")
    with pytest.raises(TraceError, match="does not exist"):
        hits_in_recording(scenario({"first": 1}), tmp_path)


def asked(exchange: str, url: str, repeat_of: str | None = None) -> RequestSeen:
    return RequestSeen(
        exchange=exchange,
        method="GET",
        url=url,
        resource="document",
        http_version="HTTP/1.1",
        connection="c1",
        size=0,
        repeat_of=repeat_of,
    )


def answered(exchange: str, status: int, by: str = "site") -> ResponseSeen:
    return msgspec.convert(
        {
            "exchange": exchange,
            "status": status,
            "resource": "document",
            "by": by,
            "size": 3,
            "timings": Timings(total=0.1),
        },
        ResponseSeen,
    )


def called(exchange: str, step: int) -> LlmCall:
    return LlmCall(
        exchange=exchange,
        family="openai-chat",
        url="https://llm.example/v1/chat/completions",
        model="m",
        step=step,
        began=0,
        messages=[],
        stream=False,
        status=200,
        answer="",
        input_tokens=1,
        output_tokens=1,
        usage="reported",
        latency_s=1,
        first_token_s=1,
        complete=True,
    )


def trial(folder: Path, *events: Event) -> Path:
    lines = [
        json.dumps(
            {
                "schema_version": SCHEMA_VERSION,
                "seq": n,
                "t": float(n),
                "at": "2026-05-04T12:00:00Z",
            }
            | msgspec.to_builtins(event)
        )
        for n, event in enumerate(events)
    ]
    (folder / "events.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def test_a_trial_is_played_with_its_own_sites_never_and_arming(tmp_path: Path) -> None:
    path = trial(
        tmp_path,
        TrialBegan(seed=7, arm="first_page", sites=(SHOP,), never=(f"{SHOP}/check*",)),
        asked("1", "https://other.example/"),
        asked("2", f"{SHOP}/"),
        asked("3", f"{SHOP}/check"),
        asked("4", f"{SHOP}/cart"),
        Disarmed(by="terminal_action"),
        asked("5", f"{SHOP}/verify"),
    )
    made = scenario({"always": True})
    hits = hits_in_recording(made, path)
    assert [(hit.number, hit.url) for hit in hits] == [(2, f"{SHOP}/"), (4, f"{SHOP}/cart")]
    assert hits == hits_in_recording(made, path / "events.jsonl")


def test_tasks_that_ran_at_the_same_time_are_counted_apart(tmp_path: Path) -> None:
    def of(exchange: str, task: str) -> RequestSeen:
        return msgspec.structs.replace(asked(exchange, f"{SHOP}/{exchange}"), task=task)

    path = trial(
        tmp_path,
        TrialBegan(),
        TaskBegan(task="main", seed=1, told_by="marker"),
        of("1", "main"),
        TaskBegan(task="a", seed=2, told_by="header", beside=True),
        of("2", "a"),
        TaskBegan(task="b", seed=3, told_by="user_name", beside=True),
        of("3", "b"),
        of("4", "a"),
        of("5", "main"),
        Disarmed(by="terminal_action", task="a"),
        of("6", "a"),
        TaskBegan(task="next", seed=4, told_by="rule"),
        of("7", "next"),
        of("8", "b"),
    )
    hits = hits_in_recording(scenario({"first": 1}), path)
    assert [hit.number for hit in hits] == [1, 2, 3, 7]
    hits = hits_in_recording(scenario({"every": 2}), path)
    assert [hit.number for hit in hits] == [4, 5, 8]


def test_a_trials_model_calls_are_its_steps_from_their_request_on(tmp_path: Path) -> None:
    path = trial(
        tmp_path,
        TrialBegan(),
        asked("1", f"{SHOP}/early"),
        asked("2", "https://llm.example/v1/chat/completions"),
        asked("3", f"{SHOP}/late"),
        called("2", 1),
    )
    hits = hits_in_recording(scenario({"always": True, "after_step": 1}), path)
    assert [hit.url for hit in hits] == [f"{SHOP}/late"]


@pytest.mark.parametrize(("kind", "missed"), [("llm_stall", True), ("llm_error", False)])
def test_a_fault_of_streams_misses_a_call_that_asked_for_none(
    tmp_path: Path, kind: str, missed: bool
) -> None:
    full = msgspec.structs.replace(called("1", 1), family="openai_chat")
    streamed = msgspec.structs.replace(full, exchange="2", step=2, stream=True)
    url = "https://llm.example/v1/chat/completions"
    path = trial(tmp_path, TrialBegan(), asked("1", url), asked("2", url), full, streamed)
    rule = {"name": "r", "trigger": {"always": True}, "fault": {"kind": kind}}

    hits = hits_in_recording(Scenario.model_validate({"name": "s", "rules": [rule]}), path)

    assert [hit.not_streamed for hit in hits] == [missed, False]


def tool_called(exchange: str, tool: str) -> McpCall:
    return McpCall(
        exchange=exchange,
        url="https://tools.example/mcp",
        transport="streamable_http",
        id=1,
        method="tools/call",
        tool=tool,
        began=0,
        latency_s=1,
        complete=True,
    )


def test_a_trials_calls_of_tools_are_what_its_rules_of_tools_are_about(tmp_path: Path) -> None:
    stream = msgspec.structs.replace(
        asked("4", "https://tools.example/sse"),
        resource="other",
        headers=[("accept", "text/event-stream")],
    )
    path = trial(
        tmp_path,
        TrialBegan(),
        asked("1", "https://tools.example/mcp"),
        asked("2", "https://tools.example/mcp"),
        asked("3", f"{SHOP}/"),
        stream,
        tool_called("1", "look"),
        tool_called("2", "buy"),
    )
    pages = hits_in_recording(scenario({"always": True}), path)
    tools = hits_in_recording(scenario({"always": True}, match={"mcp": {"tool": "buy"}}), path)
    assert ([hit.number for hit in pages], [hit.number for hit in tools]) == ([3], [2])


def test_a_silent_repeat_is_not_an_occurrence_of_its_own(tmp_path: Path) -> None:
    path = trial(
        tmp_path,
        TrialBegan(),
        asked("1", f"{SHOP}/"),
        asked("2", f"{SHOP}/", repeat_of="1"),
        answered("2", 200),
        asked("3", f"{SHOP}/"),
    )
    hits = hits_in_recording(scenario({"always": True}), path)
    assert [(hit.number, hit.ordinal) for hit in hits] == [(1, 1), (3, 2)]


def test_an_answer_of_ours_says_nothing_of_the_site(tmp_path: Path) -> None:
    path = trial(
        tmp_path,
        TrialBegan(),
        asked("1", f"{SHOP}/a"),
        answered("1", 500, by="warex"),
        asked("2", f"{SHOP}/b"),
        answered("2", 500),
    )
    hits = hits_in_recording(scenario({"always": True}, {"status": 500}, "response"), path)
    assert [hit.url for hit in hits] == [f"{SHOP}/b"]


def test_a_trace_without_a_beginning_is_reported(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="has no trial_began event"):
        hits_in_recording(scenario({"first": 1}), trial(tmp_path, asked("1", SHOP)))


# ---- attempts to reach a site


def unreachable(kind: str, **keys: object) -> Scenario:
    rule = {"name": "gone", "trigger": {"first": 1}, "fault": {"kind": kind}, **keys}
    return Scenario.model_validate({"name": "s", "rules": [rule]})


def test_a_har_says_which_request_waited_for_a_name_a_connection_and_tls(tmp_path: Path) -> None:
    retained = {"dns": -1, "connect": -1, "ssl": -1}
    path = har(
        tmp_path,
        row(f"{SHOP}/", 0, timings={"dns": 1, "connect": 20, "ssl": 10}),
        row(f"{SHOP}/a", 1, timings=retained),
        row("http://plain.example/", 2, timings={"dns": 1, "connect": 5, "ssl": -1}),
        row(f"{SHOP}/b", 9, timings={"dns": -1, "connect": 20, "ssl": 10}),
    )

    def numbers(kind: str, trigger: object = None) -> list[int]:
        made = unreachable(kind, trigger=trigger or {"always": True})
        return [hit.number for hit in hits_in_recording(made, path)]

    assert numbers("dns_failure") == [1, 3]
    assert numbers("connection_refused") == [1, 3, 4]
    assert numbers("tls_error") == [1, 4]
    assert numbers("connection_timeout", {"nth": 3}) == [4]


def test_a_har_without_phases_reaches_each_site_once(tmp_path: Path) -> None:
    path = har(tmp_path, *(row(f"{SHOP}/{n}", 10 * n) for n in range(3)))
    (hit,) = hits_in_recording(unreachable("connection_refused", trigger={"always": True}), path)
    assert (hit.number, hit.method, hit.url) == (1, "CONNECT", f"{SHOP}:443/")
    assert (hit.resource, hit.stage, hit.ordinal) == ("other", "request", 1)


def written(folder: Path, *events: tuple[float, Event]) -> Path:
    seconds = iter([t for t, _ in events])
    stamps = {
        "schema_version": SCHEMA_VERSION,
        "at": "2026-05-04T12:00:00+00:00",
    }
    lines = [
        json.dumps({**stamps, "seq": number, "t": next(seconds), **msgspec.to_builtins(event)})
        for number, (_, event) in enumerate(events, 1)
    ]
    (folder / "events.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def seen(url: str, connection: str) -> RequestSeen:
    return RequestSeen(
        exchange=f"x{url}",
        method="GET",
        url=url,
        resource="document",
        http_version="HTTP/1.1",
        connection=connection,
        size=0,
    )


def test_a_trial_is_played_by_its_names_connections_and_failed_attempts(tmp_path: Path) -> None:
    failed = FaultPlanned(
        injection="i1",
        exchange="a1",
        rule="r",
        fault={},
        stage="request",
        scope="",
        ordinal=1,
        effects=("refuse",),
        url=f"{SHOP}:443/",
        point="connect",
    )
    trial = written(
        tmp_path,
        (0.0, TrialBegan()),
        (0.5, Dns(name="shop.example", kind="A", answer="198.18.0.1")),
        (1.0, failed),
        (5.0, seen(f"{SHOP}/a", "c1")),
        (6.0, seen(f"{SHOP}/b", "c1")),
        (9.0, seen(f"{SHOP}/c", "c2")),
    )

    def hits(kind: str) -> list[tuple[float, int]]:
        hits = hits_in_recording(unreachable(kind, trigger={"always": True}), trial)
        return [(hit.at, hit.number) for hit in hits]

    assert hits("dns_failure") == [(0.5, 1)]
    assert hits("connection_refused") == [(1.0, 1), (5.0, 1), (9.0, 3)]
    assert hits("tls_error") == [(5.0, 1), (9.0, 3)]
