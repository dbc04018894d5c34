"""Models that fail, as the vendor's own SDK meets it."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.proxy.support.lanes import Begin, Lane, scenario
from tests.proxy.support.model import Model, client
from tests.proxy.support.origin import Origin
from warex.faults.llm.base import LlmFault
from warex.faults.llm.llm_cut import LlmCut
from warex.faults.llm.llm_empty import LlmEmpty
from warex.faults.llm.llm_error import LlmError
from warex.faults.llm.llm_malformed import LlmMalformed
from warex.faults.llm.llm_slow import LlmSlow
from warex.faults.llm.llm_stale import LlmStale
from warex.faults.llm.llm_timeout import LlmTimeout
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Trigger
from warex.traces import FaultDelivered, FaultMissed, HarnessBroke, LlmCall, LlmRetried, RequestSeen

pytestmark = pytest.mark.wire

FIRST = Trigger(first=1)
CUT = "WAREX cut the connection"


@pytest.fixture
def model(plain: Origin) -> Model:
    return Model(plain)


def ask(agent: Any, text: str, **more: Any) -> str:
    """Ask the model; return the answer's text."""
    messages = [{"role": "user", "content": text}]
    answer = agent.chat.completions.create(model="m", messages=messages, **more)
    return str(answer.choices[0].message.content)


def streamed(agent: Any, text: str) -> Iterator[str]:
    messages = [{"role": "user", "content": text}]
    for chunk in agent.chat.completions.create(model="m", messages=messages, stream=True):
        for choice in chunk.choices:
            yield choice.delta.content or ""


def once(fault: LlmFault) -> dict[str, Any]:
    return {"scenario": scenario(fault, FIRST)}


def check(lane: Lane, delivered: int = 1) -> None:
    assert not lane.events(HarnessBroke)
    assert len(lane.events(FaultDelivered)) == delivered
    assert not lane.events(FaultMissed)


def test_a_retry_after_a_wait_has_its_waiting_time(
    begin: Begin, ca: CertificateAuthority, model: Model
) -> None:
    with (
        begin(**once(LlmError(wait=1))) as lane,
        client(lane.url, model.base_url, ca, retries=2) as agent,
    ):
        assert ask(agent, "hi") == "answer 1"

    check(lane)
    assert len(model.asked) == 1
    first, second = lane.events(LlmCall)
    assert (first.status, first.finish, first.step) == (429, "error", 1)
    assert (second.status, second.finish, second.step) == (200, "stop", 1)
    (retried,) = lane.events(LlmRetried)
    assert (retried.exchange, retried.injection, retried.retry_after_s) == (
        second.exchange,
        "i1",
        1.0,
    )
    assert retried.waited_s >= 0.9


def test_an_error_is_the_sdks_own(begin: Begin, ca: CertificateAuthority, model: Model) -> None:
    import openai

    with (
        begin(**once(LlmError(error="context_too_long"))) as lane,
        client(lane.url, model.base_url, ca) as agent,
    ):
        with pytest.raises(openai.BadRequestError) as caught:
            ask(agent, "hi")
        assert caught.value.code == "context_length_exceeded"
        assert ask(agent, "hi") == "answer 1"

    check(lane)


@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_stream_is_cut_off_after_its_first_event(
    begin: Begin, ca: CertificateAuthority, model: Model, how: Any
) -> None:
    import openai

    messages: list[str] = []
    with (
        begin(**once(LlmCut(share=0.0, how=how))) as lane,
        client(lane.url, model.base_url, ca) as agent,
    ):
        with pytest.raises((httpx.TransportError, openai.APIConnectionError)):
            messages.extend(streamed(agent, "hi"))
        assert "".join(streamed(agent, "again")) == "answer2"

    check(lane)
    (call, calls) = lane.events(LlmCall)
    assert (call.answer, call.complete) == ("answer", False)
    assert call.error == CUT
    assert calls.finish == "stop"


def test_a_stream_may_end_in_good_order_before_its_end(
    begin: Begin, ca: CertificateAuthority, model: Model
) -> None:
    with (
        begin(**once(LlmCut(how="clean"))) as lane,
        client(lane.url, model.base_url, ca) as agent,
    ):
        assert "".join(streamed(agent, "hi")) == "answer"

    check(lane)
    (call,) = lane.events(LlmCall)
    assert (call.answer, call.finish, call.complete) == ("answer", "cut", False)


def test_a_whole_answer_is_cut_too(begin: Begin, ca: CertificateAuthority, model: Model) -> None:
    import openai

    with (
        begin(**once(LlmCut())) as lane,
        client(lane.url, model.base_url, ca) as agent,
        pytest.raises(openai.APIConnectionError),
    ):
        ask(agent, "hi")

    check(lane)
    (call,) = lane.events(LlmCall)
    assert not call.complete
    assert call.error == CUT


def test_an_answer_begins_late_and_its_pieces_come_apart(
    begin: Begin, ca: CertificateAuthority, model: Model
) -> None:
    with (
        begin(**once(LlmSlow(delay=0.2, pause=0.1))) as lane,
        client(lane.url, model.base_url, ca) as agent,
    ):
        assert "".join(streamed(agent, "hi")) == "answer1"

    check(lane)
    (call,) = lane.events(LlmCall)
    assert call.complete
    assert call.first_token_s is not None
    assert call.first_token_s >= 0.2
    assert call.latency_s >= call.first_token_s + 0.2


def test_giving_up_a_slow_answer_counts_as_a_hit(
    begin: Begin, ca: CertificateAuthority, model: Model
) -> None:
    import openai

    with (
        begin(**once(LlmSlow(delay=0.0, pause=60.0))) as lane,
        client(lane.url, model.base_url, ca) as agent,
    ):
        with pytest.raises(openai.APITimeoutError):
            ask(agent.with_options(timeout=1.5), "hi")
        assert ask(agent, "again") == "answer 2"

    check(lane)
    (delivered,) = lane.events(FaultDelivered)
    assert delivered.client_left


def test_no_answer_comes_until_the_connection_is_closed(
    begin: Begin, ca: CertificateAuthority, model: Model
) -> None:
    import openai

    with (
        begin(**once(LlmTimeout(delay=0.2))) as lane,
        client(lane.url, model.base_url, ca) as agent,
        pytest.raises(openai.APIConnectionError),
    ):
        ask(agent, "hi")

    check(lane)
    assert model.asked == []
    (call,) = lane.events(LlmCall)
    assert (call.status, call.error) == (None, CUT)


def test_an_error_after_the_model_has_answered_is_what_the_trace_has(
    begin: Begin, ca: CertificateAuthority, model: Model
) -> None:
    import openai

    with (
        begin(**once(LlmError(error="server_error", stage="response"))) as lane,
        client(lane.url, model.base_url, ca) as agent,
        pytest.raises(openai.InternalServerError),
    ):
        ask(agent, "hi")

    check(lane)
    assert len(model.asked) == 1
    (call,) = lane.events(LlmCall)
    assert (call.error or "").startswith("HTTP 500: The server had an error")
    assert (call.input_tokens, call.output_tokens, call.usage) == (9, 2, "reported")


def test_a_cut_after_the_model_has_answered_has_cost_its_tokens(
    begin: Begin, ca: CertificateAuthority, model: Model
) -> None:
    import openai

    with (
        begin(**once(LlmTimeout(delay=0, stage="response"))) as lane,
        client(lane.url, model.base_url, ca) as agent,
        pytest.raises(openai.APIConnectionError),
    ):
        ask(agent, "hi")

    check(lane)
    (call,) = lane.events(LlmCall)
    assert (call.status, call.error) == (None, CUT)
    assert (call.input_tokens, call.output_tokens) == (9, 2)


def test_an_earlier_answer_comes_once_more(
    begin: Begin, ca: CertificateAuthority, model: Model
) -> None:
    stale = scenario(LlmStale(), Trigger(always=True), match={"llm": {"step": 2}})
    with begin(scenario=stale) as lane, client(lane.url, model.base_url, ca) as agent:
        messages = [ask(agent, text) for text in ("one", "two", "three")]

    check(lane)
    assert messages == ["answer 1", "answer 1", "answer 2"]
    assert [call.input_tokens for call in lane.events(LlmCall)] == [9, None, 9]


def test_an_answer_that_came_late_is_an_earlier_one_too(
    begin: Begin, ca: CertificateAuthority, model: Model
) -> None:
    late = scenario(LlmSlow(delay=0, pause=0.01), Trigger(always=True), match={"llm": {"step": 2}})
    stale = scenario(LlmStale(), Trigger(always=True), match={"llm": {"step": 3}})
    both = late.model_copy(
        update={"rules": (*late.rules, stale.rules[0].model_copy(update={"name": "stale"}))}
    )
    with begin(scenario=both) as lane, client(lane.url, model.base_url, ca) as agent:
        messages = [ask(agent, text) for text in ("one", "two", "three")]

    check(lane, delivered=2)
    assert messages == ["answer 1", "answer 2", "answer 2"]


def test_what_cannot_be_used_comes_in_good_order(
    begin: Begin, ca: CertificateAuthority, model: Model
) -> None:
    with begin(**once(LlmEmpty())) as lane, client(lane.url, model.base_url, ca) as agent:
        assert ask(agent, "hi") == "None"
    check(lane)

    with begin(**once(LlmMalformed())) as lane, client(lane.url, model.base_url, ca) as agent:
        text = ask(agent, "hi")
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)
    check(lane)
    assert model.asked == []


def test_pages_are_unchanged(begin: Begin, plain: Origin) -> None:
    with begin(scenario=scenario(LlmEmpty())) as lane, httpx.Client(proxy=lane.url) as browser:
        assert browser.get(f"http://127.0.0.1:{plain.port}/").status_code == 200

    check(lane, delivered=0)
    assert len(lane.events(RequestSeen)) == 1
