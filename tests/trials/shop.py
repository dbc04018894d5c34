"""A benchmark with one page, an agent that executes its model's name, and a minimal browser.

So a test of any course of a trial takes a second, with real processes and a real proxy.
"""

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import ClassVar

from tests.http_server import Handler, serving
from warex.benchmarks import Benchmark, Command, Job, TaskEnvironment, TaskResult
from warex.llm.actions.vocabulary import Vocabulary
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Arm, Scenario

SITE = "https://shop.warex.test"

AGENT = """
import base64, json, os, sys, time, urllib.error, urllib.request
base_url, *verbs = sys.argv[1:]
PAGE = {"Sec-Fetch-Dest": "document"}
CART = "9Xk2mQ7vT4bR8nW1zL5cY3dP6s"
PASSWORD = "S2V0dGxlITQ3MTF4eXo="
for verb in verbs:
    print(verb, flush=True)
    if verb in ("page", "browse"):
        page = urllib.request.Request("https://shop.warex.test/", headers=PAGE)
        if verb == "browse":
            page.add_header("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/131.0")
        try:
            urllib.request.urlopen(page).read()
        except urllib.error.HTTPError as error:
            error.close()
    elif verb == "login":
        form = "user=bob&password=" + base64.b64decode(PASSWORD).decode()
        urllib.request.urlopen("https://shop.warex.test/login", form.encode()).read()
        print("the site let me in with", base64.b64decode(PASSWORD).decode(), flush=True)
    elif verb == "enter":
        form = "u1=bob&f2=" + base64.b64decode(PASSWORD).decode()
        urllib.request.urlopen("https://shop.warex.test/enter", form.encode()).read()
        print("it was", base64.b64decode(PASSWORD).decode(), flush=True)
    elif verb == "cart":
        urllib.request.urlopen(f"https://shop.warex.test/cart?c={CART}").read()
    elif verb == "model":
        asked = {"model": "m", "messages": [{"role": "user", "content": "what now?"}]}
        request = urllib.request.Request(
            base_url + "/chat/completions",
            json.dumps(asked).encode(),
            {"Content-Type": "application/json"},
        )
        urllib.request.urlopen(request).read()
    elif verb == "sleep":
        time.sleep(600)
    elif verb == "tell":
        print(json.dumps(dict(os.environ)), flush=True)
    else:
        sys.exit(int(verb))
"""

BROWSER = """#!/bin/sh
exec {python} -c '
import sys, urllib.request
print(urllib.request.urlopen(sys.argv[-1]).read().decode())
' "$@"
"""


class Shop(Benchmark):
    """Two tasks, and a result for every exit code."""

    name: ClassVar = "shop"
    summary: ClassVar = "A page."
    vocabulary = Vocabulary(name="none")
    page: ClassVar = b"<h1>Shop</h1>"

    def tasks(self) -> tuple[str, ...]:
        return ("buy", "look")

    def sites(self, task: str) -> tuple[str, ...]:
        return (SITE,)

    def default_arm(self, scenario: Scenario, task: str) -> Arm:
        return "first_page"

    def start_environment(
        self, task: str, folder: Path, ca: CertificateAuthority, *, direct: bool
    ) -> AbstractContextManager[TaskEnvironment]:
        return self._served()

    @contextmanager
    def _served(self) -> Iterator[TaskEnvironment]:
        with served(self.page, "text/html") as port:
            yield TaskEnvironment(maps=(f"{SITE}=http://127.0.0.1:{port}",))

    def command(self, job: Job, environment: TaskEnvironment) -> Command:
        verbs = job.agent.model.removeprefix("scripted:").split(",")
        return Command([sys.executable, "-c", AGENT, job.agent.base_url or "", *verbs])

    def read(self, job: Job, environment: TaskEnvironment, code: int | None) -> TaskResult:
        match code:
            case 0:
                return TaskResult("answered", 1.0, "bought")
            case None:
                return TaskResult("time_limit", 0.5)
            case 4:
                return TaskResult("model_error", 0.0, void_reason="its model answered 401: no key")
            case _:
                return TaskResult("harness_crashed", 0.0, reasons=(f"it ended with code {code}",))


@contextmanager
def served(body: bytes, kind: str) -> Iterator[int]:
    """Answer every request with one body; yield the port."""

    class OneBody(Handler):
        def do_GET(self) -> None:
            self.read_body()
            self.reply(body, kind)

        do_POST = do_GET

    with serving(OneBody) as port:
        yield port


COMPLETION = json.dumps(
    {
        "object": "chat.completion",
        "model": "m",
        "choices": [{"message": {"role": "assistant", "content": "look"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 1},
    }
).encode()


def browser(folder: Path) -> Path:
    """Write a program that fetches a page, configured by its environment like a browser."""
    path = folder / "browser"
    path.write_text(BROWSER.format(python=shlex.quote(sys.executable)))
    path.chmod(0o755)
    return path
