"""What `warex mcp` asks of a lane, and what is recorded of it."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.lane.support.played import Trial, answer, headers, trial
from warex.engine.handler import Address, Connection, Exchange, Respond
from warex.engine.http.heads import Headers, RequestHead
from warex.lane.stdio.sessions import BadCall
from warex.lane.stdio.steps import Step
from warex.scenarios import Scenario
from warex.traces import FaultDelivered, FaultMissed, McpCall, RequestSeen, ResponseSeen

ENDED = b'{"end": "complete", "held_s": 0.5, "timings": {"started": 0, "ended": 0}}'
ON = Connection(1, Address("127.0.0.1", 50_000))


class Server:
    """A server of tools, as `warex mcp` tells a lane of it."""

    def __init__(self, began: Trial, name: str = "tools", on: Connection = ON) -> None:
        self.trial, self.on = began, on
        self.session = self.ask("begin", {"name": name})["session"]

    def ask(self, call: str, body: Any = None, exchange: int | None = None, **task: str) -> Any:
        query = {} if call == "begin" else {"session": self.session, "exchange": exchange}
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        url = f"http://warex.invalid/mcp/{call}?{urlencode(query)}"
        return self.trial.lane.stdio.call(url, sent, self.on, tuple(task.items()))

    def step(self, call: str, exchange: int, body: Any = b"", **task: str) -> Step:
        return Step.of_json(self.ask(call, body, exchange, **task))

    def speak(self, exchange: int) -> None:
        """Make a call, have it answered, and do what the lane says of it."""
        held_s = 0.0

        def after_hold(step: Step) -> Step:
            nonlocal held_s
            for seconds in step.hold_s:
                self.trial.engine.advance(seconds)
                held_s += seconds
            if step.hold_s:
                self.ask("held", b"", exchange)
            return step

        step = after_hold(self.step("request", exchange, called(exchange)))
        if step.then == "pass":
            step = after_hold(self.step("answer", exchange, result("0123", exchange)))
        if step.then == "whole":
            after_hold(self.step("whole", exchange))
        self.end(exchange, held_s=held_s)

    def end(self, exchange: int, end: str = "complete", **facts: Any) -> None:
        arrived = end == "complete"
        outcome = {"end": end, "arrived": arrived, "head_sent": arrived, **facts}
        self.ask("ended", {**outcome, "timings": {"started": 0.0, "ended": 1.0}}, exchange)


def called(identifier: object = 1, tool: str = "look", **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": params}


def result(text: str, identifier: object = 1) -> dict[str, Any]:
    content = {"content": [{"type": "text", "text": text}]}
    return {"jsonrpc": "2.0", "id": identifier, "result": content}


def faulty(fault: dict[str, Any], **rule: Any) -> Scenario:
    match = rule.pop("match", {"mcp": {}})
    fields = {"name": "rule", "match": match, "trigger": {"first": 1}, "fault": fault, **rule}
    return Scenario.model_validate({"name": "scenario", "rules": [fields]})


def test_a_message_and_its_answer_are_an_exchange_and_a_call() -> None:
    with trial() as began:
        server = Server(began)
        assert server.step("request", 1, called(text="hi")) == Step("pass")
        began.engine.advance(2)
        assert server.step("answer", 1, result("found")) == Step("pass")
        server.end(1)

    request = began.the(RequestSeen)
    assert (request.url, request.operation) == ("mcp+stdio://tools/", "tools/call look")
    assert began.the(ResponseSeen).by == "site"
    call = began.the(McpCall)
    assert (call.transport, call.tool, call.arguments) == ("stdio", "look", {"text": "hi"})
    assert (call.latency_s, call.complete) == (2, True)
    assert call.result["content"][0]["text"] == "found"


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "mcp_error", "text": "broken"},
        {"kind": "mcp_error", "error": "protocol"},
        {"kind": "mcp_error", "text": "broken", "stage": "response"},
        {"kind": "mcp_result_corrupt", "how": "garbled", "delay": 2},
        {"kind": "mcp_result_corrupt", "how": "invalid_json"},
        {"kind": "mcp_slow", "delay": 2},
        {"kind": "mcp_tool_missing"},
    ],
)
def test_stdio_events_equal_those_of_http(
    fault: dict[str, Any],
) -> None:
    with trial(scenario=faulty(fault)) as over_http:
        connection = over_http.connect()
        for number in (1, 2):
            over_http.ask(
                lambda _, body: answer(
                    json.dumps(result("0123", json.loads(body)["id"])).encode(),
                    kind="application/json",
                ),
                "http://tools/",
                method="POST",
                body=json.dumps(called(number)).encode(),
                connection=connection,
                content_type="application/json",
                user_agent="python-httpx/1",
            )
    with trial(scenario=faulty(fault)) as over_stdio:
        server = Server(over_stdio)
        for number in (1, 2):
            server.speak(number)

    assert _seen(over_stdio) == _seen(over_http)


def _seen(began: Trial) -> list[dict[str, Any]]:
    """The events, without what differs on purpose."""
    own = ("headers", "timings", "transport", "size", "session", "seq")
    seen = []
    for event in began.events:
        fields = json.loads(began.recorder.as_json(event))
        retained = {name: value for name, value in fields.items() if name not in own}
        seen.append(json.loads(json.dumps(retained).replace("mcp+stdio:", "http:")))
        assert retained
    return seen


def test_a_notification_is_accepted_and_no_call() -> None:
    with trial() as began:
        server = Server(began)
        server.step("request", 1, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert server.step("answer", 1) == Step("pass")
        server.end(1)

    assert began.the(ResponseSeen).status == 202
    assert began.all(McpCall) == []


@pytest.mark.parametrize(
    ("end", "kind"), [("complete", FaultDelivered), ("client_left", FaultMissed)]
)
def test_an_answer_in_the_servers_place_is_delivered_when_the_pipe_took_it(
    end: str, kind: type
) -> None:
    with trial(scenario=faulty({"kind": "mcp_error", "text": "broken"})) as began:
        server = Server(began)
        step = server.step("request", 1, called("a"))
        server.end(1, end)

    assert step.then == "say"
    message = json.loads(step.pieces[0])
    assert step.pieces[0].endswith(b"\n")
    assert (message["id"], message["result"]["isError"]) == ("a", True)
    began.the(kind)


def test_an_answer_is_changed_and_the_next_passes() -> None:
    with trial(scenario=faulty({"kind": "mcp_result_corrupt"})) as began:
        server = Server(began)
        for number in (1, 2):
            assert server.step("request", number, called(number)).then == "pass"
        changed = server.step("answer", 1, result("0123", 1))
        unchanged = server.step("answer", 2, result("0123", 2))
        server.end(1)
        server.end(2)

    assert json.loads(changed.pieces[0])["result"]["content"][0]["text"] == "01"
    assert unchanged == Step("pass")
    began.the(FaultDelivered)


def test_a_held_answer_is_changed_after_its_hold() -> None:
    fault = {"kind": "mcp_result_corrupt", "how": "empty", "delay": 3}
    with trial(scenario=faulty(fault)) as began:
        server = Server(began)
        server.step("request", 1, called())
        assert server.step("answer", 1, result("text")) == Step("whole", (3.0,))
        began.engine.advance(3)
        server.ask("held", b"", 1)
        step = server.step("whole", 1)
        server.end(1, held_s=3.0)

    assert json.loads(step.pieces[0])["result"]["content"] == []
    assert began.the(FaultDelivered).waited_s == 3


def test_a_slow_tool_is_asked_late() -> None:
    with trial(scenario=faulty({"kind": "mcp_slow", "delay": 5})) as began:
        server = Server(began)
        assert server.step("request", 1, called()) == Step("pass", (5.0,))
        began.engine.advance(5)
        server.ask("held", b"", 1)
        assert server.step("answer", 1, result("late")) == Step("pass")
        server.end(1, held_s=5.0)

    assert began.the(FaultDelivered).waited_s == 5


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        ("protocol", -32603, "Internal error"),
        ("http_500", -32603, "Internal Server Error"),
        ("session_lost", -32001, "Session not found"),
    ],
)
def test_errors_of_http_are_errors_of_json_rpc(error: str, code: int, text: str) -> None:
    with trial(scenario=faulty({"kind": "mcp_error", "error": error})) as began:
        server = Server(began)
        step = server.step("request", 1, called(7))
        server.end(1)

    expected = {"jsonrpc": "2.0", "id": 7, "error": {"code": code, "message": text}}
    assert json.loads(step.pieces[0]) == expected
    assert (began.the(McpCall).error_code, began.the(McpCall).complete) == (code, True)


def test_a_fault_of_sites_has_its_nearest_form() -> None:
    match = {"url": "mcp+stdio://tools/*"}
    with trial(scenario=faulty({"kind": "http_error", "status": 503}, match=match)) as began:
        step = Server(began).step("request", 1, called(7))
    assert json.loads(step.pieces[0])["error"] == {"code": -32603, "message": "HTTP 503"}

    with trial(scenario=faulty({"kind": "connection_cut"}, match=match)) as began:
        server = Server(began)
        assert server.step("request", 1, called()).then == "end"
        server.end(1, "aborted", arrived=True)
    began.the(FaultDelivered)


def test_rules_on_sites_leave_servers_of_tools_alone() -> None:
    scenario = faulty({"kind": "http_error", "status": 500}, match={"resource": ["xhr", "other"]})
    with trial(scenario=scenario) as began:
        assert Server(began).step("request", 1, called()) == Step("pass")


def test_servers_of_one_name_are_two_sessions() -> None:
    with trial() as began:
        one, two = Server(began), Server(began)
        for server in (one, two):
            server.step("request", 1, called(1, of=server.session))
        two.step("answer", 1, result("two"))
        one.step("answer", 1, result("one"))
        one.end(1)
        two.end(1)

    calls = [(it.session, it.arguments, it.result) for it in began.all(McpCall)]
    assert calls == [
        (1, {"of": 1}, result("one")["result"]),
        (2, {"of": 2}, result("two")["result"]),
    ]


def test_a_header_names_the_task() -> None:
    with trial(scenario=faulty({"kind": "mcp_error"})) as began:
        server = Server(began)
        named = {"x-warex-task": "other"}
        messages = [server.step("request", n, called(n), **named).then for n in (1, 2)]
        messages.append(server.step("request", 3, called(3)).then)

    # Each task has its own first call.
    assert messages == ["say", "pass", "say"]
    assert [it.task for it in began.all(RequestSeen)] == ["other", "other", ""]


def test_what_is_open_ends_with_its_asker() -> None:
    with trial(scenario=faulty({"kind": "mcp_result_corrupt"})) as began:
        server = Server(began)
        server.step("request", 1, called())
        began.lane.closed(Connection(2, Address("127.0.0.1", 1)))
        assert began.all(ResponseSeen) == []
        began.lane.closed(ON)

    assert "ended" in (began.the(ResponseSeen).error or "")
    assert not began.the(McpCall).complete
    began.the(FaultMissed)


@pytest.mark.parametrize(
    ("call", "query", "body", "status"),
    [
        ("begin", "", b"{}", 400),
        ("begin", "", b'{"name": "Not A Name"}', 400),
        ("begin", "", b"[" * 100_000, 400),
        ("request", "", b"", 400),
        ("request", "session=9&exchange=1", b"", 404),
        ("request", "session=1&exchange=x", b"", 400),
        ("answer", "session=1&exchange=9", b"", 404),
        ("ended", "session=1&exchange=1", b'{"end": 1}', 400),
        ("ended", "session=1&exchange=1", ENDED.replace(b"0.5", b'"x"'), 400),
        ("ended", "session=1&exchange=1", ENDED.replace(b"complete", b"other"), 400),
        ("request", "session=1&exchange=1", b"", 400),
        ("nothing", "session=1&exchange=1", b"", 409),
        ("held", "session=1&exchange=1", b"", 409),
        ("whole", "session=1&exchange=1", b"", 409),
    ],
)
def test_a_bad_call_is_a_sentence_and_harms_no_trial(
    call: str, query: str, body: bytes, status: int
) -> None:
    with trial() as began:
        Server(began).step("request", 1, called())
        with pytest.raises(BadCall) as refusal:
            began.lane.stdio.call(f"http://warex.invalid/mcp/{call}?{query}", body, ON)

    assert refusal.value.status == status
    assert began.recorder.broken is None


def test_no_order_of_calls_harms_the_trial() -> None:
    fault = {"kind": "mcp_result_corrupt", "delay": 1}
    with trial(scenario=faulty(fault)) as began:
        server = Server(began)
        server.step("request", 1, called())
        server.step("answer", 1, result("text"))
        for call in ("answer", "request"):
            with pytest.raises(BadCall):
                server.step(call, 1, result("text"))
        server.ask("held", b"", 1)
        with pytest.raises(BadCall, match="may not follow"):
            server.ask("held", b"", 1)
        server.step("whole", 1)
        with pytest.raises(BadCall, match="may not follow"):
            server.step("whole", 1)
        server.end(1)
        with pytest.raises(BadCall, match="no such exchange"):
            server.end(1)
    assert began.recorder.broken is None
    began.the(FaultDelivered)


def asked(began: Trial, method: str = "POST", **fields: str) -> tuple[int, Any]:
    head = RequestHead(method, "http", "warex.invalid", "/mcp/begin", "HTTP/1.1", headers(**fields))
    exchange = Exchange(began.connect(), head, b'{"name": "tools"}')
    assert began.lane.request_head(exchange) == "whole"
    plan = began.lane.request(exchange).then
    assert isinstance(plan, Respond)
    assert isinstance(plan.headers, Headers)
    return plan.status, json.loads(b"".join(plan.pieces))


def test_the_calls_are_requests_to_warexs_own_host_and_no_exchanges() -> None:
    with trial() as began:
        assert asked(began) == (200, {"session": 1})

    assert began.recorder.exchanges == 0
    assert began.all(RequestSeen) == []


def test_a_browser_may_not_call() -> None:
    with trial() as began:
        assert asked(began, user_agent="Mozilla/5.0")[0] == 403
        assert asked(began, origin="https://shop.test")[0] == 403
        assert asked(began, method="GET")[0] == 405


def test_the_sessions_that_anything_begins_are_bounded() -> None:
    with trial() as began:
        first = Server(began)
        first.step("request", 1, called())
        for _ in range(1000):
            Server(began)
        assert "ended" in (began.the(ResponseSeen).error or "")
        with pytest.raises(BadCall, match="no such session"):
            first.step("answer", 1, result("late"))


def test_nothing_passes_in_a_void_trial() -> None:
    with trial() as began:
        server = Server(began)
        began.recorder.harness_broke("it broke")
        assert asked(began)[0] == 503
        with pytest.raises(BadCall, match="it broke"):
            server.step("request", 1, called())
