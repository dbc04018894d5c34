import json

import pytest

from warex.llm.actions.base import Code
from warex.llm.actions.code_blocks import code_in_text, code_in_tool_call, read_code, without_code
from warex.llm.base import ToolCall


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("<code>\na()\n</code>", [Code("python", "\na()\n")]),
        ("<code>a()", [Code("python", "a()")]),
        ("<code>```python\na()\n```</code>", [Code("python", "a()\n")]),
        ("```py\na()\n```", [Code("python", "a()\n")]),
        (
            "```python\na()\n```\nthen\n```js\nb()\n```",
            [Code("python", "a()\n"), Code("javascript", "b()\n")],
        ),
        ("```bash\n$ a\n$ b\n```", [Code("shell", "a\nb\n")]),
        ("<execute_bash>a</execute_bash>", [Code("shell", "a")]),
        ("```robot\na\n```", [Code("robot", "a\n")]),
        ("*** Tasks ***\nA\n    B", [Code("robot", "*** Tasks ***\nA\n    B")]),
        ("```applescript\na\n```", [Code("applescript", "a\n")]),
        ("```json\n{}\n```", []),
        ("```\nclick [1]\n```", []),
        ("prose", []),
    ],
)
def test_code_in_a_known_language_is_found(text: str, code: list[Code]) -> None:
    assert list(code_in_text(text)) == code


def test_the_rest_of_a_text_is_known() -> None:
    assert without_code("so\n```py\na()\n```\nthen") == "so\n\nthen"


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("python", {"code": "a()"}, Code("python", "a()")),
        ("code_interpreter", {"input": "a()"}, Code("python", "a()")),
        (
            "execute",
            {"script": "await a.b()", "language": "TypeScript"},
            Code("javascript", "await a.b()"),
        ),
        ("execute", {"code": "a()"}, Code("python", "a()")),
        ("execute", {"code": "const x = 1; a()"}, Code("javascript", "const x = 1; a()")),
        ("execute", {"code": "x, y"}, None),
        ("bash", {"command": "a"}, Code("shell", "a")),
        ("bash", {"cmd": ["a", "b c"]}, Code("shell", "a 'b c'")),
        ("shell_call", {"action": {"commands": ["a", "b c"]}}, Code("shell", "a\nb c")),
        ("do", {"command": "a b"}, Code("shell", "a b")),
        ("do", {"command": "a"}, None),
        ("type", {"input": "a b"}, None),
        ("click", {"x": 1}, None),
        ("bash", [], Code("shell", "[]")),
    ],
)
def test_the_code_of_a_tool_call_is_found(name: str, arguments: object, code: Code | None) -> None:
    assert code_in_tool_call(ToolCall("1", name, json.dumps(arguments))) == code


@pytest.mark.parametrize(
    ("code", "names"),
    [
        (Code("python", "page.evaluate('location.reload()')"), ["location.reload"]),
        (Code("python", "import os\nos.system('curl a.example')"), ["curl"]),
        (Code("python", "subprocess.run(['bash', '-c', 'curl a.example'])"), ["curl"]),
        (Code("shell", "bash -c \"python -c 'a()'\""), ["a"]),
        (Code("python", "page.evaluate('not javascript at all')"), ["page.evaluate"]),
    ],
)
def test_code_within_code_is_read(code: Code, names: list[str]) -> None:
    assert [call.full_name for call in read_code((code,)) or ()] == names


def test_code_that_cannot_be_read_is_distinguished_from_code_without_calls() -> None:
    assert read_code(()) is None
    assert read_code((Code("python", "no code"),)) is None
    assert read_code((Code("python", "no code"), Code("python", "x = 1"))) == ()


def test_code_inside_a_loop_is_marked() -> None:
    (call,) = read_code((Code("shell", "for i in 1 2; do python -c 'a()'; done"),)) or ()

    assert call.context == "loop"


def test_pieces_of_python_are_run_by_one_interpreter() -> None:
    pieces = [Code("python", "page_url = 'https://shop.example/'"), Code("python", "go(page_url)")]

    (call,) = read_code(pieces) or ()

    assert call.arguments == ("https://shop.example/",)
    assert [call.arguments for call in read_code(reversed(pieces)) or ()] == [("page_url",)]
