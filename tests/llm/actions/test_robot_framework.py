import pytest

from warex.llm.actions.base import Code, CodeCall
from warex.llm.actions.robot_framework import MOST_CODE, robot_calls

KEYWORDS = "*** Keywords ***\nLoad Again\n    Reload Page\n    Sleep    1s\n"


def _read(body: str, before: str = "") -> list[tuple[str, str, tuple[str, ...]]]:
    calls = robot_calls(f"{before}*** Tasks ***\nBuy\n{body}") or ()
    return [
        (call.context, call.name, call.arguments) for call in calls if isinstance(call, CodeCall)
    ]


@pytest.mark.parametrize(
    ("body", "calls"),
    [
        ("    Reload Page", [("", "reload_page", ())]),
        ("    Browser.Click    text=Buy", [("", "click", ("text=Buy",))]),
        ("    ${t}=    Get Text    h1", [("", "get_text", ("h1",))]),
        ("    Go To\n    ...    https://a.example/", [("", "go_to", ("https://a.example/",))]),
        ("    # Reload Page\n    Go Back    # Reload Page", [("", "go_back", ())]),
        ("    [Setup]    Reload Page\n    [Tags]    x", [("", "reload_page", ())]),
        ("    Set Test Variable    ${A}    b", []),
        (
            "    IF    ${x}\n        Go Back\n    ELSE\n        Reload\n    END\n    Press    a",
            [("branch", "go_back", ()), ("branch", "reload", ()), ("", "press", ("a",))],
        ),
        (
            "    TRY\n        Go Back\n    EXCEPT\n        Reload\n    END",
            [("", "go_back", ()), ("handler", "reload", ())],
        ),
        ("    Run Keyword If    ${x}    Go Back", [("branch", "go_back", ())]),
        (
            "    Wait Until Keyword Succeeds    3x    1s    Reload Page",
            [("loop", "reload_page", ())],
        ),
    ],
)
def test_the_keywords_of_a_task_are_read_in_order(
    body: str, calls: list[tuple[str, str, tuple[str, ...]]]
) -> None:
    assert _read(body) == calls


def test_a_keyword_of_the_text_is_read_where_it_is_called() -> None:
    assert _read("    Load Again", KEYWORDS) == [
        ("", "reload_page", ()),
        ("", "sleep", ("1s",)),
    ]
    assert _read("    Go Back", KEYWORDS) == [("", "go_back", ())]


def test_a_script_of_the_page_is_code() -> None:
    calls = robot_calls("*** Tasks ***\nA\n    Execute JavaScript    location.reload()")

    assert calls == (Code("javascript", "location.reload()"),)


@pytest.mark.parametrize("text", ["", "prose", "*** Settings ***\nLibrary    Browser"])
def test_what_has_no_task_is_not_read(text: str) -> None:
    assert robot_calls(text) is None


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "fragment",
    ["    IF\n", "    A    A\n", "*** Keywords ***\nA\n    A\n    A\n", "* ", "${", "... ", " | "],
)
def test_a_hostile_text_is_read_in_time(fragment: str) -> None:
    calls = robot_calls("*** Tasks ***\nA\n" + fragment * ((MOST_CODE - 20) // len(fragment)))

    assert len(calls or ()) <= 200
