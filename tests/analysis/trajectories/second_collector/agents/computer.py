"""An agent that sees screenshots and gives mouse and key actions, in Anthropic's or OpenAI's form.

A visible Chromium runs on an X server of its own (Xvfb); xdotool presses its keys, so that Ctrl+R,
F5, Alt+Left and Ctrl+L do what they do for a person. Coordinates are those of the page.
"""

import base64
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Error, Page, sync_playwright

from tests.analysis.trajectories.second_collector.agents.browser import first_line
from tests.analysis.trajectories.second_collector.agents.model import Conversation, ModelFailed

_WHERE = """() => [...document.querySelectorAll(
  'a[id], button, input:not([type=hidden]), textarea')].map(e => {
  const r = e.getBoundingClientRect(); return `[${e.id || e.innerText.trim()}] ` +
  `${Math.round(r.x + r.width / 2)},${Math.round(r.y + r.height / 2)}` }).join('\\n')"""
_KEYS = {
    **{"CTRL": "ctrl", "ALT": "alt", "SHIFT": "shift", "ENTER": "Return", "ARROWLEFT": "Left"},
    **{"ESC": "Escape", "LEFT": "Left", "RIGHT": "Right", "RETURN": "Return", "ENTER_": "Return"},
}


class Screen:
    """The X server, its keyboard and mouse, and the page on it."""

    def __init__(self, page: Page, display: str) -> None:
        self._page = page
        self._env = os.environ | {"DISPLAY": display}
        page.set_default_timeout(3000)
        page.wait_for_timeout(300)
        self._tool("search", "--onlyvisible", "--class", "chromium", "windowfocus")

    def _tool(self, *arguments: str) -> None:
        subprocess.run(
            ["xdotool", *arguments], env=self._env, check=False, capture_output=True, timeout=15
        )

    def look(self) -> tuple[str, str]:
        """Return what the page shows, as text with coordinates, and as a picture."""
        self._page.wait_for_timeout(500)
        try:
            text = str(self._page.evaluate("document.body ? document.body.innerText : ''"))
            where = str(self._page.evaluate(_WHERE))
            picture = base64.b64encode(self._page.screenshot(type="jpeg", quality=20)).decode()
        except Error as error:
            return f"(no page: {first_line(error)})", "/9j/4AAQSkZJRgABAQEASABIAAD/2Q=="
        return f"URL: {self._page.url}\n{text[:600]}\n{where}", picture

    def act(self, action: dict[str, Any]) -> None:
        """Execute an action of either API."""
        kind = action.get("action") or action.get("type")
        if "coordinate" in action:
            action = action | {"x": action["coordinate"][0], "y": action["coordinate"][1]}
        match kind:
            case "left_click" | "click" | "double_click":
                x, y = self._on_screen(action)
                self._tool("mousemove", str(x), str(y), "click", "1")
            case "mouse_move" | "move":
                x, y = self._on_screen(action)
                self._tool("mousemove", str(x), str(y))
            case "key":
                self._tool("key", "--clearmodifiers", action["text"])
            case "keypress":
                keys = [_KEYS.get(k.upper(), k) for k in action["keys"]]
                self._tool(
                    "key",
                    "--clearmodifiers",
                    "+".join(k if len(k) > 1 else k.lower() for k in keys),
                )
            case "type":
                self._tool("type", "--delay", "8", action["text"].replace("\n", ""))
                if action["text"].endswith("\n"):
                    self._tool("key", "Return")
            case "wait":
                time.sleep(float(action.get("duration", 2)))
        time.sleep(0.7)

    def _on_screen(self, action: dict[str, Any]) -> tuple[int, int]:
        try:
            script = "[screenX, screenY + outerHeight - innerHeight]"
            left, top = self._page.evaluate(script)
        except Error:
            left, top = 0, 90
        return int(left + action["x"]), int(top + action["y"])


@contextmanager
def desktop(config: dict[str, Any]) -> Iterator[tuple[Page, Screen]]:
    """Run a visible Chromium on an X server of its own; open the config's `start` page."""
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1024x800x24", "-nolisten", "tcp"],
        pass_fds=[writing],
        stderr=subprocess.DEVNULL,
    )
    display = f":{os.read(reading, 16).decode().strip()}"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path="/usr/bin/chromium",
            headless=False,
            args=["--no-sandbox", "--window-size=1024,800", "--window-position=0,0"],
            ignore_default_args=["--enable-automation"] if config.get("reloads_by_itself") else [],
            env={**os.environ, "DISPLAY": display},
        )
        page = chromium.new_context(no_viewport=True).new_page()
        screen = Screen(page, display)
        if "start" in config:
            goto(page, config["start"])
        yield page, screen
        chromium.close()
    server.terminate()


def goto(page: Page, url: str) -> None:
    """Open an address; print the error, if any."""
    try:
        page.goto(url, timeout=9000)
    except Error as error:
        print(first_line(error))


def main(config: dict[str, Any]) -> int:
    talk = Conversation(config["api"], "You use a computer.", config.get("tools", ["computer"]))
    with desktop(config) as (page, screen):
        text, picture = screen.look()
        talk.screen = text
        talk.show(f"Task: {config['task']}", picture)
        for _ in range(config.get("turns", 14)):
            try:
                reply = talk.ask()
            except ModelFailed as failed:
                print(f"the model failed: {failed}")
                break
            if not reply.calls:
                print(reply.text)
                break
            for call in reply.calls:
                inputs = call.arguments if isinstance(call.arguments, dict) else {}
                if call.name == "goto":
                    goto(page, inputs["url"])
                else:
                    screen.act(inputs)
                text, picture = screen.look()
                talk.screen = text
                talk.result(call, "" if call.name == "computer" else "done", picture)
    return 0


if __name__ == "__main__":
    sys.exit(main(json.loads(Path(sys.argv[1]).read_text("utf-8"))))
