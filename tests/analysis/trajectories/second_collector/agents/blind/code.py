"""Further flavours of agents that write code.

`async` (Playwright's asynchronous API in Python), `node` (Playwright in Node), `helium` (functions
around a Selenium driver, as smolagents' helium agent has).
"""

import ast
import asyncio
import contextlib
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.analysis.trajectories.second_collector.agents import code
from tests.analysis.trajectories.second_collector.agents.browser import SHELL, first_line

_TEXT = "document.title + '\\n' + (document.body ? document.body.innerText : '').slice(0, 600)"


@contextlib.contextmanager
def _async() -> Iterator[dict[str, Any]]:
    from playwright.async_api import Error, async_playwright

    loop = asyncio.new_event_loop()
    start = async_playwright()
    playwright = loop.run_until_complete(start.__aenter__())
    launching = playwright.chromium.launch(executable_path=SHELL, args=["--no-sandbox"])
    browser = loop.run_until_complete(launching)
    page = loop.run_until_complete(browser.new_page())
    page.set_default_timeout(2500)
    page.set_default_navigation_timeout(9000)

    def run(text: str, names: dict[str, Any]) -> None:
        compiled = compile(text, "<code>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        made = eval(compiled, names)
        if inspect.iscoroutine(made):
            loop.run_until_complete(made)

    def see() -> str:
        async def look() -> str:
            await page.wait_for_timeout(350)
            try:
                return f"URL: {page.url}\n{await page.evaluate(_TEXT)}"
            except Error as error:
                return f"URL: {page.url}\n(no page: {first_line(error)})"

        return loop.run_until_complete(look())

    yield {"page": page, "browser": browser, "asyncio": asyncio, "run": run, "see": see}
    loop.run_until_complete(browser.close())
    loop.run_until_complete(start.__aexit__(None, None, None))


@contextlib.contextmanager
def _node() -> Iterator[dict[str, Any]]:
    import playwright

    driver = Path(playwright.__file__).parent / "driver"
    script = Path(__file__).with_name("repl.js")
    process = subprocess.Popen(
        [driver / "node", script, driver / "package", SHELL],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def call(**asked: Any) -> dict[str, Any]:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        got: dict[str, Any] = json.loads(process.stdout.readline())
        return got

    def run(text: str, names: dict[str, Any]) -> None:
        got = call(code=text)
        print(got["out"])
        if "ended" in got:
            raise code.Ended(str(got["ended"]))

    yield {"run": run, "see": lambda: call(see=True)["out"]}
    assert process.stdin
    process.stdin.close()
    process.wait(10)


@contextlib.contextmanager
def _helium() -> Iterator[dict[str, Any]]:
    with code.FLAVOURS["selenium"]() as names:
        driver, by = names["driver"], names["By"]

        def click(text: str) -> None:
            path = f"//*[self::a or self::button][contains(normalize-space(.), {text!r})]"
            driver.find_element(by.XPATH, path).click()

        def write(text: str, into: str) -> None:
            field = driver.find_element(by.CSS_SELECTOR, f"[placeholder={into!r}]")
            field.clear()
            field.send_keys(text)

        yield names | {
            "go_to": driver.get,
            "refresh": driver.refresh,
            "go_back": driver.back,
            "click": click,
            "write": write,
            "page_text": lambda: driver.find_element(by.TAG_NAME, "body").text,
        }


code.FLAVOURS |= {"async": _async, "node": _node, "helium": _helium}

if __name__ == "__main__":
    sys.exit(code.main(json.loads(Path(sys.argv[1]).read_text("utf-8"))))
