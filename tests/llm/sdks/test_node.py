"""The vendors' SDKs for Node, unmodified, ask models behind the proxy, in every way to be there."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.llm.sdks.conftest import node
from warex.traces import EVENTS, LlmCall, LlmUnread, read_trace

pytestmark = pytest.mark.slow

MODELS = "https://models.test"
WAYS = {
    "namespace": ("namespace", "current"),
    "environment": ("environment", "current"),
    "environment, the machine's Node": ("environment", "installed"),
}
"""How a command is behind the proxy, and by which Node. The SDKs ask for Node 22 or later; one
before 22.21 heeds the proxy variables by our doing."""


@dataclass(frozen=True)
class Ran:
    """What one run of all SDKs came to."""

    results: Mapping[str, Any]
    """What an SDK gave its caller, by what was done."""
    log: Sequence[Mapping[str, Any]]
    """The server's calls."""
    calls: Sequence[LlmCall] = ()
    unread: Sequence[LlmUnread] = ()


def node_of(packages: Path, which: str) -> str:
    """Return the Node to run with: the one of the packages, or the machine's."""
    if which == "current":
        return node(packages)
    executable = shutil.which("node")
    assert executable, "no node: install the package nodejs"
    return executable


@contextmanager
def models(packages: Path, log: Path) -> Iterator[int]:
    """Serve models; yield the port."""
    log.touch()
    command = [node(packages), "models.mjs", str(log)]
    with subprocess.Popen(
        command, cwd=packages, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.stdin.close()
            server.wait(10)


def ran(packages: Path, folder: Path, way: tuple[str, str] | None) -> Ran:
    """Have every SDK ask what it asks, without WAREX where there is no way."""
    log, out = folder / "log", folder / "trial"
    with models(packages, log) as port:
        here = f"http://127.0.0.1:{port}"
        isolate, which = way or (None, "current")
        command = [node_of(packages, which), "drive.mjs", here if way is None else MODELS]
        if way is not None:
            options = ["--quiet", "--isolate", isolate, "--out", str(out), "--map"]
            warex = [sys.executable, "-m", "warex.cli", "exec", *options, f"{MODELS}={here}", "--"]
            command = [*map(str, warex), *command]
        done = subprocess.run(
            command,
            cwd=packages,
            env={**os.environ, "WAREX_CA_DIR": str(folder / "ca")},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    served = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    if way is None:
        return Ran(json.loads(done.stdout), served)
    trace = read_trace(out / EVENTS)
    calls = sorted(trace.events(LlmCall), key=asked)
    return Ran(json.loads(done.stdout), served, calls, trace.events(LlmUnread))


@pytest.fixture(scope="module")
def without(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return ran(packages, tmp_path_factory.mktemp("without"), None)


@pytest.fixture(scope="module", params=WAYS)
def behind(
    request: pytest.FixtureRequest, packages: Path, tmp_path_factory: pytest.TempPathFactory
) -> Ran:
    return ran(packages, tmp_path_factory.mktemp("behind"), WAYS[request.param])


def test_each_sdk_does_without_warex_what_it_was_made_for(without: Ran) -> None:
    families = {"openai_chat", "openai_responses", "anthropic_messages", "gemini"}
    failed = {
        name.removesuffix(" streamed") for name, it in without.results.items() if "error" in it
    }

    assert {it["family"] for it in without.log} == families
    assert {name.split()[-1] for name in failed} == {"long", "overloaded", "broken", "cut", "gone"}
    assert {it["transport"] for it in without.log} == {"http", "websocket"}
    assert {it["status"] for it in without.log} == {200, 400, 429, 503, None}


def test_an_sdk_gives_its_caller_what_it_would_without_warex(behind: Ran, without: Ran) -> None:
    differ = [
        name for name, reported in without.results.items() if behind.results.get(name) != reported
    ]

    assert not differ, "\n".join(map(str, differ))
    assert behind.results.keys() == without.results.keys()


def test_the_models_are_asked_what_they_would_be_without_warex(behind: Ran, without: Ran) -> None:
    assert behind.log == without.log


def test_every_call_is_read_as_the_server_answered_it(behind: Ran) -> None:
    assert [it.url for it in behind.unread] == [f"{MODELS}/gateway/v4/ai/language-model"]
    assert len(behind.calls) == len(behind.log)
    differ = []
    for call, entry in zip(behind.calls, behind.log, strict=True):
        ours, theirs = read(call), expected_call(entry)
        keys = [key for key in ours | theirs if ours.get(key) != theirs.get(key)]
        differ += [(theirs["url"], key, ours.get(key), theirs.get(key)) for key in keys]
    assert not differ, "\n".join(map(str, differ))


def test_a_repeat_by_the_sdk_is_not_a_step_of_its_own(behind: Ran) -> None:
    steps, last = [0], None
    for entry in behind.log:
        steps.append(steps[-1] + (entry["body"] != last))
        last = entry["body"]

    assert [call.step for call in behind.calls] == steps[1:]
    assert len(set(steps)) < len(behind.log)


def asked(call: LlmCall) -> tuple[int, ...]:
    """When a call was asked, among the others: it may be over later than the next one."""
    return tuple(int(number) for number in call.exchange.removeprefix("x").split("/"))


def read(call: LlmCall) -> dict[str, Any]:
    """What WAREX tells of a call, as far as the server knows it."""
    return {
        "url": call.url.partition("?")[0],
        "family": call.family,
        "asked": call.model_asked,
        "stream": call.stream,
        "status": call.status,
        "finish": call.finish,
        "usage": call.usage,
        "complete": call.complete,
        **_complete(call),
    }


def _complete(call: LlmCall) -> dict[str, Any]:
    if call.finish == "error" and call.status is not None:
        return {"error": (call.error or "").removeprefix(f"HTTP {call.status}: ")}
    if not call.complete:
        return {}
    tools = [(it["name"], json.loads(it["arguments"])) for it in call.tool_calls]
    numbers = (
        call.input_tokens,
        call.output_tokens,
        call.cached_tokens,
        call.cache_write_tokens,
        call.reasoning_tokens,
    )
    return {
        "model": call.model,
        "answer": call.answer,
        "tools": tools,
        **({"tokens": numbers} if call.usage == "reported" else {}),
    }


def expected_call(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What the server says of a call, in the words of ``read``."""
    full = entry["finish"] not in ("error", "cut")
    usage = "reported" if full else "partial" if entry["status"] == 200 else "none"
    if entry["case"] == "unnumbered":
        usage = "estimated"
    fields = {
        "url": f"{MODELS}/{entry['case']}{entry['path']}",
        "family": entry["family"],
        "asked": entry["asked"],
        "stream": entry["stream"],
        "status": entry["status"],
        "finish": entry["finish"],
        "usage": usage,
        "complete": full,
    }
    if "error" in entry:
        return {**fields, "error": entry["error"]}
    if not full:
        return fields
    numbers = entry["usage"]
    keys = ("input", "output", "cacheRead", "cacheWrite", "reasoning")
    return {
        **fields,
        "model": entry["asked"],
        "answer": entry["text"],
        "tools": [(it["name"], it["input"]) for it in entry["tools"]],
        **({"tokens": tuple(numbers[key] for key in keys)} if usage == "reported" else {}),
    }
