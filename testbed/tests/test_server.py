import http.client
import json
import socket
import ssl
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from starlette.requests import Request
from starlette.responses import Response

from warex_testbed.server import Listener, Testbed, running, tls_context
from warex_testbed.sites import Sites
from warex_testbed.web import LARGEST_BODY, application, route

pytestmark = pytest.mark.wire


@pytest.fixture
def bed() -> Iterator[Testbed]:
    with Testbed() as running:
        yield running


def ask(
    port: int,
    method: str,
    target: str,
    body: bytes | Iterator[bytes] = b"",
    headers: Mapping[str, str] = MappingProxyType({}),
) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, target, body or None, dict(headers))
        answer = connection.getresponse()
        return answer, answer.read()
    finally:
        connection.close()


def test_a_connection_is_kept_for_the_next_request(bed: Testbed) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", bed.port, timeout=30)
    connection.request("GET", "/")
    connection.getresponse().read()
    first = connection.sock
    connection.request("HEAD", "/week")
    answer = connection.getresponse()
    assert answer.read() == b""
    assert int(answer.headers["Content-Length"]) > 1000
    assert connection.sock is first
    connection.close()


def test_only_static_files_may_be_kept_by_the_browser(bed: Testbed) -> None:
    page_answer, _ = ask(bed.port, "GET", "/")
    script_answer, _ = ask(bed.port, "GET", "/static/app.js")
    assert page_answer.headers["Cache-Control"] == "no-store"
    assert "max-age" in script_answer.headers["Cache-Control"]


def test_the_state_is_on_the_admin_port_and_on_no_other(bed: Testbed) -> None:
    _, body = ask(bed.admin_port, "GET", "/state")
    assert json.loads(body)["calendar.warex.test"]["today"] == "2026-06-10"
    answer, _ = ask(bed.port, "GET", "/state")
    assert answer.status == 404


def test_a_write_is_seen_and_a_reset_takes_it_back(bed: Testbed) -> None:
    before = ask(bed.admin_port, "GET", "/state")[1]
    answer, _ = ask(bed.port, "POST", "/events", b"title=A&date=2026-06-12&start=9:00")
    assert answer.status == 303
    assert ask(bed.admin_port, "GET", "/state")[1] != before
    ask(bed.admin_port, "POST", "/reset")
    assert ask(bed.admin_port, "GET", "/state")[1] == before


def test_a_reset_ends_the_connections_that_there_are(bed: Testbed) -> None:
    with socket.create_connection(("127.0.0.1", bed.port), timeout=30) as visitor:
        visitor.sendall(b"HEAD / HTTP/1.1\r\nHost: calendar.warex.test\r\n\r\n")
        assert visitor.recv(65536)
        ask(bed.admin_port, "POST", "/reset")
        assert visitor.recv(1) == b""


def test_requests_from_before_a_reset_change_nothing() -> None:
    sites = Sites()
    listener = Listener(("127.0.0.1", 0), sites.visit)
    connection = http.client.HTTPConnection("127.0.0.1", listener.port, timeout=30)
    with running(listener):
        connection.request("GET", "/")
        connection.getresponse().read()
        sites.reset()
        before = sites.state()
        connection.request("DELETE", "/api/events/1")
        assert connection.getresponse().status == 200
        assert sites.state() == before
        assert sites.requests == 0
        connection.close()


def test_a_body_too_large_or_without_a_valid_length_is_refused(bed: Testbed) -> None:
    answer, _ = ask(bed.port, "POST", "/events", headers={"Content-Length": str(LARGEST_BODY + 1)})
    assert answer.status == 413
    for length in ("9" * 5000, "-5", "many"):
        answer, _ = ask(bed.port, "POST", "/events", headers={"Content-Length": length})
        assert answer.status == 400
        assert answer.headers["Connection"] == "close"  # the unread body is not the next request


def test_a_body_in_chunks_is_one_like_another_until_it_is_too_large(bed: Testbed) -> None:
    chunks = (b"title=A&date=", b"2026-06-12&start=9:00")
    assert ask(bed.port, "POST", "/events", iter(chunks))[0].status == 303
    assert ask(bed.port, "POST", "/events", iter([b"x" * LARGEST_BODY, b"x"]))[0].status == 413


def test_the_rest_of_a_body_that_was_refused_is_not_the_next_request(bed: Testbed) -> None:
    large = b"x" * (LARGEST_BODY + 1)
    head = f"POST /events HTTP/1.1\r\nHost: x\r\nContent-Length: {len(large)}\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", bed.port), timeout=30) as visitor:
        visitor.sendall(head)
        assert visitor.recv(12) == b"HTTP/1.1 413"
        visitor.sendall(large + b"GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert b"HTTP/1.1 404" in b"".join(iter(lambda: visitor.recv(65536), b""))


def test_a_broken_handler_answers_500_and_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    def broken(request: Request) -> Response:
        raise RuntimeError("no such shelf")

    app = application([route("GET", "/x", broken)], broken)
    listener = Listener(("127.0.0.1", 0), lambda: app)
    with running(listener):
        answer, body = ask(listener.port, "GET", "/x")
    assert answer.status == 500
    assert b"Something broke" in body
    assert capfd.readouterr().err == "testbed: GET /x failed: RuntimeError('no such shelf')\n"


def test_a_client_that_hangs_up_or_talks_nonsense_is_not_an_error(
    bed: Testbed, capfd: pytest.CaptureFixture[str]
) -> None:
    for sent in (b"", b"\x16\x03\x01", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx"):
        with socket.create_connection(("127.0.0.1", bed.port), timeout=30) as visitor:
            visitor.sendall(sent)
    ask(bed.port, "GET", "/")
    assert capfd.readouterr().err == ""


def test_leaving_ends_who_waits() -> None:
    with Testbed() as bed:
        silent = socket.create_connection(("127.0.0.1", bed.port), timeout=30)
        ask(bed.port, "GET", "/")
    with silent:
        assert silent.recv(1) == b""


def test_a_port_in_use_leaves_nothing_open(bed: Testbed) -> None:
    with pytest.raises(OSError, match="in use"):
        Testbed(port=bed.port)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(OSError, match="in use"):
        Testbed(port=port, admin_port=bed.admin_port)
    socket.create_server(("127.0.0.1", port)).close()


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "calendar.warex.test")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("calendar.warex.test")]), False)
        .sign(key, hashes.SHA256())
    )
    chain, private = tmp_path / "cert.pem", tmp_path / "key.pem"
    chain.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return chain, private


def test_the_sites_speak_tls_and_a_silent_client_holds_up_nobody(
    certificate: tuple[Path, Path],
) -> None:
    trust = ssl.create_default_context(cafile=certificate[0])
    with (
        Testbed(tls=tls_context(*certificate)) as bed,
        socket.create_connection(("127.0.0.1", bed.port)),
        socket.create_connection(("127.0.0.1", bed.port), timeout=30) as plain,
        trust.wrap_socket(plain, server_hostname="calendar.warex.test") as secured,
    ):
        secured.sendall(b"GET /static/app.js HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert secured.recv(15) == b"HTTP/1.1 200 OK"
        while secured.recv(65536):
            pass
