"""`warex mcp`: the client and the server are what they would be without it, but for the faults."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Warex
from tests.cli.process import WAREX, finished, proxy
from tests.proxy.support.lanes import wait_until
from warex.traces import (
    FaultDelivered,
    McpCall,
    RequestSeen,
    Unscored,
    Void,
    read_outcome,
    read_trace,
)

SERVER = """
import json, os, sys, time
print("the server's own words", file=sys.stderr, flush=True)
for line in sys.stdin.buffer:
    try:
        message = json.loads(line)
    except ValueError:
        sys.stdout.buffer.write(b"no json: " + line)
        sys.stdout.buffer.flush()
        continue
    if message.get("method") == "pid":
        answer = os.getpid()
    elif message.get("method") == "variables":
        answer = list(os.environ)
    else:
        answer = {"content": [{"type": "text", "text": "0123"}]}
    if "id" in message:
        text = json.dumps({"jsonrpc": "2.0",  "id": message["id"], "result": answer})
        sys.stdout.buffer.write(text.encode() + b"\\r\\n")
        sys.stdout.buffer.flush()
sys.exit(7)
"""
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
PYTHON = ("--", sys.executable, "-c")


@pytest.fixture(autouse=True)
def surroundings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No CA of the user's is made, and no trial is around but that of the test."""
    monkeypatch.setenv("WAREX_CA_DIR", str(tmp_path_factory.getbasetemp() / "mcp-ca"))
    for name in ("WAREX_PROXY", "WAREX_TASK", "WAREX_COMMAND"):
        monkeypatch.delenv(name, raising=False)


def asked(identifier: object, method: str = "tools/call", **arguments: object) -> bytes:
    params = {"name": "look", "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}
    return json.dumps(message).encode() + b"\n"


@contextmanager
def started(
    *arguments: object, environment: Mapping[str, str] | None = None
) -> "Iterator[subprocess.Popen[bytes]]":
    """Run a server behind `warex mcp`."""
    with subprocess.Popen(
        [*WAREX, "mcp", *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(environment or {})},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def answer_to(process: "subprocess.Popen[bytes]", message: bytes) -> dict[str, Any]:
    """Send a message; return the next line."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(message)
    process.stdin.flush()
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


def is_alive(process: int) -> bool:
    try:
        return b") Z " not in Path("/proc", str(process), "stat").read_bytes()
    except OSError:
        return False


@pytest.mark.wire
def test_a_server_alone_is_recorded_and_faulted_and_else_unchanged(tmp_path: Path) -> None:
    message = [b"no json \xff\n", b"\n", asked(1), asked(2), b'{"half": ']
    done = subprocess.run(
        [
            *WAREX,
            "mcp",
            "--scenario",
            "mcp/truncated",
            "--out",
            tmp_path / "trial",
            *PYTHON,
            SERVER,
        ],
        input=b"".join(message),
        capture_output=True,
        timeout=60,
        check=False,
    )

    junk = [b"no json: " + line for line in (message[0], message[1], message[4])]
    second = (
        b'{"jsonrpc": "2.0", "id": 2, "result": {"content": [{"type": "text", "text": "0123"}]}}'
    )
    lines = done.stdout.splitlines(keepends=True)
    assert lines[:2] == junk[:2]
    assert json.loads(lines[2])["result"]["content"][0]["text"] == "01"
    assert lines[3:] == [second + b"\r\n", junk[2]]
    assert done.stderr.decode() == "the server's own words\n"
    assert done.returncode == 7
    events = [entry.event for entry in read_trace(tmp_path / "trial/events.jsonl").entries]
    calls = [event for event in events if isinstance(event, McpCall)]
    assert [(it.transport, it.tool, it.complete) for it in calls] == [("stdio", "look", True)] * 2
    assert sum(isinstance(event, FaultDelivered) for event in events) == 1
    assert isinstance(read_outcome(tmp_path / "trial"), Unscored)


@pytest.mark.wire
@pytest.mark.slow
def test_each_start_has_a_trace_of_its_own(tmp_path: Path) -> None:
    for _ in range(2):
        done = finished("mcp", "--out", tmp_path / "tools", *PYTHON, "pass")
        assert done.returncode == 0, done.stderr

    assert sorted(it.name for it in tmp_path.iterdir()) == ["tools", "tools-2"]


@pytest.mark.wire
@pytest.mark.parametrize("mode", ["namespace", pytest.param("environment", marks=pytest.mark.slow)])
def test_the_relay_joins_execs_trial_without_the_clients_environment(
    mode: str, tmp_path: Path
) -> None:
    (tmp_path / "said").write_bytes(asked(1) + asked(2) + asked(3, "variables"))
    alone = [
        "env",
        "-i",
        f"PATH={os.environ['PATH']}",
        *WAREX,
        "mcp",
        "--name",
        "tools",
        *PYTHON,
        SERVER,
    ]
    client = f"import subprocess; subprocess.run({alone!r}, stdin=open('said'))"
    arguments = ("--isolate", mode, "--scenario", "mcp/truncated", "--out", "trial")
    done = finished("exec", *arguments, *PYTHON, client, folder=tmp_path)

    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [1, 2, 3], done.stderr
    # The server's own requests are the trial's, too.
    assert {"WAREX_COMMAND", "NODE_EXTRA_CA_CERTS"} <= set(answers[2]["result"])
    events = [entry.event for entry in read_trace(tmp_path / "trial/events.jsonl").entries]
    assert sum(isinstance(event, McpCall) for event in events) == 3
    assert sum(isinstance(event, FaultDelivered) for event in events) == 1
    assert [it.url for it in events if isinstance(it, RequestSeen)] == ["mcp+stdio://tools/"] * 3


@pytest.mark.wire
def test_with_a_proxy_it_joins_the_trial_or_the_task_and_fails_closed(tmp_path: Path) -> None:
    with proxy("--out", tmp_path / "trial", "--scenario", "mcp/tool-error") as running:
        own = {"WAREX_PROXY": running.url}
        named = ("--proxy", running.url.replace("http://", "http://other:x@"))
        with (
            started(*PYTHON, SERVER, environment=own) as one,
            started(*named, *PYTHON, SERVER) as two,
        ):
            # Each task has its own first call.
            assert "isError" in answer_to(one, asked(1))["result"]
            assert "isError" in answer_to(two, asked(1))["result"]
            assert "isError" not in answer_to(one, asked(2))["result"]
            running.process.kill()
            running.process.wait()
            # The trial goes on until its process has noticed.
            answers = (answer_to(one, asked(number)) for number in range(3, 10_000))
            refused = next(answer for answer in answers if "error" in answer)
            assert refused["error"]["code"] == -32603
            assert "does not answer" in refused["error"]["message"]
            assert "error" in answer_to(one, asked("more"))
            assert one.stdin is not None
            one.stdin.close()
            assert one.wait(20) == 7
        tasks = [
            entry.event.task
            for entry in read_trace(tmp_path / "trial/events.jsonl").entries
            if isinstance(entry.event, RequestSeen)
        ]
    assert tasks[:3] == ["", "other", ""]


@pytest.mark.slow
@pytest.mark.wire
def test_the_server_ends_with_a_signal_with_its_client_and_with_warex() -> None:
    with started(*PYTHON, SERVER) as process:
        server = answer_to(process, asked(1, "pid"))["result"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 128 + signal.SIGTERM
        assert not is_alive(server)

    # A client that closes its end, and a server that minds neither that nor SIGTERM.
    with started(*PYTHON, STUBBORN) as process:
        assert process.stdin is not None
        children = Path("/proc", str(process.pid), "task", str(process.pid), "children")
        wait_until(lambda: children.read_text().split(), 20)
        (server,) = map(int, children.read_text().split())
        process.stdin.close()
        process.kill()
        process.wait()
        wait_until(lambda: not is_alive(server), 20)


@pytest.mark.wire
@pytest.mark.slow
def test_a_void_trial_of_its_own_answers_with_errors(tmp_path: Path) -> None:
    out = tmp_path / "trial"
    with started("--out", out, *PYTHON, SERVER) as process:
        answer_to(process, asked(1))
        size = (out / "events.jsonl").stat().st_size
        subprocess.run(["prlimit", f"--fsize={size}:{size}", "--pid", str(process.pid)], check=True)
        assert "error" in answer_to(process, asked(2))
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(20) == 3
    assert isinstance(read_outcome(out), Void)


@pytest.mark.wire
@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_stream_of_any_length_passes_in_bounded_memory(tmp_path: Path) -> None:
    count = 40
    writer = f"import sys\nfor _ in range({count}): sys.stdout.write('x' * 10_000_000)"
    with started(*PYTHON, writer) as process:
        assert process.stdout is not None
        size, most = 0, 0
        while piece := process.stdout.read(1_000_000):
            size += len(piece)
            status = Path("/proc", str(process.pid), "status").read_text()
            most = max(most, int(status.partition("VmRSS:")[2].split()[0]))
        assert size == count * 10_000_000
        assert most < 500_000  # kB


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["mcp"], 2, "Missing argument 'CMD...'"),
        (["mcp", "--", "no-such-program"], 3, "no such program"),
        (["mcp", "--name", "A B", "--", "cat"], 2, "--name 'A B' is not a name of a server"),
        (["mcp", "--proxy", "8080", "--", "cat"], 2, "--proxy: '8080' is not a proxy"),
        (
            ["mcp", "--proxy", "http://127.0.0.1:9", "--seed", "1", "--", "cat"],
            2,
            "--seed belongs to the trial",
        ),
        (["mcp", "--proxy", "http://127.0.0.1:9", "--", "cat"], 3, "127.0.0.1:9 does not answer"),
        (["mcp", "--task", "one", "--", "cat"], 2, "--task names a task of a trial"),
        (["mcp", "--proxy", "http://127.0.0.1:9", "--task", "\n", "--", "cat"], 2, "--task '\\n'"),
        (["mcp", "--scenario", "none", "--", "cat"], 2, "there is no scenario 'none'"),
    ],
)
def test_a_mistake_is_a_sentence(warex: Warex, arguments: list[str], code: int, text: str) -> None:
    ended = warex(*arguments)
    assert ended.code == code
    assert text in ended.err
    assert ended.err.count("\n") <= 4
