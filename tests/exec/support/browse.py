"""python browse.py HOW [ARGUMENT...]: drive Chromium with playwright or selenium.

It prints what the pages contained. The browser is the one on the PATH; the arguments are for it.
"""

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

type Say = Callable[[str], object]

LOOK = "[document.title, performance.getEntriesByType('navigation')[0].nextHopProtocol]"
TALK = """new Promise((done, failed) => {
  const line = new WebSocket('wss://shop.test:445/echo');
  line.onopen = () => line.send('said and heard');
  line.onmessage = event => done(event.data);
  line.onerror = () => failed(new Error('the WebSocket failed'));
})"""


@contextmanager
def playwright(arguments: list[str]) -> Iterator[tuple[Say, Say]]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        # Looked up on the PATH, as for any program.
        program = shutil.which("chromium")
        browser = driver.chromium.launch(executable_path=program, args=arguments)
        pages = []

        def go(url: str) -> None:
            # In a new tab: Chromium reloads an error page by itself, during the next visit.
            pages.append(browser.new_page())
            pages[-1].goto(url)

        yield go, lambda code: pages[-1].evaluate(code)
        browser.close()


@contextmanager
def selenium(arguments: list[str]) -> Iterator[tuple[Say, Say]]:
    from selenium.webdriver import Chrome, ChromeOptions, ChromeService

    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", *arguments):
        options.add_argument(argument)
    driver = Chrome(options=options, service=ChromeService(shutil.which("chromedriver") or ""))
    try:
        yield driver.get, lambda code: driver.execute_script(f"return {code}")
    finally:
        driver.quit()


def main(how: str, *arguments: str) -> None:
    with {"playwright": playwright, "selenium": selenium}[how](list(arguments)) as (go, evaluate):

        def visit(url: str) -> object:
            try:
                go(url)
                return evaluate(LOOK)
            except Exception as error:  # noqa: BLE001 - whatever the driver raises
                named = re.search(r"ERR_\w+", str(error))
                return named[0] if named else str(error)

        seen = {url: visit(url) for url in ("https://gone.test/page", "https://shop.test/failing")}
        seen["https://shop.test/page"] = visit("https://shop.test/page")
        seen["WebSocket"] = evaluate(TALK)
        print(json.dumps(seen))


if __name__ == "__main__":
    main(*sys.argv[1:])
