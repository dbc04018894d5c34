"""Models whose streams break in the middle, as the vendor's own SDK meets it."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.proxy.support.lanes import Begin, Lane, scenario
from tests.proxy.support.model import Model, client
from tests.proxy.support.origin import Origin
from warex.faults.llm.base import LlmFault
from warex.faults.llm.llm_broken_event import LlmBrokenEvent
from warex.faults.llm.llm_cut import LlmCut
from warex.faults.llm.llm_error_event import LlmErrorEvent
from warex.faults.llm.llm_stall import LlmStall
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Trigger
from warex.traces import FaultDelivered, FaultMissed, HarnessBroke, LlmCall

pytestmark = pytest.mark.wire


@pytest.fixture
def model(plain: Origin) -> Model:
    return Model(plain)


def streamed(agent: Any) -> Iterator[str]:
    messages = [{"role": "user", "content": "hi"}]
    for chunk in agent.chat.completions.create(model="m", messages=messages, stream=True):
        for choice in chunk.choices:
            yield choice.delta.content or ""


def once(fault: LlmFault) -> dict[str, Any]:
    return {"scenario": scenario(fault, Trigger(first=1))}


def delivered(lane: Lane) -> FaultDelivered:
    assert not lane.events(HarnessBroke)
    assert not lane.events(FaultMissed)
    (event,) = lane.events(FaultDelivered)
    return event


def test_a_stream_falls_silent_and_goes_on(
    begin: Begin, ca: CertificateAuthority, model: Model
) -> None:
    with (
        begin(**once(LlmStall(after_events=1, stall=0.3))) as lane,
        client(lane.url, model.base_url, ca) as agent,
    ):
        assert "".join(streamed(agent)) == "answer1"

    assert delivered(lane).waited_s >= 0.3
    (call,) = lane.events(LlmCall)
    assert (call.answer, call.complete) == ("answer1", True)
    assert call.latency_s >= 0.3


def test_leaving_an_endless_stream_counts_as_a_hit(
    begin: Begin, ca: CertificateAuthority, model: Model
) -> None:
    import openai

    words: list[str] = []
    with (
        begin(**once(LlmStall(after_events=1, then="never"))) as lane,
        client(lane.url, model.base_url, ca) as agent,
        pytest.raises((httpx.TimeoutException, openai.APITimeoutError)),
    ):
        words.extend(streamed(agent.with_options(timeout=1.3)))

    assert words == ["answer"]
    assert delivered(lane).waited_s >= 1.0
    (call,) = lane.events(LlmCall)
    assert (call.answer, call.complete) == ("answer", False)


@pytest.mark.parametrize("then", ["close", "reset"])
def test_a_stream_may_end_after_its_silence(
    begin: Begin, ca: CertificateAuthority, model: Model, then: Any
) -> None:
    import openai

    with (
        begin(**once(LlmStall(after_tokens=1, stall=0.2, then=then))) as lane,
        client(lane.url, model.base_url, ca) as agent,
        pytest.raises((httpx.TransportError, openai.APIConnectionError)),
    ):
        "".join(streamed(agent))

    assert delivered(lane).waited_s >= 0.2


def test_one_event_of_a_stream_is_not_json(
    begin: Begin, ca: CertificateAuthority, model: Model
) -> None:
    with (
        begin(**once(LlmBrokenEvent(after_events=1))) as lane,
        client(lane.url, model.base_url, ca) as agent,
        pytest.raises(json.JSONDecodeError),
    ):
        "".join(streamed(agent))

    delivered(lane)


def test_a_stream_that_has_begun_ends_in_the_apis_error(
    begin: Begin, ca: CertificateAuthority, model: Model
) -> None:
    import openai

    words: list[str] = []
    with (
        begin(**once(LlmErrorEvent(after_events=1, error="rate_limited"))) as lane,
        client(lane.url, model.base_url, ca, retries=2) as agent,
    ):
        with pytest.raises(openai.APIError) as caught:
            words.extend(streamed(agent))
        assert "".join(streamed(agent)) == "answer2"

    assert (words, caught.value.code) == (["answer"], "rate_limit_exceeded")
    delivered(lane)
    first, second = lane.events(LlmCall)
    assert (first.status, first.finish, first.complete) == (200, "error", False)
    assert (first.error or "").startswith("Rate limit reached")
    assert second.complete


def test_a_stream_may_lack_its_end_marker_and_look_whole(
    begin: Begin, ca: CertificateAuthority, model: Model
) -> None:
    with (
        begin(**once(LlmCut(before="end_marker", how="clean"))) as lane,
        client(lane.url, model.base_url, ca) as agent,
    ):
        assert "".join(streamed(agent)) == "answer1"

    delivered(lane)


def test_an_answer_that_is_not_a_stream_is_missed_with_that_reason(
    begin: Begin, ca: CertificateAuthority, model: Model
) -> None:
    always = scenario(LlmErrorEvent(), Trigger(always=True))
    with begin(scenario=always) as lane, client(lane.url, model.base_url, ca) as agent:
        messages = [{"role": "user", "content": "hi"}]
        answer = agent.chat.completions.create(model="m", messages=messages)
        assert answer.choices[0].message.content == "answer 1"

    (missed,) = lane.events(FaultMissed)
    assert missed.reason == "not_streamed"
    (call,) = lane.events(LlmCall)
    assert call.complete
