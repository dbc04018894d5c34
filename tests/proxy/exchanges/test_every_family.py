"""What holds of calls over each API that WAREX reads, as the server and the client see them."""

import asyncio
import json
from asyncio import StreamReader, StreamWriter
from itertools import takewhile
from pathlib import Path

import httpx
import pytest

from tests.llm.families.vectors import Vector, vectors
from tests.proxy.support.lanes import Begin, Lane, scenario
from tests.proxy.support.origin import Answer, Origin, Seen, Stream
from warex.faults.llm.llm_broken_event import LlmBrokenEvent
from warex.faults.llm.llm_cut import LlmCut
from warex.faults.llm.llm_error_event import LlmErrorEvent
from warex.faults.llm.llm_stall import LlmStall
from warex.llm import LLM_APIS, LlmApi, recognise
from warex.llm.defences import Defence
from warex.traces import DefenceApplied, FaultDelivered, LlmCall, begin_llm_cache, publish_answers

pytestmark = [pytest.mark.wire, pytest.mark.slow]

HINT = Defence(name="hint", text='Reload "pages"\nthat fail: é.')
_LIVE_PIECES = 20
WRITTEN = json.dumps(HINT.text)[1:-1].encode()

each_family = pytest.mark.parametrize("family", LLM_APIS, ids=lambda family: family.name)


def requests(family: LlmApi) -> list[Vector]:
    """One call for each of the API's paths and bodies."""
    return list({(v.path, v.sent): v for v in vectors(family.name)}.values())


def answers(family: LlmApi) -> list[Vector]:
    """Calls that were answered whole, streamed and not."""
    good = [v for v in vectors(family.name) if v.status == 200 and v.expected().complete]
    result = list({(v.path, v.sent, v.body): v for v in good}.values())
    assert {v.recognised().stream for v in result} == {True, False}
    return result


def ask(lane: Lane, origin: Origin, vector: Vector) -> httpx.Response:
    head = {"content-type": "application/json"}
    with httpx.Client(proxy=lane.url) as raw:
        return raw.post(
            f"http://127.0.0.1:{origin.port}{vector.path}", content=vector.sent, headers=head
        )


def _prompt(seen: Seen) -> tuple[list[object], list[object]]:
    """Return the system's messages, and the others, as the server reads them."""
    request = recognise("POST", seen.target, "", seen.body)
    assert request is not None
    system = [m for m in request.messages if isinstance(m, dict) and m.get("role") in SYSTEM]
    return [*system], [m for m in request.messages if m not in system]


SYSTEM = ("system", "developer")


@each_family
def test_the_server_receives_a_defence_once_and_all_else_as_it_was(
    begin: Begin, plain: Origin, family: LlmApi
) -> None:
    sent = requests(family)
    with begin(defence=HINT) as lane:
        for vector in sent:
            ask(lane, plain, vector)

    assert len(plain.seen) == len(sent)
    for vector, seen in zip(sent, plain.seen, strict=True):
        assert seen.target == vector.path
        assert seen.body.count(WRITTEN) == 1
        assert seen.header("content-length") == str(len(seen.body))
        system, others = _prompt(seen)
        assert WRITTEN.decode() in json.dumps(system, ensure_ascii=True)
        bare = _prompt(Seen("POST", vector.path, [], vector.sent))
        assert others == bare[1]
        # Nothing was taken out of what was written.
        rest = iter(seen.body)
        assert all(byte in rest for byte in vector.sent)
    calls = [call.exchange for call in lane.events(LlmCall)]
    assert [applied.exchange for applied in lane.events(DefenceApplied)] == calls
    assert len(calls) == len(sent)


@each_family
def test_a_request_has_a_system_prompt_or_none(family: LlmApi) -> None:
    prompts = {bool(_prompt(Seen("POST", v.path, [], v.sent))[0]) for v in requests(family)}

    assert prompts == {True, False}


@each_family
def test_an_answer_is_given_again_byte_for_byte_without_the_model(
    begin: Begin, plain: Origin, tmp_path: Path, family: LlmApi
) -> None:
    (run := tmp_path / "run").mkdir()
    cache = begin_llm_cache(run)
    place = {"cache": cache, "shared": cache / "1"}
    retained = answers(family)

    def trial(*, answering: bool) -> tuple[Lane, list[tuple[bytes, str]]]:
        messages = []
        with begin(llm_cache=place) as lane:
            for vector in retained:
                if answering:
                    plain.routes[vector.path] = _as_sent(vector)
                answer = ask(lane, plain, vector)
                assert answer.status_code == 200, answer.text
                messages.append((answer.content, answer.headers["content-type"]))
        return lane, messages

    first, message = trial(answering=True)
    publish_answers(first.out, cache / "1")
    asked = len(plain.seen)
    plain.routes.clear()
    second, again = trial(answering=False)

    assert message == again == [(vector.body, vector.content_type) for vector in retained]
    assert len(plain.seen) == asked
    calls = second.events(LlmCall)
    assert all(call.replayed and call.complete for call in calls)
    assert [_content_of(call) for call in calls] == [
        _content_of(call) for call in first.events(LlmCall)
    ]


def _content_of(call: LlmCall) -> tuple[object, ...]:
    return call.family, call.answer, call.tool_calls, call.input_tokens, call.output_tokens


def _as_sent(vector: Vector) -> Answer:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {vector.content_type}\r\n"
    if not vector.recognised().stream:
        length = f"Content-Length: {len(vector.body)}\r\n\r\n"
        return Answer(raw=f"{head}{length}".encode() + vector.body)
    half = len(vector.body) // 2
    pieces = b"".join(
        b"%x\r\n%b\r\n" % (len(piece), piece)
        for piece in (vector.body[:half], vector.body[half:], b"")
    )
    return Answer(raw=f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + pieces)


def live(vector: Vector) -> Stream:
    """Return an answer that comes piece by piece, as from a model that writes it now."""
    size = max(1, len(vector.body) // _LIVE_PIECES)

    async def answer(seen: Seen, reader: StreamReader, writer: StreamWriter) -> None:
        kind = f"Content-Type: {vector.content_type}\r\nConnection: close\r\n\r\n"
        writer.write(b"HTTP/1.1 200 OK\r\n" + kind.encode())
        for at in range(0, len(vector.body), size):
            writer.write(vector.body[at : at + size])
            await writer.drain()
            await asyncio.sleep(0.005)
        writer.close()

    return answer


@each_family
def test_a_live_stream_falls_silent_and_is_whole_or_lacks_its_end(
    begin: Begin, plain: Origin, family: LlmApi
) -> None:
    streamed = [v for v in answers(family) if v.recognised().stream]
    vector = max(streamed, key=lambda v: len(v.body))
    plain.routes[vector.path] = live(vector)
    with begin(scenario=scenario(LlmStall(after_events=1, stall=0.3))) as lane:
        full = ask(lane, plain, vector)
    assert full.content == vector.body
    (done,) = lane.events(FaultDelivered)
    assert done.waited_s >= 0.3

    with begin(scenario=scenario(LlmCut(before="finish", how="clean"))) as lane:
        cut = ask(lane, plain, vector)
    assert vector.body.startswith(cut.content)
    assert len(cut.content) < len(vector.body)
    assert len(lane.events(FaultDelivered)) == 1


def _alike(one: bytes, other: bytes) -> int:
    """Return how many of the first bytes are the same."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


@each_family
def test_a_live_stream_has_one_broken_event_or_ends_in_the_apis_error(
    begin: Begin, plain: Origin, family: LlmApi
) -> None:
    streamed = [v for v in answers(family) if v.recognised().stream]
    vector = max(streamed, key=lambda v: len(v.body))
    plain.routes[vector.path] = live(vector)
    with begin(scenario=scenario(LlmBrokenEvent(after_events=1))) as lane:
        broken = ask(lane, plain, vector).content
    before, after = _alike(vector.body, broken), _alike(vector.body[::-1], broken[::-1])
    assert before
    assert after
    assert before + after < len(vector.body)
    assert len(lane.events(FaultDelivered)) == 1

    with begin(scenario=scenario(LlmErrorEvent(after_events=1))) as lane:
        ended = ask(lane, plain, vector)
    assert ended.status_code == 200
    assert 0 < _alike(vector.body, ended.content) < len(vector.body)
    assert len(lane.events(FaultDelivered)) == 1
    (call,) = lane.events(LlmCall)
    assert call.error
    assert not call.complete
