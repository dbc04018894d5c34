"""A large body passes as it is, and whoever does not read it holds up nobody."""

import base64
import hashlib
import json
import socket
import threading
from collections.abc import Iterator

import httpx
import pytest

from tests.proxy.support.client import read_answer, trusting
from tests.proxy.support.lanes import Begin
from tests.proxy.support.model import PATH, completion
from tests.proxy.support.origin import Answer, Origin
from warex.llm.defences import Defence
from warex.proxy.certificates.ca import CertificateAuthority
from warex.traces import HarnessBroke, LlmCall, ResponseSeen

IMAGE = hashlib.shake_256(b"seen").digest(1_500_000)
URL = f"data:image/png;base64,{base64.b64encode(IMAGE).decode()}"
ASKED = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": URL}}]}]
CALL = json.dumps({"model": "m", "messages": ASKED}).encode()
ANSWER = Answer(headers=[(b"content-type", b"application/json")], body=completion("hi"))


@pytest.mark.wire
def test_a_large_call_arrives_unchanged_with_its_image_in_the_trace(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin
) -> None:
    secure_h1.routes[PATH] = ANSWER
    with begin() as lane, httpx.Client(proxy=lane.url, verify=trusting(ca.certificate)) as client:
        url = f"https://localhost:{secure_h1.port}{PATH}"
        assert client.post(url, content=CALL).content == ANSWER.body

    assert secure_h1.seen[0].body == CALL
    (call,) = lane.events(LlmCall)
    pending = call.messages[0]["content"][0]["image_url"]
    assert pending["media_type"] == "image/png"
    blob = lane.out / "blobs" / pending["url"].removeprefix("blob:")
    assert blob.read_bytes() == IMAGE


@pytest.mark.wire
@pytest.mark.slow
@pytest.mark.parametrize("defence", [None, Defence(name="hint", text="Reload.")])
def test_a_large_call_over_http2_arrives_as_it_was_sent(
    begin: Begin, ca: CertificateAuthority, secure_h2: Origin, defence: Defence | None
) -> None:
    secure_h2.routes[PATH] = ANSWER
    port = secure_h2.port
    with (
        begin(defence=defence) as lane,
        httpx.Client(http2=True, proxy=lane.url, verify=trusting(ca.certificate)) as client,
    ):
        answer = client.post(f"https://localhost:{port}{PATH}", content=CALL)
        assert (answer.content, answer.http_version) == (ANSWER.body, "HTTP/2")

    system = {"role": "system", "content": "Reload."}
    asked = [system, *ASKED] if defence else ASKED
    assert json.loads(secure_h2.seen[0].body)["messages"] == asked
    assert defence or secure_h2.seen[0].body == CALL
    assert lane.events(LlmCall)[0].complete


@pytest.fixture
def deaf() -> Iterator[socket.socket]:
    """A listener whose connections only a test reads."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@pytest.mark.wire
@pytest.mark.slow
def test_a_site_that_answers_before_it_has_read_all_is_heard(
    begin: Begin, deaf: socket.socket
) -> None:
    over = threading.Event()

    def answer() -> None:
        site, _ = deaf.accept()
        with site:
            site.recv(1000)
            site.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
            over.wait(20)

    threading.Thread(target=answer, daemon=True).start()
    with begin() as lane, socket.create_connection(("127.0.0.1", lane.port), timeout=10) as client:
        client.sendall(_upload(deaf, 32_000_000))
        head, _ = read_answer(client)
        over.set()

    assert head.startswith(b"HTTP/1.1 413")
    assert lane.events(ResponseSeen)[0].status == 413


@pytest.mark.wire
@pytest.mark.slow
def test_a_client_that_leaves_a_stalled_upload_ends_the_exchange(
    begin: Begin, deaf: socket.socket
) -> None:
    with begin() as lane:
        with socket.create_connection(("127.0.0.1", lane.port), timeout=10) as client:
            client.sendall(_upload(deaf, 32_000_000))
            site, _ = deaf.accept()
        with site:
            site.settimeout(10)
            while site.recv(1_000_000):
                pass

    assert lane.events(HarnessBroke) == []
    assert lane.events(ResponseSeen)[0].error


def _upload(site: socket.socket, size: int) -> bytes:
    address = f"127.0.0.1:{site.getsockname()[1]}"
    head = f"POST http://{address}{PATH} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {size}"
    return f"{head}\r\n\r\n".encode() + bytes(size)
