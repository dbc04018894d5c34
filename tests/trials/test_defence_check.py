"""A trial of a defended condition counts only if the defence was there when the model was asked."""

import pytest

from warex.errors import TrialVoid
from warex.llm.defences.refresh import REFRESH
from warex.traces import (
    Counted,
    DefenceApplied,
    Ending,
    Entry,
    Event,
    FaultPlanned,
    LlmCall,
    RequestSeen,
    Trace,
    Tunnel,
)
from warex.trials.defence_check import require_defence_applied

HOSTS = ("llm.local", "*.gateway.test")
APPLIED = DefenceApplied(exchange="x1", defence="refresh")


def call(host: str) -> LlmCall:
    return LlmCall(
        exchange="x1",
        family="openai_chat",
        url=f"https://{host}/v1/chat/completions",
        model="m",
        step=1,
        began=0.0,
        messages=[],
        stream=False,
        status=200,
        answer="",
        input_tokens=None,
        output_tokens=None,
        usage="none",
        latency_s=1.0,
        first_token_s=None,
        complete=True,
    )


def asked(host: str, method: str = "POST") -> RequestSeen:
    return RequestSeen(
        exchange="x1",
        method=method,
        url=f"https://{host}/v1/messages",
        resource="other",
        http_version="HTTP/1.1",
        connection="c1",
        size=0,
    )


def tunnel(host: str) -> Tunnel:
    return Tunnel(host=host, port=443, why="pass_through", sent=1, received=1, seconds=1.0)


def refused(url: str) -> FaultPlanned:
    return FaultPlanned(
        injection="i1",
        exchange="a1",
        rule="r",
        fault={},
        stage="request",
        scope="",
        ordinal=1,
        effects=("refuse",),
        url=url,
        point="connect",
    )


def check(*events: Event, ending: Ending = "answered") -> None:
    trace = Trace(tuple(Entry(n, 0.0, "", event) for n, event in enumerate(events, 1)))
    require_defence_applied(trace, REFRESH, Counted(ending=ending, score=0, latency_s=1.0), HOSTS)


def test_a_trial_that_the_defence_reached_counts() -> None:
    check(APPLIED, call("llm.local"))


@pytest.mark.parametrize(
    ("event", "host"),
    [
        (call("anywhere.test"), "anywhere.test"),
        (asked("api.anthropic.com"), "api.anthropic.com"),
        (asked("llm.local"), "llm.local"),
        (tunnel("a.gateway.test"), "a.gateway.test"),
        (tunnel("api.openai.com"), "api.openai.com"),
    ],
)
@pytest.mark.parametrize("ending", ["answered", "harness_crashed", "time_limit"])
def test_a_model_that_was_asked_without_the_defence_voids_the_trial(
    event: Event, host: str, ending: Ending
) -> None:
    with pytest.raises(TrialVoid, match=f"'refresh' was added to no LLM request: .* at {host} "):
        check(event, ending=ending)


@pytest.mark.parametrize("ending", ["answered", "reported_infeasible", "step_limit"])
def test_an_agent_that_came_to_an_end_of_its_own_has_asked_its_model(ending: Ending) -> None:
    with pytest.raises(TrialVoid, match="asked its model past the proxy"):
        check(tunnel("shop.test"), ending=ending)


@pytest.mark.parametrize("ending", ["harness_crashed", "agent_crashed", "time_limit"])
def test_an_agent_that_ended_before_its_first_question_counts(ending: Ending) -> None:
    check(asked("llm.local", method="GET"), tunnel("shop.test"), ending=ending)


def test_a_model_blocked_by_a_fault_is_not_a_bypass_of_the_proxy() -> None:
    check(refused("https://llm.local:443/"), ending="model_error")
    with pytest.raises(TrialVoid):
        check(refused("https://shop.test:443/"), ending="model_error")


def test_a_condition_without_a_defence_asks_for_none() -> None:
    trace = Trace((Entry(1, 0.0, "", call("llm.local")),))

    require_defence_applied(trace, None, Counted(ending="answered", score=0, latency_s=1.0), HOSTS)
