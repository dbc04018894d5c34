"""Other people's agents, unmodified, behind the proxy: what they do is read, and judged rightly.

They are installed as their users do, with uv and npm, and driven as their own pages say. A scripted
model asks again once what failed.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection

from tests.proxy.support.websocket import serving
from tests.slow.harness import WAREX, own_authority, site
from tests.slow.model_server import Line, ModelServer, model_server
from warex.analysis.inspection.timeline import Inspection, inspect_trial
from warex.sandbox.chromium import find_chromium

pytestmark = [pytest.mark.slow, pytest.mark.browser]

PROGRAMS = Path(__file__).with_name("agent_programs")
NODE = ("agent-browser@0.41.2", "@playwright/mcp@0.0.83", "@browserbasehq/stagehand@3.7.3")
TASK = "What does the lamp cost?"
PAGES = {
    "/": "<title>Shop</title><h1>The shop</h1><p>We sell one lamp.</p><a href=/lamp>Lamp</a>",
    "/lamp": "<title>Lamp</title><h1>A lamp</h1><p>It costs 25 euros.</p>",
}
SHOP = "https://shop.test/"
FAULTS: Mapping[str, Mapping[str, Any]] = {
    "server": {"kind": "http_error", "status": 500},
    "network": {"kind": "network_error", "delay": 0.2},
    "late": {"kind": "http_error", "status": 503},
}
SILENT = {"kind": "websocket_fault", "action": "drop"}
LIVE = """<title>Lamp</title><h1>The lamp costs</h1><p id=price>…</p><script>
new WebSocket("wss://shop.test/live").onmessage = it => {
  document.getElementById("price").textContent = it.data;
}</script>"""
"""A page whose price comes over a WebSocket."""
PARTIAL: Mapping[str, Mapping[str, Any]] = {
    "truncated": {"kind": "truncated_body"},
    "stalled": {"kind": "stalled_body", "stall": 1, "then": "close"},
}


@dataclass(frozen=True)
class Agent:
    """An agent, its script, and what it does, hand-derived, an item for each step."""

    program: str
    script: tuple[Line, ...]
    clean: tuple[str, ...]
    early: tuple[str, ...]
    """If the shop's page fails."""
    late: tuple[str, ...]
    """If the lamp's page fails."""
    asks_early: int
    """The step that asks again for the shop's page, if that fails."""
    asks_late: int


def python(code: str) -> str:
    return f"Thought: so.\n<code>\n{code}\n"


def calls(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


def script(start: Any, more: Any, end: Any, again: Any, *looks: Line) -> tuple[Line, ...]:
    """What the model says: at the beginning, at the shop, at the lamp, and to anything else."""
    answer = {"25 euros": end, "We sell one lamp": more, f"(?s)^[^{{]*{TASK[:-1]}": start}
    first, second, third = (Line(words, what, in_last=True) for words, what in answer.items())
    return (first, second, *looks, third, Line("", again, in_last=True))


BODY = 'print(get_driver().find_element("tag name", "body").text)'
VISIT = f'print(visit_webpage(url="{SHOP}"))'
NAVIGATE = calls("navigate_browser", url=SHOP)
BROWSE = calls("browser_navigate", url=SHOP)
SURF = calls("visit_url", reasoning="So.", url=SHOP)
AGENTS = {
    "smolagents": Agent(
        "smolagents_code.py",
        script(
            python(f'url = "{SHOP}"\nprint(visit_webpage(url))'),
            python(f'base = "{SHOP}"\nlamp = visit_webpage(url=f"{{base}}lamp")\nprint(lamp)'),
            python('final_answer("It costs 25 euros.")'),
            python(VISIT),
        ),
        ("visit_webpage", "visit_webpage", "final_answer"),
        ("visit_webpage", "visit_webpage", "visit_webpage", "final_answer"),
        ("visit_webpage", "visit_webpage", "visit_webpage", "visit_webpage", "final_answer"),
        2,
        4,
    ),
    "helium": Agent(
        "smolagents_helium.py",
        script(
            python(f'go_to("{SHOP}")\n{BODY}'),
            python(f'click("Lamp")\n{BODY}'),
            python('final_answer("It costs 25 euros.")'),
            python(f"refresh()\n{BODY}"),
        ),
        ("go_to", "click", "final_answer"),
        ("go_to", "refresh", "click", "final_answer"),
        ("go_to", "click", "refresh", "final_answer"),
        2,
        3,
    ),
    "langchain": Agent(
        "langchain_playwright.py",
        script(
            NAVIGATE,
            calls("navigate_browser", url=f"{SHOP}lamp"),
            "It costs 25 euros.",
            NAVIGATE,
            Line("status code 200", calls("extract_text"), in_last=True),
        ),
        ("navigate_browser", "extract_text", "navigate_browser", "extract_text", ""),
        (
            *("navigate_browser", "navigate_browser", "extract_text", "navigate_browser"),
            *("extract_text", ""),
        ),
        (
            "navigate_browser",
            "extract_text",
            "navigate_browser",
            "navigate_browser",
            "extract_text",
            "navigate_browser",
            "extract_text",
            "",
        ),
        2,
        6,
    ),
    "openai-agents": Agent(
        "openai_agents_mcp.py",
        script(
            BROWSE,
            calls("browser_navigate", url=f"{SHOP}lamp"),
            "It costs 25 euros.",
            BROWSE,
            Line(r"\[Snapshot\]", calls("browser_snapshot"), in_last=True),
        ),
        ("browser_navigate", "browser_snapshot", "browser_navigate", "browser_snapshot", ""),
        (
            *("browser_navigate", "browser_snapshot", "browser_navigate", "browser_snapshot"),
            *("browser_navigate", "browser_snapshot", ""),
        ),
        (
            "browser_navigate",
            "browser_snapshot",
            "browser_navigate",
            "browser_snapshot",
            "browser_navigate",
            "browser_snapshot",
            "browser_navigate",
            "browser_snapshot",
            "",
        ),
        3,
        7,
    ),
    "agent-browser": Agent(
        "shell_agent.py",
        script(
            calls("bash", command=f'U={SHOP}; agent-browser open "$U" && agent-browser snapshot'),
            calls("bash", command="agent-browser click a; agent-browser get text body"),
            "It costs 25 euros.",
            calls("bash", command="agent-browser reload; agent-browser snapshot"),
        ),
        ("open snapshot", "click get", ""),
        ("open snapshot", "reload snapshot", "click get", ""),
        ("open snapshot", "click get", "reload snapshot", ""),
        2,
        3,
    ),
    "autogen": Agent(
        "autogen_surfer.py",
        script(SURF, calls("visit_url", reasoning="So.", url=f"{SHOP}lamp"), "25 euros.", SURF),
        ("visit_url", "visit_url"),
        ("visit_url", "visit_url", "visit_url"),
        ("visit_url", "visit_url", "visit_url", "visit_url"),
        2,
        4,
    ),
    "stagehand": Agent(
        "stagehand_agent.mjs",
        script(
            calls("goto", url=SHOP),
            calls("goto", url=f"{SHOP}lamp"),
            calls("done", reasoning="It costs 25 euros.", taskComplete=True),
            calls("goto", url=SHOP),
            Line('"success":true,"url"', calls("ariaTree"), in_last=True),
        ),
        ("goto", "", "goto", "", "done"),
        ("goto", "", "goto", "", "goto", "", "done"),
        ("goto", "", "goto", "", "goto", "", "goto", "", "done"),
        3,
        7,
    ),
}


@pytest.fixture(scope="session")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a Python environment and Node's packages for all agents."""
    folder = tmp_path_factory.mktemp("agents")
    shutil.copytree(PROGRAMS, folder, dirs_exist_ok=True)
    (folder / "package.json").write_text('{"private": true}')
    uv = [sys.executable, "-m", "uv"]
    environment = folder / "venv" / "bin" / "python"
    _bring([*uv, "venv", "-q", "--python", sys.executable, folder / "venv"], folder)
    install = [*uv, "pip", "install", "-q", "--compile-bytecode", "--python", environment]
    _bring([*install, "-r", folder / "python.txt"], folder)
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    _bring(["npm", "install", *quiet, *NODE], folder)
    own_authority(folder)
    return folder


def _bring(command: Sequence[object], folder: Path) -> None:
    words = list(map(str, command))
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=400, check=False
    )
    assert done.returncode == 0, done.stderr


@dataclass(frozen=True)
class Ran:
    """A finished trial."""

    output: str
    inspection: Inspection
    model: ModelServer

    @property
    def steps(self) -> list[str]:
        """The actions of each step, in a line."""
        return [
            " ".join(action.partition("(")[0] for action in step.actions)
            for step in self.inspection.steps
        ]


@pytest.fixture(params=AGENTS)
def agent(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@contextmanager
def _trial(
    kit: Path,
    agent: str,
    fault: str,
    folder: Path,
    lines: tuple[Line, ...] = (),
    shop: AbstractContextManager[int] | None = None,
) -> Iterator[Ran]:
    """Run an agent behind the proxy as a user would; ``lines``: what its model says."""
    page = f"{SHOP}lamp" if fault == "late" else SHOP
    match = {"url": page, "resource": ["document", "other"]}
    if fault == "silent":
        match = {"url": "wss://shop.test/*", "resource": ["websocket"]}
    rule = {"name": fault, "match": match, "trigger": {"first": 1}}
    scenario = {"schema_version": 1, "name": fault or "clean", "rules": []}
    if fault:
        scenario["rules"] = [{**rule, "fault": {**FAULTS, **PARTIAL, "silent": SILENT}[fault]}]
    (folder / "scenario.json").write_text(json.dumps(scenario))
    program = kit / AGENTS[agent].program
    runs = "node" if program.suffix == ".mjs" else kit / "venv" / "bin" / "python"
    with (
        model_server(*(lines or AGENTS[agent].script)) as model,
        shop or site(PAGES) as port,
    ):
        maps = {SHOP[:-1]: f"http://127.0.0.1:{port}", "https://api.openai.com": model.origin}
        options = [f"--map={name}={to}" for name, to in maps.items()]
        options += ["--site", SHOP[:-1], "--scenario", str(folder / "scenario.json")]
        done = subprocess.run(
            [
                *WAREX,
                "exec",
                *options,
                "--out",
                str(folder / "trial"),
                "--",
                str(runs),
                str(program),
                TASK,
            ],
            cwd=kit,
            env=os.environ
            | {
                "PATH": f"{kit / 'node_modules' / '.bin'}{os.pathsep}{os.environ['PATH']}",
                "OPENAI_API_KEY": "sk-test",
                "BROWSER": str(find_chromium()),
                "AGENT_BROWSER_EXECUTABLE_PATH": str(find_chromium()),
                "AGENT_BROWSER_ARGS": "--no-sandbox",
                "AGENT_BROWSER_SESSION": folder.name,
            },
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
        output = done.stdout + done.stderr
        assert done.returncode == 0, output
        yield Ran(output, inspect_trial(folder / "trial"), model)


def test_a_clean_run_has_its_steps_and_actions(kit: Path, agent: str, tmp_path: Path) -> None:
    with _trial(kit, agent, "", tmp_path) as ran:
        assert "25 euros" in ran.output
        assert ran.steps == list(AGENTS[agent].clean)
        assert [step.number for step in ran.inspection.steps] == [*range(1, len(ran.steps) + 1)]
        assert len(ran.model.served) == len(ran.steps)
        assert not ran.inspection.trial.injections
        assert "with an action that WAREX can read" not in ran.output


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_is_asked_again_is_recovered_from(
    kit: Path, agent: str, fault: str, tmp_path: Path
) -> None:
    with _trial(kit, agent, fault, tmp_path) as ran:
        does, asks = AGENTS[agent].early, AGENTS[agent].asks_early
        if fault == "late":
            does, asks = AGENTS[agent].late, AGENTS[agent].asks_late
        assert "25 euros" in ran.output
        assert ran.steps == list(does)
        (recovery,) = ran.inspection.trial.recoveries
        assert (recovery.verdict, recovery.tries) == ("recovered", 1), recovery
        (step,) = (one for one in ran.inspection.steps if one.seq == recovery.call_seq)
        assert step.number == asks


@contextmanager
def live_shop() -> Iterator[int]:
    """Serve the page, and its price over a WebSocket."""

    def page(channel: ServerConnection, request: Request) -> Response | None:
        if request.path == "/live":
            return None
        response = channel.respond(HTTPStatus.OK, LIVE)
        del response.headers["Content-Type"]
        response.headers["Content-Type"] = "text/html; charset=utf-8"
        return response

    def price(channel: ServerConnection) -> None:
        channel.send("25 euros")
        for _ in channel:
            pass

    with serving(price, process_request=page) as port:
        yield port


LOOK = f"import time\ntime.sleep(1)\n{BODY}"
SHELL_LOOK = "sleep 1; agent-browser get text body"
BY_WEBSOCKET: Mapping[str, tuple[Sequence[Any], Sequence[str]]] = {
    "helium": (
        (
            python(f'go_to("{SHOP}")\n{LOOK}'),
            python(f"refresh()\n{LOOK}"),
            python('final_answer("It costs 25 euros.")'),
        ),
        ("go_to sleep", "refresh sleep", "final_answer"),
    ),
    "agent-browser": (
        (
            calls("bash", command=f"agent-browser open {SHOP}; {SHELL_LOOK}"),
            calls("bash", command=f"agent-browser reload; {SHELL_LOOK}"),
            "It costs 25 euros.",
        ),
        ("open sleep get", "reload sleep get", ""),
    ),
}
"""What an agent says first, to a page without its price, and to one with it; and what it does."""


@pytest.mark.parametrize("agent", BY_WEBSOCKET)
def test_a_price_that_a_websocket_has_lost_is_there_after_a_reload(
    kit: Path, agent: str, tmp_path: Path
) -> None:
    (start, again, end), does = BY_WEBSOCKET[agent]
    lines = (
        Line("25 euros", end, in_last=True),
        Line("The lamp costs", again, in_last=True),
        Line("", start, in_last=True),
    )
    with _trial(kit, agent, "silent", tmp_path, lines, live_shop()) as ran:
        assert "25 euros" in ran.output
        assert ran.steps == list(does)
        (injection,) = ran.inspection.trial.injections
        assert injection.fate == "delivered"


@pytest.mark.parametrize("fault", PARTIAL)
@pytest.mark.parametrize("agent", ["smolagents", "helium"])
def test_a_page_that_came_in_part_is_asked_for_again(
    kit: Path, agent: str, fault: str, tmp_path: Path
) -> None:
    with _trial(kit, agent, fault, tmp_path) as ran:
        assert "25 euros" in ran.output
        assert ran.steps == list(AGENTS[agent].early)
        (injection,) = ran.inspection.trial.injections
        assert injection.fate == "delivered"
