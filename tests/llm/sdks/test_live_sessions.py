"""Sessions of OpenAI Realtime and Gemini Live, with their vendors' SDKs, are calls to a model."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.server import ServerConnection

from tests.proxy.support.lanes import Begin, beginner, scenario
from tests.proxy.support.origin import server_context
from tests.proxy.support.websocket import serving
from warex.faults.streams.websocket_fault import WebsocketFault
from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca
from warex.proxy.process.forkserver import Forkserver
from warex.traces import FaultDelivered, LlmCall, LlmUnread

pytestmark = [pytest.mark.slow, pytest.mark.wire]

FILES = Path(__file__).with_name("python")
SESSION = {"type": "session.created", "session": {"id": "sess_1", "model": "gpt-realtime"}}
USAGE = {"total_tokens": 12, "input_tokens": 9, "output_tokens": 3}
COUNTED = {"promptTokenCount": 7, "responseTokenCount": 2, "totalTokenCount": 9}


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python with the two SDKs, in the versions of the vendors' pins."""
    made = tmp_path_factory.mktemp("sdks") / "live"
    uv = [sys.executable, "-m", "uv"]
    pins = (FILES / "pins" / "vendors.txt").read_text()
    wanted = re.findall(r"^(?:openai|google-genai|websockets)==\S+", pins, re.MULTILINE)
    assert len(wanted) == 3
    install = [*uv, "pip", "install", "-q", "--python", f"{made}/bin/python", *wanted]
    for command in ([*uv, "venv", "-q", "--python", sys.executable, str(made)], install):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return f"{made}/bin/python"


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    return ensure_ca(tmp_path_factory.mktemp("authority") / "ca")


@pytest.fixture
def begin(ca: CertificateAuthority, tmp_path: Path) -> Iterator[Begin]:
    forkserver = Forkserver()
    yield beginner(forkserver, ca, tmp_path)
    forkserver.close()


def realtime(channel: ServerConnection) -> None:
    def send(kind: str, **more: Any) -> None:
        channel.send(json.dumps({"type": kind, "event_id": "e", **more}))

    channel.send(json.dumps({"event_id": "e0", **SESSION}))
    text = ""
    for message in channel:
        sent = json.loads(message)
        if sent["type"] == "conversation.item.create":
            text = sent["item"]["content"][0]["text"]
        if sent["type"] != "response.create":
            continue
        response: dict[str, Any] = {
            "id": f"r-{text}",
            "object": "realtime.response",
            "status": "in_progress",
        }
        send("response.created", response=response)
        words = {"type": "output_text", "text": "Hello."}
        item: dict[str, Any] = {"id": "i1", "type": "message", "role": "assistant"}
        item["content"] = [words]
        if text == "buy":
            item = {"id": "i2", "type": "function_call", "name": "buy", "call_id": "c1"}
            item["arguments"] = "{}"
        response |= {"status": "completed", "output": [item], "usage": USAGE}
        send("response.done", response=response)


def live(channel: ServerConnection) -> None:
    def send(**message: Any) -> None:
        channel.send(json.dumps(message).encode())

    for message in channel:
        sent = json.loads(message)
        if "setup" in sent:
            send(setupComplete={})
        elif "clientContent" in sent or "client_content" in sent:
            call = {"id": "f1", "name": "buy", "args": {}}
            send(toolCall={"functionCalls": [call]}, usageMetadata=COUNTED)
        else:
            send(serverContent={"modelTurn": {"role": "model", "parts": [{"text": "Done."}]}})
            send(serverContent={"turnComplete": True}, usageMetadata=COUNTED)


@pytest.fixture(scope="module")
def ports(
    ca: CertificateAuthority, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[int, int]]:
    """The ports of both APIs; Google's SDK uses TLS in any case."""
    certificate, key = ca.leaf("localhost", tmp_path_factory.mktemp("leaf"))
    tls = server_context(certificate, key, ["http/1.1"])
    with serving(realtime) as plain, serving(live, tls) as secure:
        yield plain, secure


def talk(
    python: str, ports: tuple[int, int], ca: CertificateAuthority, proxy: str
) -> subprocess.CompletedProcess[str]:
    retained = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    environment = {"http_proxy": proxy, "https_proxy": proxy, "SSL_CERT_FILE": str(ca.certificate)}
    program = [python, str(FILES / "live_sessions.py"), *map(str, ports)]
    return subprocess.run(
        program,
        env=retained | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_live_sessions_are_read_and_changed_by_a_fault(
    begin: Begin, python: str, ca: CertificateAuthority, ports: tuple[int, int]
) -> None:
    with begin() as lane:
        done = talk(python, ports, ca, lane.url)
    assert done.returncode == 0, done.stderr[-2000:]
    heard = [[["message"], ["function_call"]], ["buy", "Done."]]
    assert json.loads(done.stdout) == heard
    calls = lane.events(LlmCall)
    assert [(it.family, it.model, it.complete) for it in calls] == [
        ("openai_responses", "gpt-realtime", True),
        ("openai_responses", "gpt-realtime", True),
        ("gemini", "gemini-live", True),
        ("gemini", "gemini-live", True),
    ]
    assert [(it.input_tokens, it.output_tokens, it.usage) for it in calls] == [
        (9, 3, "reported"),
        (9, 3, "reported"),
        (7, 2, "reported"),
        (7, 2, "reported"),
    ]
    assert [it.answer for it in calls] == ["Hello.", "", "", "Done."]
    assert [[call["name"] for call in it.tool_calls] for it in calls] == [[], ["buy"], ["buy"], []]
    assert not lane.events(LlmUnread)

    closing = WebsocketFault(code=1011, members={"/type": "response.done"})
    rules = scenario(closing, match={"url": f"ws://127.0.0.1:{ports[0]}/v1/realtime*"})
    with begin(scenario=rules) as lane:
        done = talk(python, ports, ca, lane.url)
    assert "1011" in done.stderr
    assert len(lane.events(FaultDelivered)) == 1
