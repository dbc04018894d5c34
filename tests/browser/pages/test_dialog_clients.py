"""How the clients of a browser meet its own dialogs: Playwright, Selenium and raw CDP."""

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from selenium import webdriver
from selenium.common.exceptions import UnexpectedAlertPresentException
from selenium.webdriver.chrome.service import Service
from websockets.sync.client import ClientConnection, connect

from tests.browser.pages.site import lane_to, opened, reported_changes
from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Origin
from warex.faults.browser.native_dialog import Dialog, NativeDialog
from warex.sandbox.chromium import QUIET_FLAGS, find_chromium

pytestmark = [pytest.mark.browser, pytest.mark.slow]

URL = "https://shop.example/plain"
FLAGS = ("--headless=new", "--no-sandbox", "--ignore-certificate-errors", *QUIET_FLAGS)


def reported_texts(lane: Lane) -> list[str]:
    wait_until(lambda: len(reported_changes(lane)) > 1)
    return [what for what, _ in reported_changes(lane)]


@pytest.mark.parametrize("dialog", ["alert", "confirm", "prompt"])
def test_playwright_dismisses_a_dialog_and_continues(
    browser: Browser, begin: Begin, site: Origin, dialog: Dialog
) -> None:
    with lane_to(begin, site, scenario(NativeDialog(dialog=dialog))) as lane:
        page = opened(browser, lane, "plain")
        page.wait_for_timeout(500)
        expect(page.get_by_role("heading")).to_have_text("Here")
        assert sorted(reported_texts(lane)) == ["dismissed", "shown"]
        page.context.close()


@contextmanager
def selenium(lane: Lane) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    for flag in (*FLAGS, f"--proxy-server={lane.url}"):
        options.add_argument(flag)
    options.binary_location = str(find_chromium())
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


def test_selenium_raises_at_the_next_command_and_has_dismissed_it(
    begin: Begin, site: Origin
) -> None:
    asks = scenario(NativeDialog(dialog="confirm"))
    with lane_to(begin, site, asks) as lane, selenium(lane) as driver:
        driver.get(URL)
        wait_until(lambda: reported_changes(lane))
        with pytest.raises(UnexpectedAlertPresentException, match="changes to this page"):
            _ = driver.title
        assert driver.title == "t"
        assert reported_texts(lane) == ["shown", "dismissed"]


def test_selenium_can_answer_it_before(begin: Begin, site: Origin) -> None:
    asks = scenario(NativeDialog(dialog="confirm"))
    with lane_to(begin, site, asks) as lane, selenium(lane) as driver:
        driver.get(URL)
        wait_until(lambda: reported_changes(lane))
        driver.switch_to.alert.accept()
        assert reported_texts(lane) == ["shown", "accepted"]


@contextmanager
def devtools(lane: Lane, folder: Path) -> Iterator[ClientConnection]:
    """Start a Chromium, and connect to its page by the Chrome DevTools Protocol."""
    profile = f"--user-data-dir={folder}"
    command = [str(find_chromium()), *FLAGS, f"--proxy-server={lane.url}", profile]
    browser = subprocess.Popen([*command, "--remote-debugging-port=0", "about:blank"])
    try:
        ready = folder / "DevToolsActivePort"
        wait_until(lambda: ready.is_file() and len(ready.read_text().splitlines()) > 1, 30)
        port, path = ready.read_text().splitlines()
        with connect(f"ws://127.0.0.1:{port}{path}", proxy=None) as socket:
            yield socket
    finally:
        browser.terminate()
        browser.wait(30)


NUMBERS = count(1)


def send(socket: ClientConnection, method: str, session: str = "", **options: object) -> int:
    number = next(NUMBERS)
    about = {"sessionId": session} if session else {}
    socket.send(json.dumps({"id": number, "method": method, "params": options, **about}))
    return number


def receive(socket: ClientConnection, wanted: int | str, seconds: float = 10) -> dict[str, Any]:
    """Return the answer to a command, or the next event of a kind; empty if it does not come."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        try:
            message: dict[str, Any] = json.loads(socket.recv(timeout=left))
        except TimeoutError:
            break
        if wanted in (message.get("id"), message.get("method")):
            return message
    return {}


def test_a_client_of_cdp_hangs_until_it_answers(begin: Begin, site: Origin, tmp_path: Path) -> None:
    asks = scenario(NativeDialog(dialog="prompt"))
    with lane_to(begin, site, asks) as lane, devtools(lane, tmp_path) as socket:
        created = receive(socket, send(socket, "Target.createTarget", url="about:blank"))
        target = created["result"]["targetId"]
        attach = send(socket, "Target.attachToTarget", targetId=target, flatten=True)
        session = receive(socket, attach)["result"]["sessionId"]
        send(socket, "Page.enable", session)
        send(socket, "Page.navigate", session, url=URL)
        opening = receive(socket, "Page.javascriptDialogOpening", 30)["params"]
        assert (opening["type"], opening["message"]) == ("prompt", "What may we call you?")
        evaluated = send(socket, "Runtime.evaluate", session, expression="document.title")
        assert not receive(socket, evaluated, 1)
        answer = {"accept": True, "promptText": "Ada"}
        send(socket, "Page.handleJavaScriptDialog", session, **answer)
        assert receive(socket, evaluated)["result"]["result"]["value"] == "t"
        assert reported_texts(lane) == ["shown", "accepted"]
