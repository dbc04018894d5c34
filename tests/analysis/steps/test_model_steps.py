import msgspec
import pytest
from pydantic import JsonValue

from tests.analysis.builders import Story
from warex.analysis.steps.model_steps import ModelStep, steps
from warex.llm.base import Finish
from warex.traces.events import Entry, LlmCall


def _steps(story: Story) -> tuple[ModelStep, ...]:
    return steps(Entry(n, t, "", event) for n, (t, event) in enumerate(story.events, 1))


def _says(*messages: JsonValue) -> JsonValue:
    return list(messages)


def test_a_step_knows_its_page_its_faults_and_its_actions() -> None:
    story = Story().thinks(1, "goto", arguments=["https://shop.example/"]).fault(1)
    one, two = _steps(story.thinks(2, "reload").page("x2"))

    assert (one.seq, one.page, one.faults) == (1, "", ())
    assert one.actions == ("goto('https://shop.example/')",)
    assert (two.page, two.faults, two.answer) == (
        "https://shop.example/: 500 by warex",
        ("i1",),
        "reload()",
    )


def test_only_what_the_prompt_before_did_not_say_is_new() -> None:
    first = _says({"role": "system", "content": "Act."}, {"role": "user", "content": "a\n\nb"})
    second = _says({"role": "system", "content": "Act."}, {"role": "user", "content": "a\nc"})
    one, two = _steps(Story().thinks(1, None, messages=first).thinks(2, None, messages=second))

    assert [(m.role, m.lines) for m in one.prompt] == [("system", ("Act.",)), ("user", ("a", "b"))]
    assert [(m.role, m.lines) for m in two.prompt] == [("user", ("c",))]
    assert one.characters == 9


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "seen"},
        {"role": "user", "content": [{"type": "text", "text": "seen"}]},
        {"role": "user", "content": [{"type": "input_text", "text": "seen"}]},
        {"role": "user", "content": [{"type": "tool_result", "content": [{"text": "seen"}]}]},
        {"role": "user", "parts": [{"text": "seen"}]},
        {"role": "user", "type": "function_call_output", "output": "seen"},
    ],
)
def test_the_words_are_found_in_the_form_of_every_api(message: JsonValue) -> None:
    (step,) = _steps(Story().thinks(1, None, messages=_says(message)))

    assert [(m.role, m.lines) for m in step.prompt] == [("user", ("seen",))]


@pytest.mark.parametrize(
    "message",
    [
        {"content": [{"type": "tool_use", "id": "t", "name": "go", "input": {"url": "x"}}]},
        {"content": [{"toolUse": {"toolUseId": "t", "name": "go", "input": {"url": "x"}}}]},
        {"parts": [{"functionCall": {"name": "go", "args": {"url": "x"}}}]},
        {"tool_calls": [{"function": {"name": "go", "arguments": {"url": "x"}}}]},
        {"parts": [{"functionResponse": {"name": "go", "response": {"url": "x"}}}]},
        {"parts": [{"functionResponse": {"name": "go", "response": {"output": {"url": "x"}}}}]},
        {"content": [{"toolResult": {"content": [{"text": "go"}, {"json": {"url": "x"}}]}}]},
        {"name": "go", "type": "computer_call", "action": {"url": "x"}},
    ],
)
def test_what_a_tool_is_given_and_gives_back_is_shown_for_every_api(message: JsonValue) -> None:
    (step,) = _steps(Story().thinks(1, None, messages=_says(message)))

    assert [m.lines for m in step.prompt] == [("go", "url: x")]


def test_numbers_of_a_tools_data_are_shown_and_those_of_a_message_are_not() -> None:
    click: JsonValue = {"action": "left_click", "coordinate": [3, 4.5], "held": True, "by": None}
    answer: JsonValue = {
        "index": 7,
        "content": [{"type": "tool_use", "name": "go", "input": click}],
    }
    (step,) = _steps(Story().thinks(1, None, messages=_says(answer)))

    (message,) = step.prompt
    assert message.lines == (
        *("go", "action: left_click", "coordinate: 3", "coordinate: 4.5", "held: true"),
    )


def test_an_image_is_named_by_its_blob() -> None:
    image: JsonValue = {"type": "image_url", "image_url": {"url": "blob:sha256/ab"}}
    (step,) = _steps(Story().thinks(1, None, messages=_says({"role": "user", "content": [image]})))

    assert step.prompt[0].lines == ("[image sha256/ab]",)


def test_a_message_of_any_depth_is_read() -> None:
    deep: JsonValue = "end"
    for _ in range(5000):
        deep = [deep]
    (step,) = _steps(Story().thinks(1, None, messages=_says({"role": "user", "content": deep})))

    assert step.prompt[0].lines == ("end",)


@pytest.mark.parametrize(
    ("finish", "text"),
    [
        (None, ""),
        ("stop", ""),
        ("tool_calls", ""),
        ("length", "stopped at the limit of tokens"),
        ("refusal", "refused to help"),
        ("content_filter", "stopped by a content filter"),
        ("cut", "cut off before its end"),
    ],
)
def test_an_answer_that_did_not_end_as_it_should_says_how_it_did(
    finish: Finish | None, text: str
) -> None:
    events = [event for _, event in Story().thinks(1, None).events]
    (call,) = (event for event in events if isinstance(event, LlmCall))
    ended = msgspec.structs.replace(call, finish=finish)

    (step,) = steps([Entry(1, 0.0, "", ended)])

    assert step.error == text


def test_an_agent_without_a_browser_has_requests_and_no_page() -> None:
    shop = "https://shop.example/"
    story = Story().thinks(1, None).asks("x1", resource="other").gets("x1", 500)
    one, two = _steps(story.thinks(2, None))

    assert (one.page, one.request) == ("", "")
    assert (two.page, two.request) == ("", f"GET {shop}: 500")


def test_without_a_vocabulary_actions_are_read_by_their_names() -> None:
    code = "<code>\nprint(visit_webpage(url='https://shop.example/'))\n</code>"
    one, two = _steps(Story().thinks(1, None, answer=code).thinks(2, None, answer="Well."))

    assert one.actions == ("visit_webpage({'url': 'https://shop.example/'})",)
    assert (two.actions, two.is_answered) == ((), True)
