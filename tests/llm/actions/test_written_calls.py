import json

import pytest

from warex.llm.actions.written_calls import written_calls

GO = ("go", {"url": "u"})


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('<tool_call>\n{"name": "go", "arguments": {"url": "u"}}\n</tool_call>', [GO]),
        ('<tool_call>{"name": "go", "arguments": "{\\"url\\": \\"u\\"}"}', [GO]),
        (
            '<tool_call>{"name": "go", "arguments": {"url": "u"}}</tool_call>\n'
            '<tool_call>{"name": "back"}</tool_call>',
            [GO, ("back", {})],
        ),
        (
            "<tool_call>go\n<arg_key>url</arg_key>\n<arg_value>u</arg_value>\n</tool_call>",
            [GO],
        ),
        ('<invoke name="go">\n<parameter name="url">u</parameter>\n</invoke>', [GO]),
        ('<a:invoke name="go"><a:parameter name="url">u</a:parameter></a:invoke>', [GO]),
        (
            "<tool_call>\n<function=go>\n<parameter=url>\nu\n</parameter>\n</function>\n</tool_call>",
            [GO],
        ),
        ('<function=go>{"url": "u"}</function>', [GO]),
        ('[TOOL_CALLS] [{"name": "go", "arguments": {"url": "u"}}]', [GO]),
        (
            "<|tool_call_begin|>functions.go:0<|tool_call_argument_begin|>"
            '{"url": "u"}<|tool_call_end|>',
            [GO],
        ),
        ('Thought: x\nAction: go\nAction Input: {"url": "u"}\n', [GO]),
        ('**Action:** `go`\n**Action Input:** {"url": "u"}\nObservation: Action: no', [GO]),
        ('Gedanke: x\nAktion: go\nAktionseingabe: {"url": "u"}\nBeobachtung: y', [GO]),
        ('Action : go\nEntrée de l\'action : {"url": "u"}', [GO]),
        ('行动\uff1ago\n行动输入\uff1a{"url": "u"}\n观察\uff1ay', [GO]),
        ("行動\uff1a再読み込み\n行動の入力\uff1a{}", [("再読み込み", {})]),
        ("Aktion: go\nMeinung: {}", []),
        ('Action: go\nAction Input:\n```json\n{"url": "u"}\n```', [GO]),
        ('```json\n{"thoughts": {}, "command": {"name": "go", "args": {"url": "u"}}}\n```', [GO]),
        ('{"tool": {"name": "go", "arguments": {"url": "u"}}}', [GO]),
        ("Now.\n<browser_action>\n<action>go</action>\n<url>u</url>\n</browser_action>", [GO]),
        (
            "<execute_command><command>ls</command></execute_command>",
            [("execute_command", {"command": "ls"})],
        ),
        ('{"name": "go", "arguments": {"url": "u"}}', [GO]),
        ('I go.\n{"functionCall": {"name": "go", "args": {"url": "u"}}}', [GO]),
        (
            '{"tool_calls": [{"function": {"name": "go", "arguments": "{\\"url\\": \\"u\\"}"}}]}',
            [GO],
        ),
        ('<tool name="back"></tool>', [("back", {})]),
        ('Plan.\n##FUNCTION go {"url": "u"}', [GO]),
        ("ELEMENT: link (3)\nACTION: CLICK\nVALUE: None", [("click", {"element": "link (3)"})]),
        ('```json\n{"command": "go"}\n```', []),
        ('{"name": "Anna", "age": 3}', []),
        ("<thinking_aloud>no child</thinking_aloud>", []),
        ("Action: click [1]", []),
        ("I call <tool_call> for that.", []),
        ("", []),
    ],
)
def test_a_call_that_is_written_into_the_text_is_found(
    text: str, calls: list[tuple[str, object]]
) -> None:
    assert [(call.name, json.loads(call.arguments)) for call in written_calls(text)] == calls


def test_the_input_of_a_tool_may_be_plain_text() -> None:
    (call,) = written_calls('Action: visit\nAction Input: "https://shop.example/"')

    assert (call.name, call.arguments) == ("visit", "https://shop.example/")


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('It failed.\n<action type="reload"/>', [("reload", {})]),
        ("<tool name='reload_page' />", [("reload_page", {})]),
        ('<invoke name="reload"/>', [("reload", {})]),
        ('<action name="click" id="9"></action>', [("click", {"id": "9"})]),
        ('<action type="click"><id>9</id></action>', [("click", {"id": "9"})]),
        ('<tool name="click"><element>9</element></tool>', [("click", {"element": "9"})]),
        ('<action type="goto">u</action>', [("goto", {"value": "u"})]),
        ("<action><name>goto</name><url>u</url></action>", [("goto", {"url": "u"})]),
        ("<action>reload</action>", [("reload", {})]),
        ("It failed.\n<reload/>\n", [("reload", {})]),
        ('<back/>\n<action type="reload"/>', [("back", {}), ("reload", {})]),
        ('<action type="reload"/>\n<back/>', [("reload", {}), ("back", {})]),
        ('<action type="swipe"/>\n<action type="reload"/>', [("swipe", {}), ("reload", {})]),
        ('<button id="9">Reload</button>\n<input type="text"/>\n<br/>', []),
        ('<action title="reload"/> <step name="first"/>', []),
        ("<note>reload</note>, not <reload/>", []),
    ],
)
def test_an_element_is_the_action_that_it_names(
    text: str, calls: list[tuple[str, dict[str, str]]]
) -> None:
    assert [(it.name, json.loads(it.arguments)) for it in written_calls(text)] == calls


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        '<invoke name="a">' + "<a>" * 30_000,
        '<invoke name="a">' + '<parameter name="x">' * 5000 + "</a>",
        "<action>" * 12_000,
        ("<action>" + "<a>" * 1000 + "</action>") * 25,
    ],
)
def test_unclosed_elements_do_not_take_long(text: str) -> None:
    assert len(written_calls(text)) <= 50


def test_json_within_an_element_may_hold_elements() -> None:
    (call,) = written_calls('<invoke name="fill">{"text": "<b>x</b>"}</invoke>')

    assert call.arguments == '{"text": "<b>x</b>"}'
