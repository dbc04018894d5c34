"""What a program in a namespace meets: what it would have met, and the scenario's faults."""

import asyncio
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.engine.net.socks5_proxy import socks5_proxy
from tests.ports import reserved_port
from tests.proxy.support.lanes import scenario, wait_until
from tests.proxy.support.namespace_programs import BeginInside, mapped
from tests.proxy.support.origin import Answer, Origin, Seen, served
from tests.proxy.support.upstream import UpstreamProxy
from tests.proxy.support.websocket import echo_site
from warex.faults.server.http_error import HttpError
from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.process.forkserver import Forkserver
from warex.traces import (
    Canary,
    RequestSeen,
    ResponseSeen,
    SiteUnreachable,
    Tunnel,
    WebSocketSeen,
    read_trace,
)

pytestmark = pytest.mark.wire

_CONNECTED = "%{http_connect}"
_STATUS = ("-o", "/dev/null", "-w", "%{http_code}")


@pytest.mark.slow
def test_http_and_https_are_read_and_faults_reach_them(
    begin_inside: BeginInside, plain: Origin, secure_h2: Origin
) -> None:
    fault = scenario(HttpError(status=503), match={"url": "*/broken"})
    maps = (
        *mapped("http://shop.test", port=plain.port),
        *mapped("https://shop.test", port=secure_h2.port, scheme="https"),
    )
    with begin_inside(scenario=fault, maps=maps) as within:
        assert within.curl("http://shop.test/a") == "hello"
        assert within.curl("--http1.1", "https://shop.test/b") == "hello"
        assert within.curl("-w", "%{http_version}", "https://shop.test/c") == "hello2"
        assert within.curl(*_STATUS, "https://shop.test/broken") == "503"
        assert within.curl(*_STATUS, "http://shop.test/broken") == "503"
    assert [seen.url for seen in within.lane.events(RequestSeen)] == [
        "http://shop.test/a",
        "https://shop.test/b",
        "https://shop.test/c",
        "https://shop.test/broken",
        "http://shop.test/broken",
    ]
    assert plain.paths == ["/a"]
    assert secure_h2.paths == ["/b", "/c"]


@pytest.mark.slow
def test_untouched_traffic_speaks_what_the_site_speaks(
    begin_inside: BeginInside, secure_h1: Origin, secure_h2: Origin
) -> None:
    with begin_inside(host_ports=(secure_h1.port, secure_h2.port)) as within:
        for origin, version in ((secure_h1, "1.1"), (secure_h2, "2")):
            url = f"https://localhost:{origin.port}/"
            assert within.curl("-w", "%{http_version}", url) == f"hello{version}"


def test_addresses_without_a_name_are_read_too(begin_inside: BeginInside) -> None:
    fault = scenario(HttpError(status=418))
    with begin_inside(scenario=fault) as within:
        assert within.fetch("--status", "http://192.0.2.77/a") == "418"
        assert within.fetch("--status", "http://[2001:db8::7]/b") == "418"
        assert within.fetch("--status", "https://192.0.2.77/c") == "418"
        assert within.fetch("--status", "https://[2001:db8::7]:8443/d") == "418"
    assert [seen.url for seen in within.lane.events(RequestSeen)] == [
        "http://192.0.2.77/a",
        "http://[2001:db8::7]/b",
        "https://192.0.2.77/c",
        "https://[2001:db8::7]:8443/d",
    ]


def test_the_listener_serves_nobody_who_comes_by_himself(
    begin_inside: BeginInside, plain: Origin
) -> None:
    with begin_inside(host_ports=(plain.port,)) as within:
        port = within.space.passed.tcp[0].getsockname()[1]
        # Refused by the rules inside (7), or reset at the door (56).
        assert within.fetch_fails(f"http://127.0.0.1:{port}/") in (7, 56)
        assert within.fetch_fails(f"http://[::1]:{port}/") in (7, 56)
        assert within.fetch(f"http://127.0.0.1:{plain.port}/a") == "hello"
    assert within.lane.events(RequestSeen)[0].url == f"http://127.0.0.1:{plain.port}/a"


def test_loopback_is_the_namespaces_own_but_for_the_hosts_ports(
    begin_inside: BeginInside, plain: Origin
) -> None:
    with begin_inside() as within:
        # 7: refused in there, though a program listens outside.
        assert within.fetch_fails(f"http://127.0.0.1:{plain.port}/a") == 7
    assert within.lane.events(RequestSeen) == []


def test_a_dead_site_is_a_dead_connection(begin_inside: BeginInside) -> None:
    port = reserved_port()
    with begin_inside(host_ports=(port,)) as within:
        assert within.fetch_fails(f"http://127.0.0.1:{port}/") == 56
        assert within.fetch_fails(f"https://localhost:{port}/") == 56
        program = f"""
import socket
try:
    client = socket.create_connection(("127.0.0.1", {port}))
    client.sendall(b"\\0\\1")
    print(client.recv(1))
except ConnectionResetError:
    print("reset")
"""
        assert within.python(program) == "reset\n"
    answers = within.lane.events(ResponseSeen)
    assert [answer.by for answer in answers] == ["none"]
    seen = [(it.connection, it.exchange, it.failure) for it in within.lane.events(SiteUnreachable)]
    refused = "connection_refused"
    assert seen == [("c1", "x1", refused), ("c2", None, refused), ("", None, refused)]
    assert "cannot be reached" in within.lane.notices[0]


def test_the_canary_and_mapped_hosts_exist_without_a_resolver(
    begin_inside: BeginInside, plain: Origin
) -> None:
    with begin_inside(maps=mapped("http://no-such-site.invalid", port=plain.port)) as within:
        assert "canary" in within.fetch("http://canary.warex.test/1234")
        assert "canary" in within.fetch("https://canary.warex.test/1234")
        assert within.fetch("http://no-such-site.invalid/a") == "hello"
    assert len(within.lane.events(Canary)) == 2


def test_web_sockets_pass_and_are_recorded(begin_inside: BeginInside) -> None:
    program = """
from websockets.sync.client import connect
with connect("ws://chat.test/") as channel:
    channel.send("ping")
    print(channel.recv())
"""
    with echo_site() as port, begin_inside(maps=mapped("http://chat.test", port=port)) as within:
        assert "ping" in within.python(program)
    assert len(within.lane.events(WebSocketSeen)) >= 2


def test_streamed_events_arrive_one_by_one(begin_inside: BeginInside, plain: Origin) -> None:
    heard = threading.Event()

    async def events(
        seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
        # The second event waits until the client has the first.
        while not heard.is_set():
            await asyncio.sleep(0.005)
        writer.write(b"data: 2\n\n")
        writer.close()

    async def report(
        seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        heard.set()
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")

    plain.routes.update({"/events": events, "/heard": report})
    program = """
from urllib.request import urlopen
with urlopen("http://shop.test/events") as stream:
    print(stream.readline())
    urlopen("http://shop.test/heard").close()
    print(stream.read())
"""
    with begin_inside(maps=mapped("http://shop.test", port=plain.port)) as within:
        assert within.python(program) == "b'data: 1\\n'\nb'\\ndata: 2\\n\\n'\n"


def test_large_bodies_pass_both_ways(begin_inside: BeginInside, plain: Origin) -> None:
    body = bytes(range(256)) * 20_000
    plain.routes["/large"] = Answer(body=body)
    program = """
import hashlib
from urllib.request import Request, urlopen
body = bytes(range(256)) * 20_000
with urlopen(Request("http://shop.test/large", data=body)) as answer:
    print(answer.read() == body)
"""
    with begin_inside(maps=mapped("http://shop.test", port=plain.port)) as within:
        assert within.python(program) == "True\n"
    assert plain.seen[0].body == body


def test_all_goes_through_the_upstream_proxy_if_there_is_one(
    begin_inside: BeginInside, plain: Origin, secure_h2: Origin
) -> None:
    with (
        _service(_shout) as port,
        UpstreamProxy("user:secret") as upstream,
        begin_inside(
            host_ports=(plain.port, secure_h2.port, port),
            upstream=f"http://user:secret@127.0.0.1:{upstream.port}",
        ) as within,
    ):
        assert within.fetch(f"http://127.0.0.1:{plain.port}/a") == "hello"
        assert within.fetch(f"https://localhost:{secure_h2.port}/b") == "hello"
        assert within.python(_talk(port, b"abc", 3)) == "b'ABC'\n"
        assert len(upstream.asked) == 3


@pytest.mark.slow
def test_all_goes_through_a_socks5_proxy_if_there_is_one(
    begin_inside: BeginInside, plain: Origin
) -> None:
    with (
        _service(_greet) as port,
        socks5_proxy() as (proxy, asked),
        begin_inside(
            host_ports=(plain.port, port), upstream=f"socks5://127.0.0.1:{proxy}"
        ) as within,
    ):
        assert within.fetch(f"http://127.0.0.1:{plain.port}/a") == "hello"
        message = within.python(_talk(port, b"helo\r\n", 6, greeting=11))
        assert message == "b'220 ready\\r\\n'\nb'HELO\\r\\n'\n"
        assert asked == ["127.0.0.1", "127.0.0.1"]


@pytest.mark.slow
def test_http_2_without_tls_is_read_through_an_upstream_proxy(begin_inside: BeginInside) -> None:
    with (
        served(h2c=True) as site,
        UpstreamProxy() as upstream,
        begin_inside(
            host_ports=(site.port,), upstream=f"http://127.0.0.1:{upstream.port}"
        ) as within,
    ):
        url = f"http://127.0.0.1:{site.port}/a"
        assert within.curl("--http2-prior-knowledge", url) == "hello"
        assert len(upstream.asked) == 1
    assert [(it.url, it.http_version) for it in within.lane.events(RequestSeen)] == [
        (url, "HTTP/2.0")
    ]


@pytest.mark.slow
def test_a_clients_own_proxy_stays_the_next_one(
    begin_inside: BeginInside, secure_h2: Origin
) -> None:
    with (
        UpstreamProxy() as proxy,
        begin_inside(host_ports=(proxy.port,)) as within,
    ):
        asked = f"https://localhost:{secure_h2.port}/a"
        through = ("--proxy", f"http://127.0.0.1:{proxy.port}", "--noproxy", "")
        assert within.curl(*through, asked) == "hello"
        assert len(proxy.asked) == 1
    assert [seen.url for seen in within.lane.events(RequestSeen)] == [asked]


@pytest.mark.slow
@pytest.mark.parametrize("password", [None, "me:word"])
def test_a_clients_own_proxy_gets_whole_urls_and_its_password(
    begin_inside: BeginInside, plain: Origin, password: str | None
) -> None:
    url = f"http://127.0.0.1:{plain.port}/a"
    with (
        UpstreamProxy(password) as proxy,
        begin_inside(host_ports=(proxy.port,)) as within,
    ):
        through = ["--proxy", f"http://127.0.0.1:{proxy.port}", "--noproxy", ""]
        if password is not None:
            assert within.curl(*through, url, *_STATUS) == "407"
            refused = within.run("curl", "-s", *through, "-p", url, "-w", _CONNECTED)
            assert (refused.returncode, refused.stdout) == (56, "407")
            through += ["--proxy-user", password]
        assert within.curl(*through, url) == "hello"
        assert within.curl(*through, "-p", url) == "hello"
        if password is not None:
            assert within.curl(*through, "--proxy-anyauth", "-p", url) == "hello"
        tunnel = f"CONNECT 127.0.0.1:{plain.port}"
        assert proxy.asked == [f"GET {url}", tunnel] + [tunnel] * (password is not None)
    assert plain.seen[-1].header("proxy-authorization") is None
    assert url in [seen.url for seen in within.lane.events(RequestSeen)]
    assert within.lane.events(Tunnel) == []
    assert within.lane.events(SiteUnreachable) == []


# ---- what is not HTTP


def _shout(client: socket.socket) -> None:
    while data := client.recv(65536):
        client.sendall(data.upper())


def _greet(client: socket.socket) -> None:
    client.sendall(b"220 ready\r\n")
    _shout(client)


@contextmanager
def _service(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """A service that speaks no HTTP; every connection is served on a thread of its own."""

    def one(client: socket.socket) -> None:
        with client:
            serve(client)

    def accept() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=one, args=(client,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)


def _talk(port: int, data: bytes, answer: int, greeting: int = 0) -> str:
    return f"""
import socket
with socket.create_connection(("127.0.0.1", {port}), timeout=10) as client:
    if {greeting}:
        print(client.recv({greeting}, socket.MSG_WAITALL))
    client.sendall({data!r})
    print(client.recv({answer}, socket.MSG_WAITALL))
"""


def test_what_is_not_http_is_relayed_and_recorded(begin_inside: BeginInside) -> None:
    with _service(_shout) as port, begin_inside(host_ports=(port,)) as within:
        assert within.python(_talk(port, b"get some\r\n", 10)) == "b'GET SOME\\r\\n'\n"
    [tunnel] = within.lane.events(Tunnel)
    assert (tunnel.host, tunnel.port, tunnel.why) == ("127.0.0.1", port, "not_http")
    assert (tunnel.sent, tunnel.received) == (10, 10)


def test_a_server_may_speak_first(begin_inside: BeginInside) -> None:
    with _service(_greet) as port, begin_inside(host_ports=(port,)) as within:
        message = within.python(_talk(port, b"helo\r\n", 6, greeting=11))
        assert message == "b'220 ready\\r\\n'\nb'HELO\\r\\n'\n"
    [tunnel] = within.lane.events(Tunnel)
    assert (tunnel.sent, tunnel.received) == (6, 17)


def test_a_slow_client_of_a_silent_site_is_read_after_all(
    begin_inside: BeginInside, plain: Origin
) -> None:
    program = f"""
import select, socket
with socket.create_connection(("127.0.0.1", {plain.port}), timeout=10) as client:
    # Longer than anybody waits for a client's first word.
    select.select([client], [], [], 0.4)
    client.sendall(b"GET /slow HTTP/1.1\\r\\nHost: shop.test\\r\\nConnection: close\\r\\n\\r\\n")
    print(client.recv(15, socket.MSG_WAITALL))
"""
    with begin_inside(host_ports=(plain.port,)) as within:
        assert within.python(program) == "b'HTTP/1.1 200 OK'\n"
    assert [seen.url for seen in within.lane.events(RequestSeen)] == ["http://shop.test/slow"]


@pytest.mark.slow
def test_http_2_without_tls_is_read_and_faults_reach_it(begin_inside: BeginInside) -> None:
    fault = scenario(HttpError(status=503), match={"url": "*/broken"})
    with served(h2c=True) as site, begin_inside(scenario=fault, host_ports=(site.port,)) as within:
        site.routes["/rpc"] = Answer(trailers=[(b"grpc-status", b"0")])
        url = f"http://127.0.0.1:{site.port}"
        shown = within.curl("--http2-prior-knowledge", "-D", "-", "-d", "asked", f"{url}/rpc")
        assert shown.startswith("HTTP/2 200")
        assert "hello" in shown
        assert "grpc-status: 0" in shown
        assert within.curl("--http2-prior-knowledge", *_STATUS, f"{url}/broken") == "503"
        assert site.seen[0].body == b"asked"
        assert site.seen[0].version == "HTTP/2.0"
    versions = [(it.url, it.http_version) for it in within.lane.events(RequestSeen)]
    assert versions == [(f"{url}/rpc", "HTTP/2.0"), (f"{url}/broken", "HTTP/2.0")]


# ---- redirected by the machine's own rules


def test_redirected_connections_are_read_in_both_families(
    ca: CertificateAuthority, tmp_path: Path
) -> None:
    module = "tests.proxy.support.redirected_machine"
    program = [sys.executable, "-m", module, str(ca.folder), str(tmp_path)]
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--net", *program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.splitlines() == ["HTTP/1.1 200 OK", "HTTP/1.1 200 OK", "reset"], done.stderr
    seen = [it.url for it in read_trace(tmp_path / "events.jsonl").events(RequestSeen)]
    assert seen == ["http://192.0.2.7/a", "http://[2001:db8::7]/a"]


# ---- what is left behind


def test_trials_in_a_row_leave_no_handle_behind(
    begin_inside: BeginInside, forkserver: Forkserver, plain: Origin
) -> None:
    def handles(process: int | str | None) -> int:
        return len(os.listdir(f"/proc/{process}/fd"))

    def once() -> None:
        with begin_inside(maps=mapped("http://shop.test", port=plain.port)) as within:
            assert within.fetch("http://shop.test/a") == "hello"

    once()
    before = handles("self"), handles(forkserver.pid)
    for _ in range(3):
        once()
    # The site's own connections, which are of this process, end a moment later.
    wait_until(lambda: handles("self") <= before[0] and handles(forkserver.pid) <= before[1])


def test_a_proxy_whose_caller_was_killed_ends(ca: CertificateAuthority, tmp_path: Path) -> None:
    program = f"""
import sys, time
from pathlib import Path
from warex.proxy.certificates.ca import CertificateAuthority
from warex.lane.config import ProxyConfig
from warex.proxy.process.forkserver import Forkserver
from warex.proxy.process.client import start_proxy
from warex.sandbox.namespace.launcher import open_namespace
ca = CertificateAuthority(Path({str(ca.folder)!r}))
config = ProxyConfig(ca=ca.folder, capture="namespace")
with open_namespace(ca) as space, start_proxy(Forkserver(), config, passed=space.passed) as proxy:
    print(proxy.pid, flush=True)
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as caller:
        assert caller.stdout is not None
        proxy = Path("/proc", caller.stdout.readline().decode().strip())
        assert proxy.exists()
        caller.kill()
        wait_until(lambda: not proxy.exists())
