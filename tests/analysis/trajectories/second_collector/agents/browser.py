"""A browser that the agents drive by Playwright, and what they see of it."""

import time
from typing import Any

from playwright.sync_api import Error, Page, Playwright

_SEEN = """() => {
  const wanted = 'a[id], button[id], input:not([type=hidden]), textarea';
  const able = [...document.querySelectorAll(wanted)].map(e =>
    `[${e.id}] ${e.tagName.toLowerCase()} ${(e.innerText || '').slice(0, 30)}`);
  return document.title + '\\n' + (document.body?.innerText ?? '').slice(0, 600) + '\\n' +
    able.join('\\n');
}"""
SHELL = "/usr/bin/chromium-headless-shell"
_CHROMIUM = "/usr/bin/chromium"
"""Unlike its shell, it reloads its error pages."""


class Browser:
    """One browser with tabs."""

    def __init__(self, playwright: Playwright, *, reloads_by_itself: bool = False) -> None:
        self._chromium = playwright.chromium.launch(
            executable_path=_CHROMIUM if reloads_by_itself else SHELL,
            args=["--no-sandbox"],
            ignore_default_args=["--enable-automation"] if reloads_by_itself else [],
        )
        self.context = self._chromium.new_context()
        self.page = self.new_page()

    def new_page(self) -> Page:
        page = self.context.new_page()
        page.set_default_timeout(2500)
        page.set_default_navigation_timeout(9000)
        return page

    def close(self) -> None:
        self._chromium.close()

    def text(self) -> str:
        """Return the address, title, text and elements of the page."""
        self.page.wait_for_timeout(350)
        try:
            seen = str(self.page.evaluate(_SEEN))
        except Error as error:
            seen = f"(no page: {first_line(error)})"
        return f"URL: {self.page.url}\n{seen}"

    def do(self, action: dict[str, Any]) -> str:
        """Execute an action; return an error's text or nothing."""
        try:
            return self._do(action) or ""
        except Error as error:
            return f"Error: {first_line(error)}"

    def _do(self, action: dict[str, Any]) -> str | None:
        page = self.page
        match action["do"]:
            case "goto":
                page.goto(action["url"])
            case "new_tab":
                self.page = self.new_page()
                self.page.goto(action["url"])
            case "close_tab":
                page.close()
                self.page = self.context.pages[-1]
            case "reload":
                page.reload()
            case "back":
                page.go_back()
            case "forward":
                page.go_forward()
            case "click":
                page.locator(_locator(action["target"])).first.click(no_wait_after=True)
                page.wait_for_timeout(250)
                page.wait_for_load_state("load", timeout=9000)
            case "fill":
                page.locator(_locator(action["target"])).first.fill("")
                page.locator(_locator(action["target"])).first.press_sequentially(action["text"])
            case "press":
                page.keyboard.press(action["key"])
                page.wait_for_timeout(400)
            case "js":
                return f"Result: {page.evaluate(action['code'])}"
            case "wait":
                page.wait_for_timeout(1000 * float(action["seconds"]))
            case "scroll":
                page.mouse.wheel(0, 300)
            case other:
                time.sleep(0.1)
                return f"Error: there is no action {other}"
        return None


def _locator(target: str) -> str:
    plain = target.replace("_", "").replace("-", "").isalnum() and target.isascii()
    return f"#{target}" if plain and not target.isdigit() else target


def first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:160]
