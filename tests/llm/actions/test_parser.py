import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.llm import LlmAnswer, ToolCall
from warex.llm.actions.base import Action
from warex.llm.actions.parser import parse_actions
from warex.llm.actions.vocabulary import SubtaskDepth, Vocabulary

BROWSER = Vocabulary(
    name="browser",
    navigate=("goto", "go_back", "reload", "go_to_url", "GoBack"),
    recover=("goto", "go_back", "reload", "go_to_url", "GoBack"),
    retry=("reload",),
    finish=("send_msg_to_user", "report_infeasible", "stop", "done", "ANSWER"),
    infeasible=("report_infeasible",),
    noop=("noop", "Wait"),
    other=("click", "fill", "scroll", "select_option", "type", "Click", "Type", "Scroll"),
)


def _read(text: str, *calls: ToolCall) -> tuple[Action, ...]:
    answer = LlmAnswer("m", text=text, tool_calls=calls, complete=True)
    return parse_actions(answer, BROWSER)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("click('12')", Action("click", ("12",))),
        ('I fill it in.\nfill("3", "a, b (c)")', Action("fill", ("3", "a, b (c)"))),
        ("```\nreload()\n```", Action("reload")),
        ("```python\nfill('3', '')\n```", Action("fill", ("3", ""))),
        ("<think>click('1')</think>\n<action>\nclick('2')\n</action>", Action("click", ("2",))),
        ("select_option('4', ['a', 'b'])", Action("select_option", ("4", "['a', 'b']"))),
        ("scroll(0, -200.5)", Action("scroll", ("0", "-200.5"))),
        ("scroll(delta_x=0, delta_y=200)", Action("scroll", {"delta_x": "0", "delta_y": "200"})),
        ("click('12', button='right')", Action("click", ("12", "right"))),
        ("send_msg_to_user('It's 5 o'clock')", Action("send_msg_to_user", ("It's 5 o'clock",))),
        ("send_msg_to_user('one\ntwo')", Action("send_msg_to_user", ("one\ntwo",))),
        (r"send_msg_to_user('it\'s\n5')", Action("send_msg_to_user", ("it's\n5",))),
        ('send_msg_to_user("""a "b" c""")', Action("send_msg_to_user", ('a "b" c',))),
        ("**Action:** `click('7')`", Action("click", ("7",))),
        ("click('7').", Action("click", ("7",))),
    ],
)
def test_calls_are_read(text: str, action: Action) -> None:
    assert _read(text) == (action,)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        (
            "Let's think. In summary, the next action I will perform is ```click [1234]```",
            Action("click", ("1234",)),
        ),
        ("```type [12] [red shoes] [1]```", Action("type", ("12", "red shoes", "1"))),
        ("```stop [N/A]```", Action("stop", ("N/A",))),
        ("```stop [one\ntwo]```", Action("stop", ("one\ntwo",))),
        ("```stop [a [b] c]```", Action("stop", ("a [b] c",))),
        ("```go_back```", Action("go_back")),
        ("REASON:\nIt is there.\nACTION:\nclick [7]", Action("click", ("7",))),
        ("Thought: I click.\nAction: Click [3]", Action("Click", ("3",))),
        ("Action: Click 3", Action("Click", ("3",))),
        ("Action: Type [3]; [hello world]", Action("Type", ("3", "hello world"))),
        ("Action: Type [3]; hello world", Action("Type", ("3", "hello world"))),
        ("Action: Scroll [WINDOW]; down", Action("Scroll", ("WINDOW", "down"))),
        ("Thought: bad page.\nAction: GoBack", Action("GoBack")),
        ("Action: ANSWER; [It is 5.]", Action("ANSWER", ("It is 5.",))),
        ("Action: ANSWER; It is 5", Action("ANSWER", ("It is 5",))),
    ],
)
def test_bracketed_actions_are_read(text: str, action: Action) -> None:
    assert _read(text) == (action,)


def test_the_type_that_a_computer_tool_is_given_is_its_action() -> None:
    call = ToolCall("1", "computer", '{"type": "click", "x": 3, "y": 4}')

    assert _read("", call) == (Action("click", {"x": 3, "y": 4}),)


@pytest.mark.parametrize(
    ("value", "actions"),
    [
        (
            {"thought": "x", "action": [{"go_to_url": {"url": "u"}}, {"done": {"text": "t"}}]},
            (Action("go_to_url", {"url": "u"}), Action("done", {"text": "t"})),
        ),
        ({"action": {"click": {"index": 3}, "done": None}}, (Action("click", {"index": 3}),)),
        ({"action": "click", "bid": "3"}, (Action("click", {"bid": "3"}),)),
        ({"action": "click('3')"}, (Action("click", ("3",)),)),
        ({"name": "click", "arguments": {"bid": "3"}}, (Action("click", {"bid": "3"}),)),
        ({"action": {"type": "click", "x": 3}}, (Action("click", {"x": 3}),)),
        ({"actions": [{"action": "click", "x": 3}]}, (Action("click", {"x": 3}),)),
        ({"action": [{"fly": {}}]}, ()),
        ({"action": [{"name": ["click"]}]}, ()),
        ({"type": "click"}, ()),
        ({"type": "no-such", "x": 3}, ()),
        (
            {"action": {"elementId": "0-7", "method": "fill", "arguments": ["milk"]}},
            (Action("fill", ("milk",)),),
        ),
        (
            {"elementId": "0-7", "method": "click", "arguments": [], "twoStep": False},
            (Action("click", {"elementId": "0-7", "twoStep": False}),),
        ),
        ({"action": None, "twoStep": False}, ()),
        ({"elements": [{"elementId": "0-7", "method": "click", "arguments": []}]}, ()),
        ({"click": "in a thought"}, ()),
    ],
)
def test_json_is_read_anywhere_in_a_text(value: object, actions: tuple[Action, ...]) -> None:
    text = json.dumps(value)
    assert _read(text) == actions
    assert _read(f"```json\n{text}\n```") == actions
    assert _read(f"Well then.\n{text}") == actions
    assert _read("", ToolCall("1", "AgentOutput", text)) == actions


def test_tool_calls_go_before_text() -> None:
    calls = ToolCall("1", "goto", '{"url": "u"}'), ToolCall("2", "reload", "")
    assert _read("click('1')", *calls) == (Action("goto", {"url": "u"}), Action("reload", {}))


@pytest.mark.parametrize(
    ("name", "text", "action"),
    [
        ("goto", "https://shop.example/", Action("goto", ("https://shop.example/",))),
        ("browser", "```python\nreload()\n```", Action("reload")),
    ],
)
def test_a_tool_that_is_given_plain_text_is_read(name: str, text: str, action: Action) -> None:
    assert _read("", ToolCall("1", name, text)) == (action,)


def test_what_the_api_ran_itself_is_not_an_action() -> None:
    assert _read("", ToolCall("1", "goto", '{"url": "u"}', by_server=True)) == ()


def test_all_actions_of_a_block_are_taken_in_order() -> None:
    block = "```\nfill('3', 'x')\nclick('4')\n```"
    assert _read(block) == (Action("fill", ("3", "x")), Action("click", ("4",)))
    assert _read("```\nclick [1]\nclick [2]\n```") == (
        Action("click", ("1",)),
        Action("click", ("2",)),
    )


@pytest.mark.parametrize(
    "text",
    [
        "I could click('1') or report_infeasible('x') here.\nclick('2')",
        "reload() would lose the form.\nclick('2')",
        "report_infeasible('never')\nNo, better:\nclick('2')",
        "```\nreload()\n```\nWrong; rather:\n```\nclick('2')\n```",
        "reload()\n<action>click('2')</action>",
    ],
)
def test_a_mention_in_a_thought_is_not_an_action(text: str) -> None:
    assert _read(text) == (Action("click", ("2",)),)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I will click the button.",
        "stop there",
        "fly('1')",
        "click(",
        "<think>reload()",
        "Click",
    ],
)
def test_prose_and_unknown_names_are_not_actions(text: str) -> None:
    vocabulary = BROWSER.model_copy(update={"other": ("click",)})
    assert parse_actions(LlmAnswer("m", text=text, complete=True), vocabulary) == ()


@pytest.mark.parametrize(("complete", "error"), [(False, None), (True, "HTTP 500: x")])
def test_an_answer_that_did_not_arrive_has_no_action(complete: bool, error: str | None) -> None:
    answer = LlmAnswer("m", text="click('1')", complete=complete, error=error)
    assert parse_actions(answer, BROWSER) == ()


def test_what_ends_a_subroutine_does_not_end_the_task() -> None:
    vocabulary = Vocabulary(name="stacked", calls=("find",), finish=("stop",), other=("click",))
    progress = SubtaskDepth()

    def ends(text: str) -> bool:
        answer = LlmAnswer("m", text=text, complete=True)
        return progress.ends(parse_actions(answer, vocabulary), vocabulary)

    messages = ["find [a]", "find [b]", "stop [1]", "click [2]", "stop [3]"]
    assert [ends(text) for text in messages] == [False] * 5
    assert ends("stop [4]")


_pieces = st.sampled_from(
    [*"()[]{}'\"`\n;,:= \\", "click", "stop", "```", "<action>", "</action>", "Action:", "<think>"]
)


@given(st.lists(_pieces).map("".join))
def test_no_text_makes_reading_fail(text: str) -> None:
    assert {action.name for action in _read(text)} <= {"click", "stop"}


def test_a_text_quoting_itself_is_read_in_time() -> None:
    for line in (
        "click(\n",
        "click('\n",
        'click("a\n',
        "{",
        "<action>",
        "``` ",
        "click [1\n",
        "\\",
    ):
        _read(line * (60_000 // len(line)))


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "text",
    [
        "click('''" + "\\" * 100_000,
        'click("""' + "\\" * 100_001,
        'click("a\n' * 12_501,
        "click(\n" * 15_000,
        "click(" + "a," * 50_000,
        ("click(" + "a," * 500 + "\n") * 100,
        "click" + " " * 100_000 + "x",
        "click [1]" + " " * 100_000 + "x",
        "click [1]" + " ]" * 50_000,
        "click [1] ; " + "." * 100_000 + "x",
        "click [" + "]" + " " * 100_000 + "x]",
        "```" * 33_334,
        "<action>" * 12_500,
        "<think>" * 12_500,
        "Action:" * 15_000,
        "{" * 100_000,
        "click(x=" + "=" * 100_000 + ")",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_a_long_answer_takes_no_time(text: str) -> None:
    _read(text)


def test_a_call_is_read_after_many_that_only_are_mentioned() -> None:
    prose = "click('1') is what I would do\n" * 1000

    assert _read(f"{prose}click('7')") == (Action("click", ("7",)),)
