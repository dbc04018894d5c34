import json

import pytest

from warex.llm.actions.guess import guess_actions, kind_of_action
from warex.llm.base import ToolCall

SHOP = "https://shop.example/"


@pytest.mark.parametrize(
    ("language", "source", "actions"),
    [
        ("js", "await cdp.send('Page.reload')", [("reload", "reload", ())]),
        ("js", f"await s.send('Page.navigate', {{ url: '{SHOP}' }})",
         [("navigate", "goto", (SHOP,))]),
        ("js", f"const url = '{SHOP}'; await s.send('Page.navigate', {{ url }})",
         [("navigate", "goto", (SHOP,))]),
        ("js", "await s.send('Page.navigate', { url: page.url() })",
         [("navigate", "reload", ("page.url()",))]),
        ("js", "await s.send('Network.enable'); console.log('Page.reload')", []),
        ("js", "chrome.debugger.sendCommand({ tabId }, 'Page.reload')", [("reload", "reload", ())]),
        ("python", "driver.execute_cdp_cmd('Page.reload', {})", [("reload", "reload", ())]),
        ("python", "s.send('Input.dispatchKeyEvent', {'type': 'keyDown', 'key': 'F5'})",
         [("dispatchKeyEvent", "reload", ("F5",))]),
        ("python", "ws.send(json.dumps({'id': 1, 'method': 'Page.reload'}))",
         [("reload", "reload", ())]),
        ("python", "s.send('Runtime.evaluate', {'expression': 'history.back()'})",
         [("back", "back", ())]),
        ("java", f'((HasCdp) driver).executeCdpCommand("Page.navigate", Map.of("url", "{SHOP}"));',
         [("navigate", "goto", (SHOP,))]),
        ("java", '((JavascriptExecutor) driver).executeScript("location.reload()");',
         [("reload", "reload", ())]),
        ("csharp", 'await client.SendAsync("Page.reload");', [("reload", "reload", ())]),
        ("ruby", "driver.execute_cdp('Page.reload')", [("reload", "reload", ())]),
        ("ruby", f"page.command('Page.navigate', url: '{SHOP}')", [("navigate", "goto", (SHOP,))]),
    ],
)  # fmt: skip
def test_a_command_sent_to_the_browser_is_an_action(
    language: str, source: str, actions: list[tuple[str, str, tuple[str, ...]]]
) -> None:
    read = guess_actions(f"```{language}\n{source}\n```", ())

    assert [(it.name, kind_of_action(it), it.arguments) for it in read] == actions


def test_a_tool_sends_a_command_to_the_browser_too() -> None:
    def kinds(command: str, **parameters: str) -> list[tuple[str | None, object]]:
        call = ToolCall("1", "cdp", json.dumps({"method": command, "params": parameters}))
        return [(kind_of_action(it), it.arguments) for it in guess_actions("", (call,))]

    assert kinds("Page.reload") == [("reload", ())]
    assert kinds("Page.navigate", url=SHOP) == [("goto", (SHOP,))]
    assert kinds("DOM.getDocument") == []
