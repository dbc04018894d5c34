"""Other people's clients and servers of tools on standard input and output, behind `warex mcp`.

The SDKs start a server with a few variables only, so the trial around it is found without its
environment.
"""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import WAREX
from tests.proxy.support.origin import Answer, served
from tests.slow.test_mcp import CALLS, FAULTS, SCENARIO, Came, Kit, asked, kit, untimed  # noqa: F401
from warex.sandbox.chromium import find_chromium
from warex.scenarios import Scenario
from warex.traces import Event, FaultDelivered, FaultPlanned, McpCall, RequestSeen, read_trace

pytestmark = [pytest.mark.slow, pytest.mark.wire]

KINDS = ("python 1", "python 2", "typescript")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No CA of the user's is made; the SDKs keep this variable."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def behind(command: Sequence[str], *options: object) -> list[str]:
    return [*WAREX, "mcp", *map(str, options), "--", *command]


def converse(kit: Kit, kind: str, server: Sequence[str], calls: Sequence[Any]) -> Came:  # noqa: F811
    return asked(kit, kind, "stdio", json.dumps(list(server)), calls)


def events(out: Path) -> list[Event]:
    return [entry.event for entry in read_trace(out / "events.jsonl").entries]


def calls_in(out: Path) -> list[McpCall]:
    return [it for it in events(out) if isinstance(it, McpCall) and it.method == "tools/call"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_sdks_say_is_unharmed_and_recorded_as_the_server_logs_it(
    kit: Kit,  # noqa: F811
    kind: str,
    tmp_path: Path,
) -> None:
    out, log = tmp_path / "trial", tmp_path / "log"
    server = [*kit.words(kind, "server"), "stdio", "0", str(log)]
    direct = converse(kit, kind, server, CALLS)
    log.unlink()
    through = converse(kit, kind, behind(server, "--out", out), CALLS)

    assert untimed(through) == untimed(direct)
    calls = calls_in(out)
    assert [(it.tool, it.arguments) for it in calls] == [tuple(it) for it in CALLS[1:]]
    assert all(it.complete and it.transport == "stdio" for it in calls)
    logged = [json.loads(line) for line in log.read_text().split("\n") if line]
    assert [it.tool for it in calls[:-1]] == [it["tool"] for it in logged]


@pytest.mark.parametrize("kind", KINDS)
def test_the_sdks_see_each_fault_as_what_it_is(
    kit: Kit,  # noqa: F811
    kind: str,
    tmp_path: Path,
) -> None:
    out, scenario = tmp_path / "trial", tmp_path / "scenario.json"
    scenario.write_text(SCENARIO.model_dump_json())
    server = [*kit.words(kind, "server"), "stdio", "0", str(tmp_path / "log")]
    calls: list[Any] = [[None, {}], *[["shout", {"text": "hello!"}]] * len(FAULTS)]
    options = ("--scenario", scenario, "--out", out)
    listed, *came = converse(kit, kind, behind(server, *options), calls)

    tool, protocol, after, half, unknown, slow, empty, http = came
    assert "add" not in listed["tools"]
    assert "shout" in listed["tools"]
    assert (tool["failed"], tool["said"]) == (True, ["broken"])
    assert (after["failed"], after["said"]) == (True, ["broken"])
    assert protocol["error"] == -32603
    assert half["said"] == ["HEL"]
    assert unknown["error"] == -32602
    assert slow["said"] == ["HELLO!"]
    assert slow["seconds"] >= 1.5
    # Where a tool promises data as well, an SDK refuses a result without.
    assert empty.get("said") == [] or "structured" in empty["words"]
    assert http["error"] == -32603
    seen = events(out)
    for event in (FaultPlanned, FaultDelivered):
        assert sum(isinstance(it, event) for it in seen) == len(FAULTS) + 1


@pytest.mark.parametrize("mode", ["namespace", "environment"])
def test_a_browser_that_is_a_server_of_tools_joins_the_trial_of_its_agent(
    kit: Kit,  # noqa: F811
    mode: str,
    tmp_path: Path,
) -> None:
    program = kit.folder / "node/node_modules/@playwright/mcp/cli.js"
    arguments = ["--headless", "--isolated", "--no-sandbox", "--output-dir", str(tmp_path)]
    browser = ["--browser", "chromium", "--executable-path", str(find_chromium())]
    rule = {
        "name": "first look",
        "match": {"url": "mcp+stdio://playwright-mcp/", "mcp": {"tool": "browser_snapshot"}},
        "trigger": {"first": 1},
        "fault": {"kind": "mcp_error", "text": "The browser is busy."},
    }
    scenario = Scenario.model_validate({"name": "tools", "rules": [rule]})
    (tmp_path / "scenario.json").write_text(scenario.model_dump_json())
    out = tmp_path / "trial"
    with served() as site:
        html = [(b"Content-Type", b"text/html")]
        site.routes["/page"] = Answer(headers=html, body=b"<title>t</title><h1>Here it is</h1>")
        url = "http://shop.warex.test/page"
        calls: list[Any] = [
            [None, {}],
            ["browser_navigate", {"url": url}],
            ["browser_snapshot", {}],
            ["browser_snapshot", {}],
        ]
        server = behind(["node", str(program), *arguments, *browser])
        client = [*kit.words("typescript", "client"), "stdio", json.dumps(server)]
        options = ["--isolate", mode, "--scenario", str(tmp_path / "scenario.json")]
        options += ["--map", f"http://shop.warex.test=http://127.0.0.1:{site.port}"]
        done = subprocess.run(
            [*WAREX, "exec", *options, "--out", str(out), "--", *client],
            input=json.dumps(calls),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=dict(os.environ),
        )
    listed, went, failed, seen = json.loads(done.stdout.strip().rpartition("\n")[2])

    assert "browser_click" in listed["tools"]
    assert not went["failed"], went["said"]
    assert (failed["failed"], failed["said"]) == (True, ["The browser is busy."])
    assert "Here it is" in seen["said"][0]
    retained = calls_in(out)
    assert [(it.tool, it.is_error) for it in retained] == [
        ("browser_navigate", False),
        ("browser_snapshot", True),
        ("browser_snapshot", False),
    ]
    # The page of its browser is in the same trace.
    assert url in [it.url for it in events(out) if isinstance(it, RequestSeen)]
    assert [it.rule for it in events(out) if isinstance(it, FaultDelivered)] == ["first look"]
