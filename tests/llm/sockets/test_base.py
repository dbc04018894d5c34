from warex.llm.sockets.base import Conversation, without_media


def test_an_answer_is_to_what_was_said_since_the_last() -> None:
    said = Conversation("openai_realtime", "m")
    said.system, said.session = "Be kind.", "sess_1"
    said.add([{"n": 1}])
    first, second = said.ask(), said.ask()

    assert first.messages == [{"role": "system", "content": "Be kind."}, {"n": 1}]
    assert second.messages == [{"role": "system", "content": "Be kind."}]
    assert (first.continues, first.stream, first.model) == ("sess_1", True, "m")
    assert first.body_digest != second.body_digest


def test_what_is_said_without_end_is_not_kept_without_end() -> None:
    said = Conversation("openai_realtime", "m")
    for _ in range(30):
        said.add([{}] * 100)

    assert len(said.ask().messages) == 1000


def test_long_sound_is_only_described() -> None:
    item = {"content": [{"type": "input_audio", "audio": "a" * 2000, "text": "b" * 200}]}

    assert without_media(item, ("audio",)) == {  # type: ignore[arg-type]
        "content": [{"type": "input_audio", "audio": "<2,000 characters>", "text": "b" * 200}]
    }
