"""Several trials in one process: told apart by port, proxy user and header, and never mixed."""

import base64
import resource
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pydantic import JsonValue

from tests.proxy.support.client import (
    H2Client,
    read_answer,
    read_until_closed,
    secure,
    trusting,
    tunnelled,
)
from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Origin
from warex.errors import InputError
from warex.faults.connection.connection_cut import ConnectionCut
from warex.faults.connection.network_error import NetworkError
from warex.faults.connection.tls_error import TlsError
from warex.faults.server.http_error import HttpError
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Trigger
from warex.traces import (
    Control,
    FaultDelivered,
    FaultPlanned,
    RequestRefused,
    RequestSeen,
    TaskBegan,
    TrialBegan,
    TrialEnded,
    read_outcome,
    read_trace,
)

pytestmark = pytest.mark.wire

CLEAN = None
CUT = (ConnectionError, ssl.SSLError)


def fails(status: int, **trigger: Any) -> dict[str, Any]:
    """A scenario, as the control API takes it."""
    of = scenario(HttpError(status=status), Trigger(**(trigger or {"always": True})))
    written: dict[str, Any] = of.model_dump(mode="json", exclude_none=True)
    return written


def start(lane: Lane, name: str, **more: Any) -> dict[str, Any]:
    begun: dict[str, Any] = lane.proxy.call("POST", "/task/begin", {"task": name, **more})
    return begun


def end(lane: Lane, name: str) -> dict[str, Any]:
    ended: dict[str, Any] = lane.proxy.call("POST", "/task/end", {"task": name})
    return ended


def status(lane: Lane, name: str) -> dict[str, Any]:
    call: dict[str, Any] = lane.proxy.call("GET", f"/status?task={name}")
    return call


def events[E: msgspec.Struct](begun: dict[str, Any], kind: type[E]) -> list[E]:
    return list(read_trace(Path(begun["trace"]) / "events.jsonl").events(kind))


def fetch(port: int, url: str, *lines: str) -> tuple[int, bytes]:
    """Ask a proxy for a page over plain HTTP."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        head = [f"GET {url} HTTP/1.1", f"Host: {url.split('/')[2]}", "Connection: close", *lines]
        client.sendall("\r\n".join([*head, "", ""]).encode())
        data = read_until_closed(client)
    return int(data.split(b" ", 2)[1]), data.partition(b"\r\n\r\n")[2]


def user(name: str) -> str:
    return "Proxy-Authorization: Basic " + base64.b64encode(f"{name}:x".encode()).decode()


@contextmanager
def named_tunnel(lane: Lane, name: str, origin: Origin, ca: CertificateAuthority) -> Iterator[Any]:
    """Open TLS through the proxy as a proxy user."""
    raw = socket.create_connection(("127.0.0.1", lane.port), timeout=10)
    where = f"localhost:{origin.port}"
    raw.sendall(f"CONNECT {where} HTTP/1.1\r\nHost: {where}\r\n{user(name)}\r\n\r\n".encode())
    assert read_answer(raw)[0].startswith(b"HTTP/1.1 200 ")
    context = trusting(ca.certificate)
    with raw, context.wrap_socket(raw, server_hostname="localhost") as client:
        yield client


def get(client: Any, path: str, *lines: str) -> bytes:
    head = "\r\n".join([f"GET {path} HTTP/1.1", "Host: localhost", *lines, "", ""])
    client.sendall(head.encode())
    return read_answer(client)[0]


def test_port_user_name_and_header_separate_trials(begin: Begin, plain: Origin) -> None:
    site = f"http://127.0.0.1:{plain.port}"
    with begin(scenario=scenario(HttpError(status=500))) as lane:
        by_port = start(lane, "by-port", scenario=fails(501), port=0)
        by_user = start(lane, "by-user", scenario=fails(502))
        by_header = start(lane, "by-header", scenario=fails(503))
        clean = start(lane, "clean", scenario=CLEAN)
        got = [
            fetch(by_port["port"], f"{site}/port")[0],
            fetch(lane.port, f"{site}/user", user("by-user"))[0],
            fetch(lane.port, f"{site}/header", "X-Warex-Task: by-header")[0],
            fetch(lane.port, f"{site}/clean", "X-Warex-Task: clean")[0],
            fetch(lane.port, f"{site}/own")[0],
        ]
        begun = (by_port, by_user, by_header, clean)
        running = lane.proxy.call("GET", "/episodes")
        ended = [end(lane, it["task"]) for it in begun]
    assert got == [501, 502, 503, 200, 500]
    assert [it["task"] for it in running] == ["by-port", "by-user", "by-header", "clean"]
    assert [(it["exchanges"], it["delivered"]) for it in ended] == [(1, 1)] * 3 + [(1, 0)]
    for each, path in zip(begun, ("port", "user", "header", "clean"), strict=True):
        (request,) = events(each, RequestSeen)
        assert request.url == f"{site}/{path}"
        assert request.task == each["task"]
        assert not any(name.lower() == "x-warex-task" for name, _ in request.headers)
        assert [it.exchanges for it in events(each, TrialEnded)] == [1]
        assert (Path(each["trace"]) / "outcome.json").exists()
    assert [it.url for it in lane.events(RequestSeen)] == [f"{site}/own"]
    assert [it.call for it in lane.events(Control)] == [
        *["begin_episode"] * 4,
        "episodes",
        *["end_episode"] * 4,
    ]
    # What names an episode stays with the proxy.
    assert not [seen for seen in plain.seen if seen.header("x-warex-task")]


def test_two_agents_run_at_the_same_time_with_their_own_seeds(
    begin: Begin, secure_h1: Origin, ca: CertificateAuthority
) -> None:
    """Each ledger is that of the same trial in a process of its own."""
    often = scenario(HttpError(status=503), Trigger(probability=0.5), per="rule")
    written = often.model_dump(mode="json", exclude_none=True)
    seeds = {"one": 1, "two": 2}

    def ask(client: Any) -> list[bytes]:
        return [get(client, f"/{number}")[9:12] for number in range(24)]

    alone: dict[str, list[bytes]] = {}
    for name, seed in seeds.items():
        with (
            begin(scenario=often, seed=seed, insecure=True) as lane,
            secure(lane.port, "localhost", secure_h1.port, ca.certificate) as client,
        ):
            alone[name] = ask(client)

    together: dict[str, list[bytes]] = {}
    with begin(insecure=True) as lane:
        begun = {
            name: start(lane, name, scenario=written, seed=seed) for name, seed in seeds.items()
        }
        gate = threading.Barrier(2)

        def agent(name: str) -> None:
            with named_tunnel(lane, name, secure_h1, ca) as client:
                gate.wait()
                together[name] = ask(client)

        agents = [threading.Thread(target=agent, args=(name,)) for name in seeds]
        for each in agents:
            each.start()
        for each in agents:
            each.join()
        for name in seeds:
            end(lane, name)
    assert together == alone
    assert together["one"] != together["two"]
    for name, seed in seeds.items():
        assert [it.seed for it in events(begun[name], TrialBegan)] == [seed]
        assert [it.seed for it in events(begun[name], TaskBegan)] == [seed]
        planned = [it.url for it in events(begun[name], FaultPlanned)]
        expected = [n for n, it in enumerate(together[name]) if it == b"503"]
        assert planned == [f"https://localhost/{n}" for n in expected]
    assert lane.events(FaultPlanned) == []


def test_an_intensity_makes_the_faults_of_one_episode_larger(begin: Begin, plain: Origin) -> None:
    pending = scenario(HttpError(status=500, delay=0.1))
    with begin(scenario=pending) as lane:
        begun = start(lane, "long", intensity=4)
        fetch(lane.port, f"http://127.0.0.1:{plain.port}/", "X-Warex-Task: long")
        end(lane, "long")
        with pytest.raises(InputError, match="intensity: there is no scenario"):
            start(lane, "none", scenario=None, intensity=2)
    (delivered,) = events(begun, FaultDelivered)
    assert delivered.waited_s >= 0.4
    assert lane.events(FaultPlanned) == []


def test_faults_of_the_connection_follow_a_user_name_and_a_port(
    begin: Begin, secure_h1: Origin, ca: CertificateAuthority
) -> None:
    of = scenario(TlsError()).model_dump(mode="json", exclude_none=True)
    with begin(insecure=True) as lane:
        start(lane, "bad", scenario=of)
        own_port = start(lane, "port", scenario=of, port=0)["port"]
        for connect in (
            lambda: named_tunnel(lane, "bad", secure_h1, ca),
            lambda: secure(own_port, "localhost", secure_h1.port, ca.certificate),
        ):
            with pytest.raises(CUT), connect():
                pass
        with secure(lane.port, "localhost", secure_h1.port, ca.certificate) as client:
            assert get(client, "/").startswith(b"HTTP/1.1 200 ")
        ended = [end(lane, name) for name in ("bad", "port")]
    assert [it["delivered"] for it in ended] == [1, 1]


def test_trials_on_one_client_connection_share_no_connection_to_the_site(
    begin: Begin, secure_h2: Origin, ca: CertificateAuthority
) -> None:
    """A reset of one trial ends its own streams, and no other."""
    reset = scenario(ConnectionCut(), match={"url": "*/reset"})
    with begin(insecure=True) as lane:
        start(lane, "reset", scenario=reset.model_dump(mode="json", exclude_none=True))
        start(lane, "calm", scenario=None)
        with secure(lane.port, "localhost", secure_h2.port, ca.certificate, "h2") as connection:
            client = H2Client(connection, f"localhost:{secure_h2.port}")
            calm, resets = [("x-warex-task", "calm")], [("x-warex-task", "reset")]
            streams = [client.ask("/a", headers=calm), client.ask("/b", headers=resets)]
            assert [client.wait(it).status for it in streams] == [200, 200]
            assert len({it.connection for it in secure_h2.seen}) == 2
            pending = client.ask("/held", headers=calm, flush=False)
            cut = client.ask("/reset", headers=resets)
            assert client.wait(cut).reset is not None
            assert client.wait(pending).status == 200
            assert client.wait(client.ask("/c", headers=calm)).status == 200
        counts = [end(lane, name) for name in ("reset", "calm")]
    assert [(it["exchanges"], it["delivered"]) for it in counts] == [(2, 1), (3, 0)]


def test_connections_that_outlive_their_episode_reach_no_site(
    begin: Begin, secure_h1: Origin, plain: Origin, ca: CertificateAuthority
) -> None:
    site = f"http://127.0.0.1:{plain.port}"
    with begin(insecure=True) as lane:
        port = start(lane, "past", scenario=None, port=0)["port"]
        with (
            named_tunnel(lane, "past", secure_h1, ca) as client,
            secure(port, "localhost", secure_h1.port, ca.certificate) as other,
        ):
            assert get(client, "/in-time").startswith(b"HTTP/1.1 200 ")
            assert get(other, "/in-time").startswith(b"HTTP/1.1 200 ")
            ended = end(lane, "past")
            for each in (client, other):
                with pytest.raises(CUT):
                    get(each, "/late")
        assert fetch(lane.port, f"{site}/late", "X-Warex-Task: past")[0] == 403
        assert fetch(lane.port, f"{site}/late", user("past"))[0] == 403
        with pytest.raises(CUT), named_tunnel(lane, "past", secure_h1, ca):
            pass
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=30)
    assert [it.target for it in (*secure_h1.seen, *plain.seen)] == ["/in-time"] * 2
    assert ended["exchanges"] == 2
    assert lane.events(RequestSeen) == []
    refused = lane.events(RequestRefused)
    assert [(it.status, it.line.split()[0]) for it in refused] == [
        (403, "GET"),
        (403, "GET"),
        (403, "CONNECT"),
    ]


def test_an_open_exchange_ends_with_its_episode(begin: Begin, plain: Origin) -> None:
    pending = scenario(NetworkError(delay=60)).model_dump(mode="json", exclude_none=True)
    site = f"127.0.0.1:{plain.port}"
    with begin() as lane, tunnelled(lane.port, "127.0.0.1", plain.port) as client:
        begun = start(lane, "held", scenario=pending)
        client.sendall(f"GET / HTTP/1.1\r\nHost: {site}\r\nX-Warex-Task: held\r\n\r\n".encode())
        wait_until(lambda: status(lane, "held")["exchanges"])
        ended = end(lane, "held")
    assert (ended["exchanges"], ended["missed"], ended["broken"]) == (1, 1, None)
    assert len(events(begun, TrialEnded)) == 1


def test_one_that_breaks_is_void_and_the_others_are_not(begin: Begin, plain: Origin) -> None:
    site = f"http://127.0.0.1:{plain.port}"
    with begin() as lane:
        broken = start(lane, "broken", scenario=CLEAN)
        sound = start(lane, "sound", scenario=fails(501))
        for _ in range(20):
            fetch(lane.port, f"{site}/", "X-Warex-Task: broken")
        # From here on its trace, the longest, cannot be written.
        written = (Path(broken["trace"]) / "events.jsonl").stat().st_size
        resource.prlimit(lane.proxy.pid, resource.RLIMIT_FSIZE, (written, written))
        with pytest.raises((ConnectionError, ValueError)):
            fetch(lane.port, f"{site}/lost", "X-Warex-Task: broken")
        assert fetch(lane.port, f"{site}/", "X-Warex-Task: sound")[0] == 501
        states = [it["broken"] for it in lane.proxy.call("GET", "/episodes")]
        ended = [end(lane, name) for name in ("broken", "sound")]
        assert fetch(lane.port, f"{site}/")[0] == 200
        assert lane.proxy.broken is None
    assert "events.jsonl" in states[0]
    assert states[1] is None
    assert [it["broken"] for it in ended] == states
    assert [type(read_outcome(Path(it["trace"]))).__name__ for it in (broken, sound)] == [
        "Void",
        "Unscored",
    ]
    assert any("episode broken is void: " in sentence for sentence in lane.notices)
    assert "/lost" not in plain.paths


def test_no_trial_learns_anothers_secrets_or_traffic(begin: Begin, plain: Origin) -> None:
    site = f"http://127.0.0.1:{plain.port}"
    secrets = {"one": "correct-horse-1", "two": "battery-staple-2"}
    form = "Content-Type: application/x-www-form-urlencoded"
    with begin() as lane:
        begun = {name: start(lane, name, scenario=CLEAN) for name in secrets}
        for name, secret in secrets.items():
            lines = (f"X-Warex-Task: {name}", f"Cookie: session={secret}-cookie", form)
            fetch(lane.port, f"{site}/{name}?password={secret}", *lines)
        # What one trial has taken for a secret is ordinary text in another.
        fetch(lane.port, f"{site}/{secrets['one']}", "X-Warex-Task: two")
        for name in secrets:
            end(lane, name)
    traces = {name: (Path(it["trace"]) / "events.jsonl").read_text() for name, it in begun.items()}
    traces["own"] = (lane.out / "events.jsonl").read_text()
    for name, secret in secrets.items():
        assert f"/{name}?" in traces[name]
        assert secret not in traces[name]
        others = [text for other, text in traces.items() if other != name]
        assert not any(f"/{name}?" in text for text in others)
    assert f"{site}/{secrets['one']}" in traces["two"]


def test_what_cannot_begin_is_a_sentence_and_changes_nothing(
    begin: Begin, plain: Origin, tmp_path: Path
) -> None:
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "events.jsonl").write_text("{}\n")
    with socket.create_server(("127.0.0.1", 0)) as other, begin() as lane:
        start(lane, "a", scenario=CLEAN)
        busy = other.getsockname()[1]
        cases: list[tuple[dict[str, Any], str]] = [
            ({"task": "a", "port": 0}, "the episode 'a' is running; end it first"),
            ({"task": "a"}, "the episode 'a' is running; end it first"),
            ({"task": "", "port": 0}, "a task's name is 1 to 200"),
            ({"task": "b", "port": busy}, f"port {busy} on 127.0.0.1 is not available"),
            ({"task": "b", "port": 70000}, "port: 70000 is not allowed"),
            ({"task": "b", "scenario": "paper/sever-error"}, "did you mean 'paper/server-error'"),
            ({"task": "b", "scenario": {"name": "x", "rules": [{}]}}, "rules"),
            ({"task": "b", "scenario": "paper/network-error", "intensity": 0}, "intensity: 0"),
            ({"task": "b", "sites": ["shop"]}, "'shop' is not an origin"),
            ({"task": "b", "out": str(taken)}, "already holds a trace"),
        ]
        for body, says in cases:
            with pytest.raises(InputError) as caught:
                lane.proxy.call("POST", "/task/begin", body)
            assert says in str(caught.value), caught.value
        for path in ("/status?task=b", "/ledger?task=", "/episodes?task=%ff"):
            with pytest.raises(InputError, match="is running; GET /episodes lists"):
                lane.proxy.call("GET", path)
        with pytest.raises(InputError, match="no episode 'b' is running, nor is it the main task"):
            end(lane, "b")
        with pytest.raises(InputError, match="an episode is a trial beside the process's own"):
            lane.proxy.call("POST", "/task/begin?task=a", {"task": "b", "port": 0})
        assert [it["task"] for it in lane.proxy.call("GET", "/episodes")] == ["a"]
        assert lane.proxy.broken is None
    assert not (lane.out / "episodes" / "b").exists()


def test_each_episode_has_a_ledger_and_faults_of_its_own(begin: Begin, plain: Origin) -> None:
    site = f"http://127.0.0.1:{plain.port}"
    once: JsonValue = {"fault": {"kind": "http_error", "status": 503}}
    with begin() as lane:
        for name in ("a", "b"):
            start(lane, name, scenario=CLEAN)
        call = lane.proxy.call
        call("POST", "/faults?task=a", once)
        call("POST", "/disarm?task=b")
        call("POST", "/faults?task=b", once)
        got = [fetch(lane.port, f"{site}/", f"X-Warex-Task: {name}")[0] for name in ("b", "a", "a")]
        ledgers = [
            len(call("GET", path)) for path in ("/ledger?task=a", "/ledger?task=b", "/ledger")
        ]
        armed = [call("GET", path)["armed"] for path in ("/status?task=a", "/status?task=b")]
    assert got == [200, 503, 200]
    assert ledgers == [2, 0, 0]
    assert armed == [True, False]


def test_tasks_follow_each_other_within_an_episode(begin: Begin, plain: Origin) -> None:
    site = f"http://127.0.0.1:{plain.port}"
    with begin() as lane:
        start(lane, "a", scenario=fails(500, first=1))
        named = ("X-Warex-Task: a",)
        call, got = lane.proxy.call, []
        for task in ("first", "second"):
            call("POST", "/task/begin?task=a", {"task": task})
            got += [fetch(lane.port, f"{site}/", *named)[0] for _ in range(2)]
            call("POST", "/task/end?task=a")
            got.append(
                fetch(lane.port, f"{site}/", *(named if task == "first" else (user("a"),)))[0]
            )
        assert call("GET", "/status?task=a")["task"] == ""
        begun = end(lane, "a")
    assert got == [500, 200, 200] * 2
    assert [it.task for it in events(begun, TaskBegan)] == ["a", "first", "second"]
    requests = [it.task for it in events(begun, RequestSeen)]
    assert requests == ["first", "first", "", "second", "second", ""]


def test_episodes_that_still_run_end_with_the_process(begin: Begin, plain: Origin) -> None:
    with begin() as lane:
        begun = start(lane, "open", scenario=CLEAN)
        fetch(lane.port, f"http://127.0.0.1:{plain.port}/", "X-Warex-Task: open")
    assert [it.exchanges for it in events(begun, TrialEnded)] == [1]
    assert read_outcome(Path(begun["trace"])) is not None


def test_the_same_name_again_has_another_folder(begin: Begin) -> None:
    with begin() as lane:
        folders = []
        for _ in range(3):
            folders.append(start(lane, "a/b", scenario=CLEAN)["trace"])
            end(lane, "a/b")
    assert folders == [str(lane.out / "episodes" / it) for it in ("a%2Fb", "a%2Fb-2", "a%2Fb-3")]


def memory(pid: int) -> int:
    """Kilobytes of a process's own memory."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Private_"))


@pytest.mark.slow
def test_200_episodes_leave_memory_flat(begin: Begin, plain: Origin) -> None:
    site = f"http://127.0.0.1:{plain.port}"

    def play(count: int, first: int) -> None:
        for number in range(first, first + count):
            begun = start(lane, f"t{number}", scenario="paper/server-error", port=0)
            fetch(begun["port"], f"{site}/{number}")
            fetch(lane.port, f"{site}/{number}", user(f"t{number}"))
            assert end(lane, f"t{number}")["exchanges"] == 2

    with begin() as lane:
        play(40, 0)
        before = memory(lane.proxy.pid)
        play(200, 40)
        grown = memory(lane.proxy.pid) - before
        # At the same time, each with its scenario.
        for number in range(100):
            start(lane, f"s{number}", scenario="paper/server-error")
        of_running = (memory(lane.proxy.pid) - before - grown) / 100
    assert grown < 1500, f"{grown} kB"
    assert of_running < 300, f"{of_running} kB"
