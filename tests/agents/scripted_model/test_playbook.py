import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from warex.agents.scripted_model.playbook import (
    LOST,
    PlaybookError,
    PlaybookPlayer,
    ScriptedAnswer,
    load,
)
from warex.agents.scripted_model.server import ScriptedModel

if TYPE_CHECKING:
    # Listing tests does without: it takes a second to load.
    import openai

TOOL = {"tool": "click", "arguments": {"index": "$bid", "note": 'a "quoted" $bid'}}
RULES: list[dict[str, Any]] = [
    {"when": ["goal: buy", "thanks"], "say": ["done"]},
    {
        "when": ["goal: buy"],
        "last": [r"\[(?P<bid>\d+)\]"],
        "say": ["click $bid", "wait", "stop $5"],
    },
    {"when": ["as JSON"], "say": [{"json": {"action": ["$what"], "n": 1}}]},
    {"when": ["by tool (?P<bid>.*)"], "unless": ["never"], "say": [TOOL]},
]


def written(folder: Path, rules: Any) -> Path:
    path = folder / "playbook.json"
    path.write_text(json.dumps({"rules": rules}))
    return path


@pytest.fixture
def playbook(tmp_path: Path) -> PlaybookPlayer:
    return load(written(tmp_path, RULES))


def asked(*texts: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text} for text in texts]


def test_the_first_rule_that_fits_answers_with_what_its_patterns_found(
    playbook: PlaybookPlayer,
) -> None:
    assert playbook.answer("1", asked("goal: buy", "[3] and [7]")) == ScriptedAnswer("click 7")
    assert playbook.answer("2", asked("goal: buy, thanks", "[7]")) == ScriptedAnswer("done")


def test_answers_come_one_after_the_other_and_the_last_one_stays(playbook: PlaybookPlayer) -> None:
    messages = [playbook.answer(str(n), asked("goal: buy", "[1]")).text for n in range(4)]

    assert messages == ["click 1", "wait", "stop $5", "stop $5"]


def test_a_request_that_is_sent_again_gets_the_same_answer_again(playbook: PlaybookPlayer) -> None:
    messages = [playbook.answer(name, asked("goal: buy", "[1]")).text for name in "aab"]

    assert messages == ["click 1", "click 1", "wait"]


def test_a_last_pattern_looks_at_the_last_message_alone(playbook: PlaybookPlayer) -> None:
    assert playbook.answer("1", asked("goal: buy [1]", "nothing")) == ScriptedAnswer(LOST)


def test_unless_keeps_a_rule_out(playbook: PlaybookPlayer) -> None:
    assert playbook.answer("1", asked("by tool 4, never")) == ScriptedAnswer(LOST)


def test_captured_text_is_escaped_in_json(playbook: PlaybookPlayer) -> None:
    answer = playbook.answer("1", asked('by tool "x\\'))

    assert answer.tool == "click"
    assert json.loads(answer.arguments) == {"index": '"x\\', "note": 'a "quoted" "x\\'}


@pytest.mark.parametrize(
    "rules", [None, [{}], [{"say": []}], [{"when": ["("], "say": ["x"]}], [{"say": [{"tol": 1}]}]]
)
def test_what_is_not_a_playbook_is_refused(tmp_path: Path, rules: Any) -> None:
    with pytest.raises(PlaybookError, match="is not a playbook"):
        load(written(tmp_path, rules))


@pytest.fixture
def address(playbook: PlaybookPlayer) -> Iterator[str]:
    with ScriptedModel(playbook) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/api/v1"
        server.shutdown()
        thread.join()


@pytest.fixture
def client(address: str) -> "Iterator[openai.OpenAI]":
    import openai

    with openai.OpenAI(base_url=address, api_key="none", max_retries=0) as client:
        yield client


@pytest.mark.wire
def test_any_model_answers_under_any_prefix_with_its_tokens(client: "openai.OpenAI") -> None:
    answer = client.chat.completions.create(
        model="gpt-4o", messages=[{"role": "user", "content": "goal: buy [7]"}]
    )

    assert answer.model == "gpt-4o"
    assert answer.choices[0].message.content == "click 7"
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (4, 2)


@pytest.mark.wire
@pytest.mark.parametrize("stream", [False, True])
def test_a_tool_is_called_whole_and_streamed(client: "openai.OpenAI", stream: bool) -> None:
    messages: Any = [{"role": "user", "content": "by tool 4"}]
    wanted = {"index": "4", "note": 'a "quoted" 4'}
    if stream:
        pieces = client.chat.completions.create(model="m", messages=messages, stream=True)
        choices = [piece.choices[0] for piece in pieces]
        (call,) = [each for c in choices if c.delta.tool_calls for each in c.delta.tool_calls]
        assert call.function is not None
        name, arguments, finish = call.function.name, call.function.arguments, choices[-1]
        assert finish.finish_reason == "tool_calls"
    else:
        (choice,) = client.chat.completions.create(model="m", messages=messages).choices
        assert choice.finish_reason == "tool_calls"
        assert choice.message.tool_calls is not None
        function = choice.message.tool_calls[0].function  # type: ignore[union-attr] # no custom one
        name, arguments = function.name, function.arguments
    assert name == "click"
    assert json.loads(arguments or "") == wanted


@pytest.mark.wire
def test_a_structured_answer_is_json_in_the_text(client: "openai.OpenAI") -> None:
    answer = client.chat.completions.create(
        model="m",
        messages=[{"role": "user", "content": "as JSON"}],
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "agent_output", "schema": {"type": "object"}},
        },
    )

    assert json.loads(answer.choices[0].message.content or "") == {"action": ["$what"], "n": 1}


@pytest.mark.wire
def test_what_is_not_a_chat_is_refused(address: str) -> None:
    with httpx.Client(trust_env=False) as http:
        assert http.post(f"{address}/embeddings", json={}).status_code == 404
        assert http.post(f"{address}/chat/completions", json={}).status_code == 400


@pytest.mark.wire
def test_each_api_is_spoken_over_its_own_path(address: str) -> None:
    asked = {"model": "claude", "max_tokens": 9, "stream": True}
    sent = {**asked, "messages": [{"role": "user", "content": "goal: buy [7]"}]}
    parts = [{"text": "goal: buy [8]"}]
    with httpx.Client(base_url=address, trust_env=False) as http:
        claude = http.post("/messages", json=sent)
        gemini = http.post(
            "/models/gemini:streamGenerateContent?alt=sse",
            json={"contents": [{"role": "user", "parts": parts}]},
        )

    assert claude.headers["content-type"].startswith("text/event-stream")
    assert "event: message_stop" in claude.text
    messages = [
        json.loads(line[6:]) for line in claude.text.splitlines() if line.startswith("data: ")
    ]
    assert "".join(each.get("delta", {}).get("text", "") for each in messages) == "click 7"
    assert gemini.status_code == 200
    assert "finishReason" in gemini.text
