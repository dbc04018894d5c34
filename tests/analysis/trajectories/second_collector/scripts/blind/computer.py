# ruff: noqa: E501  (What a model says stays on one line.)
"""Computer use in four forms: Gemini's functions, UI-TARS' text, Anthropic's and OpenAI's tool."""

from typing import Any

from tests.analysis.trajectories.second_collector.cases import (
    Say,
    Script,
    Variant,
    answers,
    rule,
    tool,
)
from tests.analysis.trajectories.second_collector.sites.blind import desks, ferry, records

_R = records.BASE
_F = ferry.BASE
_D = f"https://{desks.host('de')}"
_RECORDS = {records.HOST: records.page}


def _at(name: str, words: str = "") -> Say:
    """Return a click in Gemini's form."""
    return tool("click_at", words, x=f"@x:{name}", y=f"@y:{name}")


def _keys(keys: str, words: str = "") -> Say:
    return tool("key_combination", words, keys=keys)


def _tars(action: str, thought: str = "") -> str:
    return f"Thought: {thought}\nAction: {action}"


def _tap(name: str, thought: str = "") -> str:
    return _tars(f"click(start_box='(@place:{name})')", thought)


def _a(action: str, words: str = "", /, **options: Any) -> Say:
    return tool("computer", words, action=action, **options)


def _o(kind: str, words: str = "", /, **options: Any) -> Say:
    return tool("computer", words, type=kind, **options)


def _retry_page(label: str) -> str:
    return f"<title>503</title><h1>503</h1><p><button id=once onclick='location.reload()'>{label}</button>"


_PIER = Script(
    "bu-gemini", ("computer_use", "spa"), "blind.computer", {"format": "gemini"}, {ferry.HOST: ferry.page},
    f"Tell when the North line departs. {_F}/",
    [
        ("", tool("navigate", "I open the ferries.", url=f"{_F}/")),
        ("North line", _at("north", "I choose the North line.")),
        (r"Departs (\d+:\d+)", Say("The North line departs at %FOUND%.")),
    ],
    Say("I couldn't get the departure, because the ferries' page did not work."),
    answers("07:40"),
    [
        Variant("m", [rule("http_error", f"{_F}/", status=503), rule("http_error", f"{_F}/data/lines.json", status=502), rule("http_error", f"{_F}/data/line/north", status=500)], [tool("wait_5_seconds", "Service unavailable. I wait."), tool("navigate", "And open it again.", url=f"{_F}/"), _keys("control+r", "The timetable is unavailable. I reload."), _at("retry", "The page has a Retry button; I click it.")]),
        Variant("c", [rule("connection_cut", f"{_F}/data/line/north")], [tool("go_back", "I return to the list."), _at("north", "I choose it again.")]),
        Variant("e", [rule("http_error", f"{_F}/data/line/north", times={"always": True}, status=500)], [_at("retry", "Retry."), tool("wait_5_seconds", "It cannot be shown.")], Say("The North line departs at 07:30.")),
    ],
)  # fmt: skip

_TARS = Script(
    "bu-tars", ("computer_use",), "blind.computer", {"format": "tars", "start": f"{_R}/disc/dusk"}, _RECORDS,
    "Put the record on the screen into the basket.",
    [
        ("DQ-881", _tap("add", "The button is below the price.")),
        ("In the basket: Dusk", _tars("finished(content='Dusk Quartet is in the basket.')", "Done.")),
    ],
    _tars("call_user(content='The shop shows an error, I cannot put the record into the basket.')", "I need help."),
    lambda world, message: world.reserved == ["dusk"],
    [
        Variant("m", [rule("http_error", f"{_R}/disc/dusk", status=500), rule("http_error", f"{_R}/basket", method=["POST"], status=500), rule("http_error", f"{_R}/basket", method=["GET"], status=503, body=_retry_page("Try again"))], [_tars("hotkey(key='f5')", "An error page. Press F5."), _tars("hotkey(key='alt left')", "An error. Back."), _tap("add", "Click the button once more."), _tap("once", "There is a button: Try again.")]),
        Variant("d", [rule("popup", f"{_R}/disc/dusk"), rule("http_error", f"{_R}/basket", method=["POST"], status=502)], [_tars("wait()", "A gateway error. Wait.")]),
    ],
)  # fmt: skip

_GERMAN = Script(
    "bu-de", ("computer_use", "languages"), "computer", {"api": "anthropic", "start": f"{_D}/desk"}, {desks.host("de"): desks.page},
    "Kaufe eine Karte für das Museum auf dem Bildschirm.",
    [
        ("", _a("screenshot", "Ich sehe mir den Bildschirm an.")),
        ("Karte: 11", _a("left_click", "Ich klicke auf Karte kaufen.", coordinate="@at:buy")),
        ("✓", Say("Die Karte wurde gekauft.")),
    ],
    Say("Der Kauf ist leider fehlgeschlagen; ich breche ab."),
    lambda world, message: len(world.orders) == 1,
    [
        Variant("m", [rule("http_error", f"{_D}/desk", status=503, body=_retry_page("Erneut versuchen")), rule("http_error", f"{_D}/tickets", method=["POST"], status=500)], [_a("left_click", "Dort steht »Erneut versuchen«.", coordinate="@at:once"), _a("key", "Ein Serverfehler. Zurück.", text="alt+Left"), _a("left_click", "Noch einmal kaufen.", coordinate="@at:buy")]),
        Variant("c", [rule("http_error", f"{_D}/tickets/done", status=500)], [_a("left_click", "Eine Fehlerseite.", coordinate=[400, 400])], Say("Die Karte wurde gekauft.")),
        Variant("d", [rule("connection_cut", f"{_D}/desk", times=2)], [_a("key", "Nicht erreichbar. F5.", text="F5"), _a("key", "Noch einmal.", text="ctrl+r")]),
    ],
)  # fmt: skip

_WISH = Script(
    "bu-openai", ("computer_use",), "computer", {"api": "responses", "start": f"{_R}/wishes"}, _RECORDS,
    "Log in as ann and tell me the voucher.",
    [
        ("", _o("screenshot")),
        ("Log in", _o("click", x="@x:name", y="@y:name", button="left")),
        ("Log in", _o("type", text="ann")),
        ("Log in", _o("keypress", keys=["ENTER"])),
        (r"Voucher: (WX-\d+)", Say("Your voucher: %FOUND%")),
    ],
    Say("I ran into an error after logging in, so I can't tell you the voucher."),
    answers("WX-55"),
    [
        Variant("m", [rule("http_error", f"{_R}/wishes", times={"nth": [1, 3]}, status=500), rule("http_error", f"{_R}/login*", method=["POST"], status=503)], [_o("keypress", "", keys=["CTRL", "R"]), _o("keypress", "", keys=["CTRL", "R"]), _o("keypress", "", keys=["ENTER"]), _o("keypress", "", keys=["CTRL", "L"]), _o("type", "", text=f"{_R}/wishes\n")]),
        Variant("d", [rule("http_error", f"{_R}/wishes", times={"nth": [2, 3]}, status=500)], [_o("keypress", "", keys=["F5"]), _o("wait")], None),
    ],
)  # fmt: skip

SCRIPTS = [_PIER, _TARS, _GERMAN, _WISH]
