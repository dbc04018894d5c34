import json
from collections.abc import Mapping

import pytest
from pydantic import JsonValue

from warex.llm.actions.guess import guess_actions
from warex.llm.actions.name_heuristics import action_kind, action_kind_with_arguments
from warex.llm.base import ToolCall


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("reload", "reload"),
        ("refresh_page", "reload"),
        ("browser_reload", "reload"),
        ("RefreshPage", "reload"),
        ("goto", "goto"),
        ("go_to_url", "goto"),
        ("browser_navigate", "goto"),
        ("openPage", "goto"),
        ("new_tab", "goto"),
        ("go_back", "back"),
        ("GoBack", "back"),
        ("browser_navigate_back", "back"),
        ("click_element_by_index", "click"),
        ("browser_press_key", "click"),
        ("send_keys", "click"),
        ("input_text", "type"),
        ("browser_wait_for", "wait"),
        ("wait_for_load", "wait"),
        ("ANSWER", "finish"),
        ("send_msg_to_user", "finish"),
        ("scroll_down", "look"),
        ("seite_neu_laden", "reload"),
        ("recharger_page", "reload"),
        ("recargar_pagina", "reload"),
        ("刷新页面", "reload"),
        ("frobnicate", None),
        ("total", None),
    ],
)
def test_the_kind_of_an_action_is_known_by_its_name(name: str, what: str | None) -> None:
    assert action_kind(name) == what


# The actions of Anthropic's computer tool, OpenAI's computer_call, Gemini's predefined functions.
@pytest.mark.parametrize(
    ("name", "arguments", "what"),
    [
        ("computer", {"action": "left_click", "coordinate": [1, 2]}, "click"),
        ("computer", {"action": "left_mouse_down"}, "click"),
        ("computer", {"action": "key", "text": "F5"}, "reload"),
        ("computer", {"action": "key", "text": "ctrl+shift+R"}, "reload"),
        ("computer", {"action": "key", "text": "Control_L+r"}, "reload"),
        ("computer", {"action": "key", "text": "alt+Left"}, "back"),
        ("computer", {"action": "key", "text": "Return"}, "click"),
        ("computer", {"action": "key", "text": "r"}, "click"),
        ("computer", {"action": "type", "text": "F5"}, "type"),
        ("computer", {"action": "mouse_move", "coordinate": [1, 2]}, "look"),
        ("computer", {"action": "cursor_position"}, "look"),
        ("computer", {"action": "zoom", "region": [0, 0, 9, 9]}, "look"),
        ("computer", {"action": "screenshot"}, "look"),
        ("computer", {"action": "wait", "duration": 2}, "wait"),
        ("left_click", {"coordinate": [1, 2]}, "click"),
        ("key", {"text": "cmd+r"}, "reload"),
        ("computer", {"action": "click", "button": "left", "x": 1, "y": 2}, "click"),
        ("computer", {"action": "click", "button": "back", "x": 0, "y": 0}, "back"),
        ("computer", {"action": "keypress", "keys": ["CTRL", "R"]}, "reload"),
        ("computer", {"action": "keypress", "keys": ["F5"]}, "reload"),
        ("computer", {"action": "keypress", "keys": ["ENTER"]}, "click"),
        ("computer", {"action": "wait"}, "wait"),
        ("computer", {"actions": [{"type": "keypress", "keys": ["CTRL", "R"]}]}, "reload"),
        ("navigate", {"url": "https://shop.example/"}, "goto"),
        ("open_web_browser", {}, "goto"),
        ("search", {}, "goto"),
        ("go_back", {}, "back"),
        ("go_forward", {}, "back"),
        ("click_at", {"x": 1, "y": 2}, "click"),
        ("type_text_at", {"x": 1, "y": 2, "text": "F5", "press_enter": True}, "type"),
        ("hover_at", {"x": 1, "y": 2}, "look"),
        ("scroll_document", {"direction": "down"}, "look"),
        ("wait_5_seconds", {}, "wait"),
        ("key_combination", {"keys": "control+r"}, "reload"),
        ("key_combination", {"keys": "Enter"}, "click"),
        ("press_key", {"key": "F5"}, "reload"),
        ("hotkey", {"key": "ctrl r"}, "reload"),
        ("browser_press_key", {"key": "BrowserBack"}, "back"),
        ("mcp__some-server__navigate_page", {"url": "https://shop.example/"}, "goto"),
        ("mcp__some-server__navigate_page", {"type": "reload"}, "reload"),
        ("openurl", {"url": "https://shop.example/", "timeout": 3}, "goto"),
        ("get", {"url": "https://shop.example/"}, "goto"),
        ("dwell_upon", {"destination": "https://shop.example/"}, "goto"),
        ("browser_tabs", {"action": "new", "url": "https://shop.example/"}, "goto"),
        ("browser_tabs", {"action": "create", "url": "https://shop.example/"}, "goto"),
        ("poke", {"ref": "e12"}, "click"),
        ("poke", {"uid": "e12", "text": "tea"}, "type"),
    ],
)
def test_tools_are_read_by_their_names_or_by_what_they_are_given(
    name: str, arguments: object, what: str
) -> None:
    (action,) = guess_actions("", [ToolCall("1", name, json.dumps(arguments))])

    inputs = action.arguments
    assert (
        action_kind_with_arguments(
            action.name, dict(inputs) if isinstance(inputs, Mapping) else None
        )
        == what
    )


@pytest.mark.parametrize(
    ("name", "arguments", "what"),
    [
        ("hotkey", ["ctrl", "r"], "reload"),
        ("press", ["12", "Meta+F5"], "reload"),
        ("press", ["Keys.F5"], "reload"),
        ("fill", ["12", "F5"], "type"),
        ("frobnicate", ["x"], None),
        ("press", ["", "+", [], None, 3], "click"),
        ("goto", ["page.url"], "reload"),
        ("goto", ["page.url()"], "reload"),
        ("goto", ["self.page.url"], "reload"),
        ("open", ["$(agent-browser get url)"], "reload"),
        ("goto", ["item.url"], "goto"),
        ("driver.get", ["driver.current_url"], "reload"),
        ("driver.get", ["https://shop.example/"], "goto"),
        ("requests.post", ["https://shop.example/"], "goto"),
        ("window.location.href", ["https://shop.example/"], "goto"),
        ("location.href", ["location.href"], "reload"),
        ("history.go", ["0"], "reload"),
        ("history.go", ["-1"], "back"),
        ("text.replace", ["a"], None),
    ],
)
def test_keys_are_read_from_arguments_by_position(
    name: str, arguments: list[JsonValue], what: str | None
) -> None:
    assert action_kind_with_arguments(name, arguments) == what


def test_keys_in_a_list_that_code_writes_are_read() -> None:
    assert action_kind_with_arguments("browser.keys", ["['Meta', 'r']"]) == "reload"
    assert action_kind_with_arguments("browser.keys", ["[Key.Ctrl, 'r']"]) == "reload"
    assert action_kind_with_arguments("browser.keys", ["['Meta', 'f']"]) == "click"
