"""The vendors' SDKs for Python, unmodified, ask models behind the proxy, in two ways."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.llm.sdks.python.sdk_io import ORIGINS
from warex.llm import LLM_APIS
from warex.traces import EVENTS, LlmCall, LlmUnread, read_trace

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
WAYS = ("namespace", "environment")


@dataclass(frozen=True)
class Ran:
    """What one run of all SDKs came to."""

    results: Mapping[str, Any]
    """What an SDK gave its caller, by what was done."""
    log: Sequence[Mapping[str, Any]]
    """The servers' calls."""
    calls: Sequence[LlmCall] = ()
    unread: Sequence[LlmUnread] = ()
    others: Sequence[Mapping[str, Any]] = ()
    """What the servers were asked that is of no family."""
    local: str = ""
    """Where this machine's own model is."""


@contextmanager
def models(log: Path) -> Iterator[Mapping[str, int]]:
    """Serve models; yield the vendors' ports."""
    command = [sys.executable, "-m", "tests.llm.sdks.python.models", str(log)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield json.loads(server.stdout.readline())
        finally:
            server.stdin.close()
            server.wait(10)


def ran(pythons: Mapping[str, str], folder: Path, way: str | None) -> Ran:
    """Have every SDK ask what it asks, without WAREX where there is no way."""
    log, out = folder / "log", folder / "trial"
    with models(log) as ports:
        here = {vendor: f"http://127.0.0.1:{port}" for vendor, port in ports.items()}
        # Without WAREX a vendor is on this machine; with it, where its SDK asks anyway.
        at = here if way is None else {}
        if way == "namespace":
            at = {"ollama": here["ollama"]}
        asked = json.dumps({"pythons": dict(pythons), "at": at})
        command = [sys.executable, "-m", "tests.llm.sdks.python.drive", asked]
        if way is not None:
            maps = [f"--map={ORIGINS[vendor]}={url}" for vendor, url in here.items()]
            ours = ["--quiet", "--isolate", way, "--out", str(out), *maps]
            ours.append(f"--host-ports={ports['ollama']}")
            command = [sys.executable, "-m", "warex.cli", "exec", *ours, "--", *command]
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=surroundings(folder),
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    print(done.stderr)
    text = done.stdout
    for vendor, url in here.items():
        text = text.replace(url, ORIGINS[vendor])
    served = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    document, noted = json.loads(text), [it for it in served if "family" in it]
    others = [it for it in served if "family" not in it]
    if way is None:
        return Ran(document, noted, others=others)
    trace = read_trace(out / EVENTS)
    calls, unread = trace.events(LlmCall), trace.events(LlmUnread)
    return Ran(document, noted, [*calls], [*unread], others, here["ollama"])


def surroundings(folder: Path) -> dict[str, str]:
    """The environment without what would lead an SDK elsewhere."""
    elsewhere = re.compile(r".*(_PROXY|_API_KEY|_BASE_URL|_API_BASE)$|(AWS|GOOGLE)_.*", re.I)
    retained = {name: it for name, it in os.environ.items() if not elsewhere.match(name)}
    own = {"WAREX_CA_DIR": str(folder / "ca"), "HOME": str(folder)}
    return {
        **retained,
        **own,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "AWS_EC2_METADATA_DISABLED": "1",
    }


@pytest.fixture(scope="module")
def without(pythons: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return ran(pythons, tmp_path_factory.mktemp("without"), None)


@pytest.fixture(scope="module", params=WAYS)
def behind(
    request: pytest.FixtureRequest,
    pythons: Mapping[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Ran:
    return ran(pythons, tmp_path_factory.mktemp("behind"), request.param)


def test_each_sdk_does_without_warex_what_it_was_made_for(without: Ran) -> None:
    fails = {"long", "overloaded", "broken", "cut"}
    failed = {name for name, it in without.results.items() if "error" in it}
    surprising = {name for name in failed if not fails & set(name.split())}

    assert {name: without.results[name] for name in surprising} == {}
    assert {it["family"] for it in without.log} == {family.name for family in LLM_APIS}


def test_an_sdk_gives_its_caller_what_it_would_without_warex(behind: Ran, without: Ran) -> None:
    assert behind.results.keys() == without.results.keys()
    differ = [
        name for name, reported in without.results.items() if behind.results[name] != reported
    ]
    texts = [f"{it}:\n  {behind.results[it]}\n  {without.results[it]}" for it in differ]
    assert not differ, "\n".join(texts)


def test_the_models_are_asked_what_they_would_be_without_warex(behind: Ran, without: Ran) -> None:
    differ = [
        (ours["vendor"], ours["path"], key, ours.get(key), theirs.get(key))
        for ours, theirs in zip(behind.log, without.log, strict=False)
        for key in {*ours, *theirs}
        if ours.get(key) != theirs.get(key)
    ]
    assert not differ, "\n".join(map(str, differ))
    assert len(behind.log) == len(without.log)
    assert {asked(it) for it in behind.others} == {asked(it) for it in without.others}


def asked(other: Mapping[str, Any]) -> tuple[str, str]:
    """Which request of no family it is; how often litellm asks Ollama for a model differs."""
    return other["vendor"], other["path"]


def test_every_call_is_read_as_the_server_answered_it(behind: Ran) -> None:
    assert len(behind.calls) == len(behind.log)
    differ = []
    for call, entry in zip(behind.calls, behind.log, strict=True):
        ours, theirs = read(call), expected_call(entry)
        ours["url"] = ours["url"].replace(behind.local, ORIGINS["ollama"])
        keys = [key for key in ours | theirs if ours.get(key) != theirs.get(key)]
        differ += [(entry["case"], call.url, it, ours.get(it), theirs.get(it)) for it in keys]
    assert not differ, "\n".join(map(str, differ))


def test_what_is_of_no_family_is_counted_where_a_model_writes(behind: Ran) -> None:
    generate = [ORIGINS[it["vendor"]] + it["path"] for it in behind.others if it["generates"]]

    assert sorted(it.url.partition("?")[0] for it in behind.unread) == sorted(generate)
    assert len(generate) >= 5


def test_a_repeat_by_the_sdk_is_not_a_step_of_its_own(behind: Ran) -> None:
    bodies = [entry["body"] for entry in behind.log]
    failed = [entry["finish"] == "error" for entry in behind.log]
    # What failed and is asked again at once; the same question as ever asked is a new one.
    again = [
        before == body and fails
        for (before, body), fails in zip(pairwise(bodies), failed, strict=False)
    ]
    steps = [call.step for call in behind.calls]

    assert [b == a for a, b in pairwise(steps)] == again
    assert sum(again) > 20


def read(call: LlmCall) -> dict[str, Any]:
    """What WAREX tells of a call, as far as its server knows it."""
    matches = {
        "url": call.url.partition("?")[0],
        "family": call.family,
        "asked": call.model_asked,
        "offered": [*_offered(call)],
        "images": re.findall("blob:sha256/([0-9a-f]{64})", json.dumps(call.messages)),
        "stream": call.stream,
        "status": call.status,
        "finish": call.finish,
        "complete": call.complete,
        "usage": call.usage,
    }
    if call.finish == "error":
        matches["error"] = (call.error or "").removeprefix(f"HTTP {call.status}: ")
    if not call.complete:
        return matches
    calls = [(it["id"], it["name"], json.loads(it["arguments"])) for it in call.tool_calls]
    matches |= {"model": call.model, "answer": call.answer, "calls": calls}
    if call.usage == "reported":
        matches["tokens"] = {
            "input": call.input_tokens,
            "output": call.output_tokens,
            "cache_read": call.cached_tokens,
            "cache_write": call.cache_write_tokens,
            "reasoning": call.reasoning_tokens,
        }
    return matches


def _offered(call: LlmCall) -> Iterator[str]:
    (family,) = (family for family in LLM_APIS if family.name == call.family)
    return family.tool_names(call.tools or [])


def expected_call(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What the server says of a call, in the words of ``read``."""
    full = entry["finish"] not in ("error", "cut")
    usage = "partial" if entry["status"] == 200 else "none"
    if full:
        usage = "reported" if entry["counted"] else "estimated"
    fields = {
        "url": ORIGINS[entry["vendor"]] + entry["path"],
        "family": entry["family"],
        "asked": entry["asked"],
        "offered": entry["offered"],
        "images": entry["images"],
        "stream": entry["stream"],
        "status": entry["status"],
        "finish": entry["finish"],
        "complete": full,
        "usage": usage,
    }
    if entry["finish"] == "error":
        fields["error"] = entry["error"]
    if not full:
        return fields
    named = entry["family"] not in ("gemini", "ollama")
    calls = [(it["id"] if named else "", it["name"], it["input"]) for it in entry["calls"]]
    fields |= {"model": entry["asked"], "answer": entry["text"], "calls": calls}
    if entry["counted"]:
        fields["tokens"] = entry["tokens"]
    return fields
