import pytest

from warex.llm.actions.applescript import MOST_CODE, applescript_calls
from warex.llm.actions.base import Code, CodeCall


def _read(source: str) -> list[tuple[str, str, tuple[str, ...]]]:
    return [
        (call.context, call.name, call.arguments)
        for call in applescript_calls(source) or ()
        if isinstance(call, CodeCall)
    ]


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        ('keystroke "r" using {command down, shift down}', [("", "key", ("command+shift+r",))]),
        ('tell application "X" to keystroke "r" using command down', [("", "key", ("command+r",))]),
        ('keystroke "ab"', [("", "type", ("ab",))]),
        ("key code 96", [("", "key", ("F5",))]),
        ("tell active tab of front window to reload", [("", "reload", ())]),
        ("reload active tab of window 1", [("", "reload", ())]),
        ("go back active tab of window 1", [("", "go_back", ())]),
        ('set URL of tab 1 to "https://a.example/"', [("", "goto", ("https://a.example/",))]),
        ("set u to URL of tab 1\nset URL of tab 1 to u", [("", "reload", ())]),
        ("set URL of tab 1 to (get URL of tab 1)", [("", "reload", ())]),
        ('open location "https://a.example/"', [("", "goto", ("https://a.example/",))]),
        (
            'make new tab with properties {URL:"https://a.example/"}',
            [("", "goto", ("https://a.example/",))],
        ),
        ('click button "Save" of window 1', [("", "click", ("Save",))]),
        ("delay 2", [("", "delay", ("2",))]),
        ("-- reload\n(* reload *)\n# reload\nkey code 36", [("", "key", ("enter",))]),
        ('display dialog "Shall I reload?"', []),
        ('tell application "Safari" to activate', []),
        ("on again()\nreload tab 1\nend again", []),
        (
            "if x then\nreload tab 1\nend if\ndelay 1",
            [("branch", "reload", ()), ("", "delay", ("1",))],
        ),
        ("repeat 3 times\nreload tab 1\nend repeat", [("loop", "reload", ())]),
        (
            "try\ngo back tab 1\non error\nreload tab 1\nend try",
            [("", "go_back", ()), ("handler", "reload", ())],
        ),
    ],
)
def test_statements_are_read_in_order(
    source: str, calls: list[tuple[str, str, tuple[str, ...]]]
) -> None:
    assert _read(source) == calls


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ('do JavaScript "a(\\"b\\")" in document 1', Code("javascript", 'a("b")')),
        ('execute front window\'s active tab javascript "a()"', Code("javascript", "a()")),
        ('do shell script "sleep 2"', Code("shell", "sleep 2")),
    ],
)
def test_code_within_a_script_is_code(source: str, code: Code) -> None:
    assert applescript_calls(source) == (code,)


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "fragment",
    ["(*", '"', "set URL of ", "execute ", "make new ", 'keystroke "', "if x then\n", "to ", "\\"],
)
def test_a_hostile_script_is_read_in_time(fragment: str) -> None:
    assert len(applescript_calls(fragment * (MOST_CODE // len(fragment))) or ()) <= 200
