import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from warex.llm import LlmAnswer, read_answer
from warex.llm.sockets.base import SocketEvent
from warex.llm.sockets.live import LiveSocket

PATH = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
TURN = {"role": "user", "parts": [{"text": "Hi"}]}
COUNTED = {"promptTokenCount": 9, "responseTokenCount": 4, "thoughtsTokenCount": 2}


def sent(**message: Any) -> bytes:
    return json.dumps(message).encode()


def opened() -> LiveSocket:
    api = LiveSocket(PATH)
    setup = {"model": "models/gemini-live", "systemInstruction": {"parts": [{"text": "Help."}]}}
    assert api.request(sent(setup=setup)) is None
    assert api.event(sent(setupComplete={})) is None
    return api


def ask(api: LiveSocket, message: bytes, *answers: bytes) -> tuple[Any, LlmAnswer]:
    asked = api.request(message)
    assert asked is not None
    assert asked.request is not None
    events = [event for it in answers if (event := api.event(it)) is not None]
    body = b"".join(it.content for it in events)
    assert events[-1].is_end
    return asked.request, read_answer(asked.request, 200, "text/event-stream", body)


def part(**part: Any) -> bytes:
    return sent(serverContent={"modelTurn": {"parts": [part]}})


def test_a_turn_is_answered_with_words_and_tokens() -> None:
    request, said = ask(
        opened(),
        sent(client_content={"turns": [TURN], "turn_complete": True}),
        part(text="Hel"),
        part(text="lo."),
        sent(serverContent={"generationComplete": True}),
        sent(serverContent={"turnComplete": True}, usageMetadata=COUNTED),
    )

    assert (request.api, request.model) == ("gemini_live", "gemini-live")
    assert request.messages == [{"role": "system", "content": {"parts": [{"text": "Help."}]}}, TURN]
    assert (said.text, said.finish, said.complete) == ("Hello.", "stop", True)
    assert said.usage is not None
    assert (said.usage.input_total, said.usage.output_total, said.usage.reasoning) == (9, 6, 2)


def test_of_sound_the_words_are_read() -> None:
    _, said = ask(
        opened(),
        sent(clientContent={"turns": TURN, "turnComplete": True}),
        part(inlineData={"mimeType": "audio/pcm", "data": "AAAA"}),
        sent(serverContent={"outputTranscription": {"text": "Hello."}}),
        sent(serverContent={"turnComplete": True}),
    )
    assert (said.text, said.complete) == ("Hello.", True)


def test_a_call_of_a_tool_ends_an_answer_and_its_result_asks_again() -> None:
    api = opened()
    called = {"functionCalls": [{"id": "f1", "name": "buy", "args": {"id": 3}}]}
    _, said = ask(
        api,
        sent(clientContent={"turns": [TURN], "turnComplete": True}),
        sent(toolCall=called, usageMetadata=COUNTED),
    )
    assert [(it.id, it.name) for it in said.tool_calls] == [("f1", "buy")]
    result = {"functionResponses": [{"id": "f1", "name": "buy", "response": {"done": True}}]}
    request, said = ask(
        api,
        sent(toolResponse=result),
        part(text="Done."),
        sent(serverContent={"turnComplete": True}),
    )
    assert said.text == "Done."
    assert "functionResponse" in json.dumps(request.messages)


def test_what_is_no_answer_is_none() -> None:
    api = opened()
    assert api.request(sent(clientContent={"turns": [TURN]})) is None
    for message in (
        sent(serverContent={"turnComplete": True}, usageMetadata=COUNTED),
        sent(serverContent={"interrupted": True}),
        sent(usageMetadata=COUNTED),
        sent(goAway={"timeLeft": "10s"}),
    ):
        event = api.event(message)
        assert event is None or not event.begins


def test_an_answer_to_a_voice_is_begun_by_the_server() -> None:
    api = opened()
    assert api.request(sent(realtimeInput={"audio": {"data": "AAAA"}})) is None
    assert api.request(sent(realtimeInput={"text": "typed"})) is None
    events = [api.event(part(text=word)) for word in ("Hel", "lo")]
    assert all(isinstance(it, SocketEvent) for it in events)
    assert [it is not None and it.begins is not None for it in events] == [True, False]


@given(st.binary())
def test_no_message_makes_reading_fail(message: bytes) -> None:
    api = LiveSocket(PATH)
    api.request(message)
    api.event(message)
