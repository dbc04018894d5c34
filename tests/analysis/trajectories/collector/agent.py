"""The agent of the collected trials: each turn is one model call and its actions.

Arguments: the endpoint, the browser, the trial, `--reloads-by-itself`, which keeps Chromium's
automatic reload of error pages, and `--stops`, which stops the loading of a page after an error.
The endpoint returns the actions in a separate field of the answer, so that one program works with
every wording.
"""

import sys
from typing import Any

from openai import OpenAI, OpenAIError
from playwright.sync_api import BrowserContext, Error, Page, sync_playwright

_SEEN = """() => {
  const all = [...document.querySelectorAll('a[id], button, input:not([type=hidden]), textarea')];
  const able = all.map(e => `[${e.id}]`).join(' ');
  return document.title + ' | ' + (document.body?.innerText ?? '').slice(0, 500) + ' | ' + able;
}"""


class Agent:
    """A browser, its current tab, and the last error."""

    def __init__(self, context: BrowserContext, *, stops: bool) -> None:
        self._context = context
        self._stops = stops
        self._page = self._new_page()
        self._error = ""

    def _new_page(self) -> Page:
        page = self._context.new_page()
        page.set_default_timeout(3000)
        page.set_default_navigation_timeout(9000)
        return page

    def look(self) -> str:
        """Return the model's prompt: URL, error, text of the page."""
        self._page.wait_for_timeout(700)
        try:
            seen = str(self._page.evaluate(_SEEN))
        except Error as error:
            seen = f"(no page: {_first_line(error)})"
        return f"URL: {self._page.url} {self._error}\n{' '.join(seen.split())}"

    def act(self, action: dict[str, Any]) -> bool:
        """Execute one action; return whether it ends the task."""
        self._error = ""
        if action["do"] in ("done", "infeasible"):
            return True
        try:
            self._do(action)
        except Error as error:
            self._error = f"Error: {_first_line(error)}"
            if self._stops:
                self._stop()
        return False

    def _stop(self) -> None:
        try:
            self._page.evaluate("window.stop()")
        except Error as error:
            self._error += f" ({_first_line(error)})"

    def _do(self, action: dict[str, Any]) -> None:
        page = self._page
        match action["do"]:
            case "goto":
                page.goto(action["url"])
            case "new_tab":
                self._page = self._new_page()
                self._page.goto(action["url"])
            case "reload":
                page.reload()
            case "back":
                page.go_back()
            case "forward":
                page.go_forward()
            case "click":
                page.locator(f"#{action['id']}").first.click(no_wait_after=True)
                page.wait_for_timeout(300)
                page.wait_for_load_state("load", timeout=9000)
            case "fill":
                page.locator(f"#{action['id']}").first.fill("")
                page.locator(f"#{action['id']}").first.press_sequentially(action["text"], delay=20)
            case "wait" | "pause":
                page.wait_for_timeout(action["seconds"] * 1000)
            case "key":
                # A headless browser has no window that handles F5.
                page.reload()
            case _:
                page.evaluate("scrollTo(0, 200)")


def _first_line(error: Error) -> str:
    return error.message.splitlines()[0][:150]


def _main(endpoint: str, browser: str, trial: str, *flags: str) -> int:
    with sync_playwright() as playwright, OpenAI(base_url=endpoint, api_key="none") as model:
        chromium = playwright.chromium.launch(
            executable_path=browser,
            args=["--no-sandbox", "--disable-quic"],
            ignore_default_args=["--enable-automation"] if "--reloads-by-itself" in flags else [],
        )
        agent = Agent(
            chromium.new_context(user_agent=f"Mozilla/5.0 Trial/{trial}"),
            stops="--stops" in flags,
        )
        for turn in range(14):
            shown = f"Turn {turn}. {agent.look()}"
            try:
                message = model.chat.completions.create(
                    model="m",
                    user=trial,
                    messages=[
                        {"role": "system", "content": "You are a web agent."},
                        {"role": "user", "content": shown},
                    ],
                )
            except OpenAIError as error:
                sys.stderr.write(f"{error}\n")
                return 1
            actions: list[dict[str, Any]] = (message.model_extra or {}).get("actions", [])
            if any([agent.act(action) for action in actions]):
                break
        chromium.close()
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
