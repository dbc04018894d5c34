"""An agent whose model writes Python, executed block by block; names stay bound.

Options: `flavour`: `playwright` (`page`), `selenium` (`driver`), `tools` (functions that fetch and
click), `program` (requests, httpx, tenacity…; no browser); a flavour may
bring a `run` of its own. The last block calls `final_answer`, or
an answer has no code.
"""

import contextlib
import io
import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.analysis.trajectories.second_collector.agents.browser import SHELL, Browser, first_line
from tests.analysis.trajectories.second_collector.agents.model import (
    Call,
    Conversation,
    ModelFailed,
    Reply,
)

_BLOCK = re.compile(
    r"(?:```(?:python|py|javascript|js)?\n|<code>)(.*?)(?:```|</code>|<end_code>)", re.DOTALL
)


class Ended(Exception):
    """The agent gave its last answer."""


def _final_answer(answer: object = "") -> None:
    print(answer)
    raise Ended(str(answer))


@contextlib.contextmanager
def _playwright() -> Iterator[dict[str, Any]]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = Browser(playwright)
        yield {"page": browser.page, "context": browser.context, "see": browser.text}
        browser.close()


@contextlib.contextmanager
def _tools() -> Iterator[dict[str, Any]]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = Browser(playwright)

        def act(**action: Any) -> str:
            error = browser.do(action)
            if error.startswith("Error"):
                raise RuntimeError(error)
            return browser.text()

        yield {
            "see": browser.text,
            "open_page": lambda url: act(do="goto", url=url),
            "go_to": lambda url: act(do="goto", url=url),
            "refresh": lambda: act(do="reload"),
            "go_back": lambda: act(do="back"),
            "click": lambda target: act(do="click", target=target),
            "write": lambda text, into: act(do="fill", target=into, text=text),
        }
        browser.close()


@contextlib.contextmanager
def _selenium() -> Iterator[dict[str, Any]]:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    options = webdriver.ChromeOptions()
    options.binary_location = SHELL
    options.add_argument("--no-sandbox")
    options.add_argument("--headless")
    driver = webdriver.Chrome(options, Service("/usr/bin/chromedriver"))
    driver.set_page_load_timeout(9)

    def see() -> str:
        time.sleep(0.3)
        try:
            body = driver.execute_script("return document.body ? document.body.innerText : ''")
        except Exception as error:  # noqa: BLE001  (Whatever the driver raises, the model sees.)
            body = f"(no page: {first_line(error)})"
        return f"URL: {driver.current_url}\n{driver.title}\n{str(body)[:600]}"

    try:
        yield {"driver": driver, "By": By, "Keys": Keys, "see": see}
    finally:
        driver.quit()


@contextlib.contextmanager
def _program() -> Iterator[dict[str, Any]]:
    yield {"see": lambda: ""}


FLAVOURS = {
    "playwright": _playwright,
    "tools": _tools,
    "selenium": _selenium,
    "program": _program,
}


def main(config: dict[str, Any]) -> int:
    talk = Conversation(config.get("api", "chat"), "You write Python.", config.get("tools", []))
    with FLAVOURS[config["flavour"]]() as names:
        names = names | {"final_answer": _final_answer, "time": time}
        see = names.pop("see")
        run = names.pop("run", exec)
        talk.show(f"Task: {config['task']}")
        for _ in range(config.get("turns", 10)):
            try:
                reply = talk.ask()
            except ModelFailed as failed:
                print(f"the model failed: {failed}")
                return 1
            code, call = _code(reply)
            if code is None:
                print(reply.text)
                break
            output = io.StringIO()
            try:
                with contextlib.redirect_stdout(output):
                    run(code, names)
            except Ended as end:
                print(end)
                break
            except Exception as error:  # noqa: BLE001  (The model sees what its code raises.)
                output.write(f"{type(error).__name__}: {first_line(error)}")
            shown = f"Output:\n{output.getvalue()[-900:]}\n{see()}"
            if call:
                talk.result(call, shown)
            else:
                talk.show(shown)
        time.sleep(config.get("lingers", 0))
    return 0


def _code(reply: Reply) -> tuple[str | None, Call | None]:
    if reply.calls:
        inputs = reply.calls[0].arguments or {}
        return str(inputs.get("code", "raise SyntaxError('no code')")), reply.calls[0]
    blocks = _BLOCK.findall(reply.text)
    return ("\n".join(blocks) if blocks else None), None


if __name__ == "__main__":
    sys.exit(main(json.loads(Path(sys.argv[1]).read_text("utf-8"))))
