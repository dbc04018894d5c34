"""What the user of a vendor's SDK meets when a model's stream breaks in its middle."""

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from tests.llm.sdks.python.sdk_io import ORIGINS
from tests.llm.sdks.test_python import ROOT, models, surroundings
from warex.llm import LLM_APIS
from warex.traces import (
    EVENTS,
    FaultDelivered,
    FaultMissed,
    HarnessBroke,
    Trace,
    read_trace,
)

pytestmark = pytest.mark.slow

BROKEN: Mapping[str, Mapping[str, Any]] = {
    "nothing": {},
    "stalled": {"kind": "llm_stall", "stall": 0.4},
    "broken event": {"kind": "llm_broken_event"},
    "error event": {"kind": "llm_error_event", "error": "overloaded"},
    "response failed": {"kind": "llm_error_event", "error": "server_error"},
    "no end marker": {"kind": "llm_cut", "before": "end_marker", "how": "clean"},
    "no finish": {"kind": "llm_cut", "before": "finish", "how": "clean"},
    "cut": {"kind": "llm_cut", "before": "finish", "how": "close"},
}
"""What the calls to each API meet, in their order."""


MET: Mapping[str, tuple[str | None, str | None, str | None, str | None]] = {
    "openai_chat": ("JSONDecodeError", "APIError", "APIError", "APIConnectionError"),
    "openai_responses": ("JSONDecodeError", None, None, "APIConnectionError"),
    "anthropic_messages": (
        "JSONDecodeError",
        "APIStatusError",
        "APIStatusError",
        "RemoteProtocolError",
    ),
    "gemini": ("UnknownApiResponseError", "ServerError", "ServerError", "RemoteProtocolError"),
    "bedrock_converse": (None, "EventStreamError", "EventStreamError", "ProtocolError"),
    "bedrock_invoke": (
        "JSONDecodeError",
        "EventStreamError",
        "EventStreamError",
        "ProtocolError",
    ),
    "ollama": ("JSONDecodeError", "ResponseError", "ResponseError", "RemoteProtocolError"),
    "cohere": (None, None, None, "RemoteProtocolError"),
}
"""What each SDK raises for a broken event, an error event of either kind, and a cut."""


def scenario() -> dict[str, Any]:
    """Return the scenario: the calls to each API are numbered by themselves."""
    rules = [
        {
            "name": name.replace(" ", "-"),
            "match": {"llm": {}},
            "trigger": {"nth": [number]},
            "per": "url",
            "fault": {**fault},
        }
        for number, (name, fault) in enumerate(BROKEN.items(), 1)
        if fault
    ]
    return {"schema_version": 1, "name": "broken-streams", "arm": "start", "rules": rules}


@pytest.fixture(scope="module")
def ran(pythons: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Trace]:
    """Have every SDK ask its API for a stream of each kind; return what they met, and the trace."""
    folder = tmp_path_factory.mktemp("streams")
    file, out = folder / "broken-streams.yaml", folder / "trial"
    file.write_text(yaml.safe_dump(scenario()))
    with models(folder / "log") as ports:
        here = {vendor: f"http://127.0.0.1:{port}" for vendor, port in ports.items()}
        maps = [f"--map={ORIGINS[vendor]}={url}" for vendor, url in here.items()]
        ours = ["--quiet", "--isolate", "environment", "--scenario", str(file), "--out", str(out)]
        asked = json.dumps({"at": {}, "broken": [*BROKEN]})
        python = pythons["openai_sdk"]
        program = [python, "-m", "tests.llm.sdks.python.broken_streams", asked]
        done = subprocess.run(
            [sys.executable, "-m", "warex.cli", "exec", *ours, *maps, "--", *program],
            cwd=ROOT,
            env=surroundings(folder),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), read_trace(out / EVENTS)


def test_every_fault_reaches_every_api_and_is_planned_once(ran: tuple[Any, Trace]) -> None:
    met, trace = ran

    assert met.keys() == {family.name for family in LLM_APIS}
    assert not trace.events(HarnessBroke)
    assert not trace.events(FaultMissed)
    assert len(trace.events(FaultDelivered)) == len(LLM_APIS) * (len(BROKEN) - 1)


@pytest.mark.parametrize("api", [family.name for family in LLM_APIS])
def test_a_paused_stream_is_complete_and_a_cut_one_only_looks_so(
    ran: tuple[Any, Trace], api: str
) -> None:
    met = ran[0][api]
    full = met["nothing"]["events"]

    assert met["stalled"] == met["nothing"] == {"events": full, "error": None}
    # OpenAI's marker is not an event to its user.
    assert met["no end marker"]["events"] == full - (api != "openai_chat") - (
        api == "bedrock_converse"
    )
    assert met["no finish"]["events"] <= met["no end marker"]["events"]
    assert met["no finish"]["error"] is met["no end marker"]["error"] is None


@pytest.mark.parametrize(("api", "errors"), MET.items())
def test_an_sdk_raises_or_says_nothing(
    ran: tuple[Any, Trace], api: str, errors: tuple[str | None, ...]
) -> None:
    met = ran[0][api]
    kinds = ("broken event", "error event", "response failed", "cut")

    assert tuple(met[kind]["error"] for kind in kinds) == errors
    for kind in kinds:
        assert met[kind]["events"] >= 3, kind


def test_the_docs_say_what_each_sdk_raises() -> None:
    docs = (ROOT / "docs/reference/faults.md").read_text()
    for api, (broken, error, _, cut) in MET.items():
        cells = [f"`{it}`" if it else "nothing" for it in (broken, error, cut)]
        (row,) = [line for line in docs.splitlines() if line.startswith(f"| `{api}` | `")]
        assert [cell.strip() for cell in row.split("|")[3:6]] == cells
