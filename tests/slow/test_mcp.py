"""Other people's clients and servers of tools: the official SDKs of MCP, and Playwright's server.

They are brought as their users bring them, with npm and uv, and are no dependency of WAREX.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.ports import reserved_port
from tests.proxy.conftest import ca, forkserver  # noqa: F401 - fixtures
from tests.proxy.support.lanes import Lane, beginner, wait_until
from tests.proxy.support.origin import Answer, served
from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.process.forkserver import Forkserver
from warex.sandbox.chromium import find_chromium
from warex.sandbox.env_mode import prepare
from warex.scenarios import Scenario
from warex.traces import FaultDelivered, FaultPlanned, McpCall

pytestmark = [pytest.mark.slow, pytest.mark.wire]

PROGRAMS = Path(__file__).with_name("mcp_programs")
PYTHON = {"python 1": "mcp==1.30.0", "python 2": "mcp==2.3.0"}
NODE = ("@modelcontextprotocol/sdk@1.32.2", "@playwright/mcp@0.0.83", "express@5", "zod@3")
NODE_PROXY = Path(prepare.__file__).with_name("node_proxy.js")
NAME = "tools.test"


@dataclass(frozen=True)
class Kit:
    """What was brought: a Python for each SDK of Python, and a folder with Node's packages."""

    folder: Path

    def words(self, kind: str, program: str) -> list[str]:
        """The command that runs one of the programs."""
        if kind == "typescript":
            return ["node", str(self.folder / "node" / f"{program}.mjs")]
        return [str(self.folder / kind / "bin" / "python"), str(PROGRAMS / f"{program}.py")]


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Kit:
    folder = tmp_path_factory.mktemp("kit")
    shutil.copytree(PROGRAMS, folder / "node")
    uv = [sys.executable, "-m", "uv"]
    for kind, package in PYTHON.items():
        python = folder / kind / "bin" / "python"
        bring([*uv, "venv", "-q", "--python", sys.executable, folder / kind], folder)
        bring(
            [*uv, "pip", "install", "-q", "--compile-bytecode", "--python", python, package], folder
        )
    (folder / "node/package.json").write_text('{"private": true}')
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    bring(["npm", "install", *quiet, *NODE], folder / "node")
    return Kit(folder)


def bring(command: Sequence[object], folder: Path) -> None:
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr


@contextmanager
def running(command: Sequence[str], port: int) -> Iterator[None]:
    """Run a server until the block ends."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as server:
        try:
            wait_until(lambda: server.poll() is not None or is_open(port), 60)
            assert server.poll() is None, server.stderr.read() if server.stderr else ""
            yield
        finally:
            server.terminate()


def is_open(port: int) -> bool:
    with socket.socket() as tried:
        tried.settimeout(1)
        return tried.connect_ex(("127.0.0.1", port)) == 0


type Came = list[dict[str, Any]]


def asked(
    kit: Kit, kind: str, transport: str, url: str, calls: Sequence[Any], lane: Lane | None = None
) -> Came:
    """Let a client make calls; return what came of each."""
    proxies = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
    environment = {name: it for name, it in os.environ.items() if name.upper() not in proxies}
    if lane is not None:
        environment |= dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy"), lane.url)
        environment["NODE_USE_ENV_PROXY"] = "1"
        environment["NODE_OPTIONS"] = f"--require={NODE_PROXY}"
    done = subprocess.run(
        [*kit.words(kind, "client"), transport, url],
        input=json.dumps(calls),
        env=environment,
        capture_output=True,
        text=True,
        timeout=80,
        check=False,
    )
    assert done.stdout.strip(), done.stderr[-3000:]
    came: Came = json.loads(done.stdout.strip().rpartition("\n")[2])
    return came


@dataclass
class Served:
    """A server of tools, and how a lane reaches it under a name of its own."""

    port: int
    log: Path
    path: str

    @property
    def direct(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.path}"

    @property
    def named(self) -> str:
        return f"http://{NAME}{self.path}"

    @property
    def maps(self) -> tuple[str, ...]:
        return (f"http://{NAME}=http://127.0.0.1:{self.port}",)

    def logged(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().split("\n") if line]


@contextmanager
def server(kit: Kit, kind: str, transport: str, folder: Path) -> Iterator[Served]:
    made = Served(reserved_port(), folder / "log", "/sse" if transport == "sse" else "/mcp")
    words = kit.words(kind, "server")
    with running([*words, transport, str(made.port), str(made.log)], made.port):
        yield made


PAIRS = [
    *(("python 1", it) for it in ("http", "json", "stateless", "sse")),
    *(("python 2", it) for it in ("modern", "http", "sse")),
    ("typescript", "http"),
]
CALLS: list[Any] = [
    [None, {}],
    ["shout", {"text": "hé\u2028 hello"}],
    ["add", {"a": 1, "b": 2}],
    ["fail", {"reason": "no"}],
    ["work", {"steps": 3}],
    ["nope", {}],
]


@pytest.mark.parametrize(("kind", "transport"), PAIRS)
def test_what_the_sdks_say_is_unharmed_and_recorded_as_the_server_logs_it(
    kit: Kit,
    kind: str,
    transport: str,
    forkserver: Forkserver,  # noqa: F811
    ca: CertificateAuthority,  # noqa: F811
    tmp_path: Path,
) -> None:
    client = transport if transport in ("sse", "modern") else "http"
    text = "http" if transport == "modern" else transport
    begin = beginner(forkserver, ca, tmp_path)
    with server(kit, kind, text, tmp_path) as tools:
        direct = asked(kit, kind, client, tools.direct, CALLS)
        before = len(tools.logged())
        with begin(maps=tools.maps) as lane:
            through = asked(kit, kind, client, tools.named, CALLS, lane)
        logged = tools.logged()[before:]

    assert untimed(through) == untimed(direct)
    calls = [it for it in lane.events(McpCall) if it.method == "tools/call"]
    assert [(it.tool, it.arguments) for it in calls] == [tuple(it) for it in CALLS[1:]]
    # The server has no tool for the last.
    known = calls[:-1]
    assert [{"tool": it.tool, "arguments": it.arguments} for it in known] == [
        {"tool": it["tool"], "arguments": it["arguments"]} for it in logged
    ]
    for call, line in zip(known, logged, strict=True):
        assert call.complete
        if line["result"] is None:
            assert call.is_error
            assert call.error
        else:
            assert call.result["content"][0]["text"] == str(line["result"])
    assert {it.transport for it in calls} == {"sse" if transport == "sse" else "streamable_http"}
    seconds = [came["seconds"] for came in through[1:]]
    assert all(0 < it.latency_s <= s + 0.1 for it, s in zip(calls, seconds, strict=True))


def untimed(came: Came) -> Came:
    return [{name: it for name, it in each.items() if name != "seconds"} for each in came]


FAULTS: list[dict[str, Any]] = [
    {"kind": "mcp_error", "text": "broken"},
    {"kind": "mcp_error", "error": "protocol"},
    {"kind": "mcp_error", "text": "broken", "stage": "response"},
    {"kind": "mcp_result_corrupt"},
    {"kind": "mcp_tool_missing"},
    {"kind": "mcp_slow", "delay": 1.5},
    {"kind": "mcp_result_corrupt", "how": "empty"},
    {"kind": "mcp_error", "error": "http_500"},
]
SCENARIO = Scenario.model_validate(
    {
        "name": "tools",
        "rules": [
            {
                "name": f"fault {number}",
                "match": {"mcp": {"method": "tools/call"}},
                "trigger": {"nth": number},
                "fault": fault,
            }
            for number, fault in enumerate(FAULTS, start=1)
        ]
        + [
            {
                "name": "no add",
                "match": {"mcp": {"method": "tools/list"}},
                "trigger": {"first": 1},
                "fault": {"kind": "mcp_tool_missing", "tool": "add"},
            }
        ],
    }
)


@pytest.mark.parametrize(("kind", "transport"), [("typescript", "http")])
def test_the_sdks_see_each_fault_as_what_it_is(
    kit: Kit,
    kind: str,
    transport: str,
    forkserver: Forkserver,  # noqa: F811
    ca: CertificateAuthority,  # noqa: F811
    tmp_path: Path,
) -> None:
    client = transport if transport in ("sse", "modern") else "http"
    begin = beginner(forkserver, ca, tmp_path)
    calls: list[Any] = [[None, {}], *[["shout", {"text": "hello!"}]] * len(FAULTS)]
    with (
        server(kit, kind, "http" if transport == "modern" else transport, tmp_path) as tools,
        begin(maps=tools.maps, scenario=SCENARIO) as lane,
    ):
        listed, *came = asked(kit, kind, client, tools.named, calls, lane)
        logged = tools.logged()

    # Python's first SDK gives up altogether over a 500.
    tool, protocol, after, half, unknown, slow, empty, http = [*came, {}][:8]
    assert "add" not in listed["tools"]
    assert "shout" in listed["tools"]
    assert (tool["failed"], tool["said"]) == (True, ["broken"])
    assert (after["failed"], after["said"]) == (True, ["broken"])
    assert protocol["error"] == -32603
    assert half["said"] == ["HEL"]
    assert unknown["error"] == -32602
    assert "Unknown tool: shout" in unknown["words"]
    assert slow["said"] == ["HELLO!"]
    assert slow["seconds"] >= 1.5
    # Where a tool promises data as well, an SDK refuses a result without.
    assert empty.get("said") == [] or "structured" in empty["words"]
    assert "said" not in http
    assert len(logged) == 4
    assert len(lane.events(FaultPlanned)) == len(lane.events(FaultDelivered)) == len(FAULTS) + 1
    retained = [it for it in lane.events(McpCall) if it.method == "tools/call"]
    assert [it.error is None for it in retained] == [it in (3, 5, 6) for it in range(len(FAULTS))]


def test_a_browser_that_is_a_server_of_tools_is_seen_and_meets_faults(
    kit: Kit,
    forkserver: Forkserver,  # noqa: F811
    ca: CertificateAuthority,  # noqa: F811
    tmp_path: Path,
) -> None:
    tools = Served(reserved_port(), tmp_path / "log", "/mcp")
    program = kit.folder / "node/node_modules/@playwright/mcp/cli.js"
    arguments = ["--headless", "--isolated", "--no-sandbox", "--allowed-hosts", "*"]
    browser = ["--browser", "chromium", "--executable-path", str(find_chromium())]
    command = ["node", str(program), *arguments, *browser, "--output-dir", str(tmp_path)]
    command += ["--port", str(tools.port)]
    scenario = Scenario.model_validate(
        {
            "name": "tools",
            "rules": [
                {
                    "name": "first look",
                    "match": {"mcp": {"tool": "browser_snapshot"}},
                    "trigger": {"first": 1},
                    "fault": {"kind": "mcp_error", "text": "The browser is busy."},
                }
            ],
        }
    )
    with served() as site:
        html = [(b"Content-Type", b"text/html")]
        site.routes["/page"] = Answer(headers=html, body=b"<title>t</title><h1>Here it is</h1>")
        url = f"http://127.0.0.1:{site.port}/page"
        calls: list[Any] = [
            [None, {}],
            ["browser_navigate", {"url": url}],
            ["browser_snapshot", {}],
            ["browser_snapshot", {}],
        ]
        with (
            running(command, tools.port),
            beginner(forkserver, ca, tmp_path)(maps=tools.maps, scenario=scenario) as lane,
        ):
            listed, went, failed, seen = asked(kit, "typescript", "http", tools.named, calls, lane)

    assert "browser_click" in listed["tools"]
    assert not went["failed"], went["said"]
    assert (failed["failed"], failed["said"]) == (True, ["The browser is busy."])
    assert "Here it is" in seen["said"][0]
    retained = [it for it in lane.events(McpCall) if it.method == "tools/call"]
    assert [(it.tool, it.arguments, it.is_error) for it in retained] == [
        ("browser_navigate", {"url": url}, False),
        ("browser_snapshot", {}, True),
        ("browser_snapshot", {}, False),
    ]
    assert "Here it is" in retained[2].result["content"][0]["text"]
    assert [it.rule for it in lane.events(FaultDelivered)] == ["first look"]
