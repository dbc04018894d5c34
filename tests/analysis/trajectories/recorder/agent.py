"""A small agent for the recordings: each turn is one model call and one action.

Arguments: the model's base URL, the browser, the first URL; `--reloads-by-itself` keeps Chromium's
automatic reload of error pages, which automation usually disables.
"""

import re
import sys
import time

from openai import OpenAI
from playwright.sync_api import Error, Page, sync_playwright

_ACTION = re.compile(r"^(\w+)\((.*)\)$", re.MULTILINE)


def _act(page: Page, name: str, argument: str) -> bool:
    """Execute the model's action; return whether the task is over."""
    try:
        match name:
            case "goto":
                page.goto(argument, timeout=8000)
            case "reload":
                page.reload(timeout=8000)
            case "go_back":
                page.go_back(timeout=8000)
            case "click":
                page.locator(argument).first.click(timeout=3000)
                page.wait_for_load_state("load", timeout=8000)
            case "noop":
                page.wait_for_timeout(2500)
            case _:
                return True
    except Error as error:
        sys.stderr.write(f"{name}: {error.message.splitlines()[0]}\n")
    return False


def _main(base_url: str, browser: str, url: str, *flags: str) -> int:
    with sync_playwright() as playwright, OpenAI(base_url=base_url, api_key="none") as model:
        chromium = playwright.chromium.launch(
            executable_path=browser,
            args=["--no-sandbox", "--disable-quic"],
            ignore_default_args=["--enable-automation"] if flags else [],
        )
        page = chromium.new_page()
        messages = [{"role": "system", "content": "You are an agent."}]
        model.chat.completions.create(model="m", messages=[*messages, _user("begin")])  # type: ignore[list-item]
        _act(page, "goto", url)
        for turn in range(1, 12):
            if flags:
                page.wait_for_timeout(2500)
            message = (
                model.chat.completions.create(
                    model="m",
                    messages=[*messages, _user(f"turn {turn}: {page.url}")],  # type: ignore[list-item]
                )
                .choices[0]
                .message.content
            )
            matches = _ACTION.findall(message or "")
            if matches and _act(page, matches[-1][0], matches[-1][1].strip("'")):
                break
        chromium.close()
    return 0


def _user(text: str) -> dict[str, str]:
    return {"role": "user", "content": f"{text} at {time.monotonic():.3f}"}


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
