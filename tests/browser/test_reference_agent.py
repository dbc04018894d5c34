"""The reference agent in a real browser, on a tiny site, with the scripted model."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.ports import reserved_port
from warex.agents.scripted_model.server import ScriptedModel
from warex.agents.scripted_model.tasks import load

pytestmark = pytest.mark.browser

GOAL = "Write 'It's late' into the guest book, in green."

TASKS = f"""
[[task]]
name = "guest-book"
goal = "{GOAL}"
oracle = [
  {{page = "home", action = "click", role = "button", name = "Write"}},
  {{page = "home", action = "click", role = "link", name = "Go on"}},
  {{page = "form", action = "fill", role = "textbox", name = "Message", text = "It's late"}},
  {{page = "form", action = "select_option", role = "combobox", name = "Colour", text = "Green"}},
  {{page = "form", action = "press", role = "textbox", name = "Message", text = "Enter"}},
  {{page = "saved", action = "answer", role = "status", name = "Message saved", text = "Done"}},
]
"""

HOME = """<!doctype html><title>Guest book</title><h1>Guest book</h1>
<button onclick="d.showModal()">Write</button>
<dialog id=d aria-label="Sure?"><a href="/form">Go on</a></dialog>"""

FORM = """<!doctype html><title>Write</title><form method=post action="/save">
<label>Message <input name=message></label>
<label>Colour <select name=colour><option>Red<option>Green</select></label>
<button>Save</button></form>"""

SAVED = "<!doctype html><title>Saved</title><p role=status>Message saved</p>"

UNKNOWN_PAGE = "<!doctype html><title>Oh</title><h1>Something is the matter</h1>"


@dataclass
class Site:
    """A guest book of two pages; `broken` answers 500 for so many requests of a path."""

    address: str = ""
    broken: dict[str, int] = field(default_factory=dict)
    delayed: dict[str, threading.Event] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)
    saved: list[str] = field(default_factory=list)


class _SiteHandler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        self._answer({"/": HOME, "/form": FORM}.get(self.path))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self._answer(SAVED):
            self.site.saved.append(body)

    def _answer(self, page: str | None) -> bool:
        if page is None:
            self._send(404, "")
            return False
        self.site.seen.append(f"{self.command} {self.path}")
        if self.path in self.site.delayed:
            self.site.delayed[self.path].wait(20)
        left = self.site.broken.get(self.path, 0)
        self.site.broken[self.path] = left - 1
        self._send(500 if left > 0 else 200, UNKNOWN_PAGE if left > 0 else page)
        return left <= 0

    def _send(self, status: int, page: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    with _served(
        ThreadingHTTPServer(("127.0.0.1", 0), type("H", (_SiteHandler,), {"site": site}))
    ) as port:
        site.address = f"http://127.0.0.1:{port}/"
        yield site


@pytest.fixture
def model(tmp_path: Path) -> Iterator[str]:
    tasks = tmp_path / "tasks.toml"
    tasks.write_text(TASKS)
    with _served(ScriptedModel(load(tasks))) as port:
        yield f"http://127.0.0.1:{port}/v1"


class _served:
    def __init__(self, server: ThreadingHTTPServer) -> None:
        server.daemon_threads = True
        server.block_on_close = False
        self._server = server
        self._thread = threading.Thread(target=server.serve_forever, args=(0.02,))

    def __enter__(self) -> int:
        self._thread.start()
        return int(self._server.server_port)

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@dataclass
class Ran:
    code: int
    stderr: str
    result: dict[str, Any] | None


@pytest.fixture
def agent(tmp_path: Path) -> Callable[..., Ran]:
    def run(start_url: str, *arguments: str, base_url: str, persona: str = "patient") -> Ran:
        result = tmp_path / "result.json"
        command = [sys.executable, "-m", "warex.agents.reference", "--goal", GOAL]
        command += ["--start-url", start_url, "--model", f"scripted:{persona}"]
        command += ["--base-url", base_url, "--result", str(result), *arguments]
        quiet = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}
        done = subprocess.run(command, capture_output=True, text=True, timeout=90, env=quiet)
        document = json.loads(result.read_text()) if result.exists() else None
        return Ran(done.returncode, done.stderr, document)

    return run


def test_the_agent_solves_a_task_of_pages_a_dialog_and_a_form(
    agent: Callable[..., Ran], site: Site, model: str
) -> None:
    ran = agent(site.address, "--screenshot", base_url=model, persona="giveup")
    assert ran.code == 0, ran.stderr
    assert ran.result == {"ending": "answered", "answer": "Done", "steps": 6, "error": None}
    assert site.saved == ["message=It%27s+late&colour=Green"]
    assert site.seen == ["GET /", "GET /form", "POST /save"]


@pytest.mark.slow
def test_giveup_reports_at_the_first_page_it_does_not_know(
    agent: Callable[..., Ran], site: Site, model: str
) -> None:
    site.broken["/"] = 1
    ran = agent(site.address, base_url=model, persona="giveup")
    assert ran.code == 0, ran.stderr
    assert ran.result is not None
    assert (ran.result["ending"], ran.result["steps"]) == ("reported_infeasible", 1)


@pytest.mark.slow
def test_patient_recovers_on_every_page_even_by_sending_the_form_again(
    agent: Callable[..., Ran], site: Site, model: str
) -> None:
    site.broken |= {"/": 2, "/form": 1, "/save": 1}
    ran = agent(site.address, base_url=model)
    assert ran.result == {"ending": "answered", "answer": "Done", "steps": 10, "error": None}
    assert site.saved == ["message=It%27s+late&colour=Green"]


@pytest.mark.slow
def test_a_site_that_is_down_is_an_observation_and_no_crash(
    agent: Callable[..., Ran], model: str
) -> None:
    ran = agent(f"http://127.0.0.1:{reserved_port()}/", base_url=model, persona="giveup")
    assert ran.code == 0, ran.stderr
    assert ran.result is not None
    assert ran.result["ending"] == "reported_infeasible"
    assert "Traceback" not in ran.stderr


@pytest.mark.slow
def test_a_navigation_that_is_held_is_waited_for(
    agent: Callable[..., Ran], site: Site, model: str
) -> None:
    site.delayed["/form"] = threading.Event()
    release = threading.Timer(5.5, site.delayed["/form"].set)
    release.start()
    try:
        ran = agent(site.address, base_url=model, persona="giveup")
    finally:
        release.cancel()
        release.join()
    assert ran.result == {"ending": "answered", "answer": "Done", "steps": 6, "error": None}


@pytest.mark.slow
def test_steps_are_limited(agent: Callable[..., Ran], site: Site, model: str) -> None:
    ran = agent(site.address, "--max-steps", "2", base_url=model)
    assert ran.code == 0
    assert ran.result == {"ending": "step_limit", "answer": None, "steps": 2, "error": None}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "kind", "body"),
    [
        (401, "application/json", '{"error": {"message": "wrong key"}}'),
        (200, "text/html", "<h1>It works!</h1>"),
        (200, "application/json", '{"choices": "none"}'),
        (200, "application/json", '{"choices": [{"mess'),
    ],
)
def test_an_unusable_endpoint_is_one_sentence_and_exit_code_4(
    agent: Callable[..., Ran], site: Site, status: int, kind: str, body: str
) -> None:
    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    with _served(ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)) as port:
        ran = agent(site.address, base_url=f"http://127.0.0.1:{port}/v1")
    assert ran.code == 4
    assert len(ran.stderr.strip().splitlines()) == 1, ran.stderr
    assert ran.stderr.startswith("The model endpoint ")
    assert ran.result is not None
    assert ran.result["ending"] == "model_error"


@pytest.mark.slow
def test_an_endpoint_that_does_not_exist_is_one_sentence_and_exit_code_4(
    agent: Callable[..., Ran], site: Site
) -> None:
    ran = agent(site.address, base_url=f"http://127.0.0.1:{reserved_port()}/v1")
    assert ran.code == 4
    assert "cannot be reached" in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1


@pytest.mark.slow
def test_a_browser_that_does_not_exist_is_one_sentence_and_exit_code_3(
    agent: Callable[..., Ran], site: Site, model: str
) -> None:
    ran = agent(site.address, "--browser", "/nowhere/chromium", base_url=model)
    assert ran.code == 3
    assert "/nowhere/chromium" in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1
    assert ran.result is None
