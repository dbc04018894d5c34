"""Whose a connection and a request are, and what begins and ends an episode."""

import base64
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.lane.support.played import Authority, PlayedEngine, headers
from tests.proxy.support.lanes import configured, scenario
from warex.engine.handler import Address, Connection, Handler
from warex.engine.http.heads import RequestHead
from warex.errors import InputError
from warex.faults.server.http_error import HttpError
from warex.faults.walls.slow_page import SlowPage
from warex.lane.episodes.episodes import EpisodeOptions, Episodes
from warex.lane.episodes.refusal import Refusal
from warex.lane.lane import Lane, begin_lane
from warex.seeds import derive_seed
from warex.traces import Void, read_outcome


@dataclass(slots=True)
class PlayedServer:
    """Opens ports, but for one that is taken."""

    open: set[int] = field(default_factory=set)
    dropped: list[Handler] = field(default_factory=list)

    def open_port(self, port: int) -> int:
        if port == 1:
            raise InputError("port 1 is not available")
        self.open.add(port or 9001 + len(self.open))
        return max(self.open)

    def close_port(self, port: int) -> None:
        self.open.remove(port)

    async def drop(self, handler: Handler) -> None:
        self.dropped.append(handler)


class Process:
    """A process with its own trial, and what its episodes need."""

    def __init__(self, **config: Any) -> None:
        self.server = PlayedServer()
        self.own = begin_lane(configured(ca=Path("ca"), **config), Authority())
        self.own.engine.attach(PlayedEngine())
        self.episodes = Episodes(self.own, lambda of: begin_lane(of, Authority()))
        self.episodes.port = 9000
        self.episodes.attach(self.server)

    def begin(self, name: str, **options: Any) -> Lane:
        return self.episodes.begin(EpisodeOptions(name, **options)).lane

    def asked(self, connection: Connection, **fields: str) -> Handler:
        head = RequestHead(
            "GET", "http", "a.example", "/", "HTTP/1.1", headers(host="a.example", **fields)
        )
        return self.episodes.of_request(connection, head)


@pytest.fixture
def process() -> Process:
    return Process(seed=5, scenario=scenario(HttpError(status=500)))


def at(port: int = 9000, *, user: str = "", tunnel: bool = True) -> Connection:
    destination = Address("a.example", 443) if tunnel else None
    return Connection(1, Address("::1", 5), destination, port=port, proxy_user=user)


def basic(user: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:x".encode()).decode()


def test_without_episodes_everything_is_the_process_s_own(process: Process) -> None:
    assert process.episodes.of_connection(at(1, user="x")) is process.own
    assert process.asked(at(), x_warex_task="x") is process.own


def test_a_port_comes_before_a_user_and_a_user_before_a_header(process: Process) -> None:
    by_port, a, b = process.begin("p", port=0), process.begin("a"), process.begin("b")
    port = max(process.server.open)
    own, of = process.own, process.episodes.of_connection

    assert [of(at(port, user="a")), of(at(user="a")), of(at())] == [by_port, a, own]
    assert process.asked(at(port, user="a"), x_warex_task="b") is by_port
    assert process.asked(at(user="a"), x_warex_task="b") is a
    assert process.asked(at(), x_warex_task="b") is b
    assert process.asked(at(), x_warex_task="%62") is b
    assert process.asked(at()) is own
    # Of a tunnel, what it carries is not for the proxy.
    assert process.asked(at(), proxy_authorization=basic("a")) is own
    plain = at(tunnel=False)
    assert process.asked(plain, proxy_authorization=basic("a"), x_warex_task="b") is a


async def test_what_names_no_running_episode_is_refused_once_there_were_any(
    process: Process,
) -> None:
    process.own.attribution.begin_task("own", 1, "control")
    process.begin("a", port=0)
    port = max(process.server.open)
    ended = await process.episodes.end("a")

    for handler in (
        process.episodes.of_connection(at(port)),
        process.episodes.of_connection(at(user="a")),
        process.asked(at(), x_warex_task="a"),
        process.asked(at(), x_warex_task="never"),
    ):
        assert isinstance(handler, Refusal)
    assert process.asked(at(), x_warex_task="own") is process.own
    assert process.server.dropped == [ended.lane]
    assert process.server.open == set()


def test_an_episode_has_the_process_s_options_but_for_its_own(process: Process) -> None:
    slow = scenario(SlowPage(delay=2))
    same = process.begin("same").config
    other = process.begin("other", seed=8, scenario=slow, intensity=3, sites=("https://b",)).config
    clean = process.begin("clean", no_faults=True).config

    assert (same.scenario, same.seed) == (process.own.config.scenario, derive_seed(5, "same"))
    assert other.scenario is not None
    assert (other.seed, other.sites) == (8, ("https://b",))
    assert other.scenario.rules[0].fault == SlowPage(delay=6, pause=3)
    assert clean.scenario is None
    assert [it.task for it in (same, other, clean)] == ["same", "other", "clean"]


def test_what_cannot_begin_leaves_nothing(process: Process) -> None:
    process.own.attribution.begin_task("own", 1, "control")
    process.begin("a")
    for options, says in (
        (EpisodeOptions("a"), "the episode 'a' is running"),
        (EpisodeOptions("own"), "the task 'own' is running"),
        (EpisodeOptions("b", port=1), "port 1 is not available"),
        (EpisodeOptions("b", port=0, out=Path("/dev/null/x")), "/dev/null/x"),
        (EpisodeOptions("b", intensity=2), "cannot hit 2 times as hard"),
    ):
        with pytest.raises(Exception, match=says):
            process.episodes.begin(options)
    assert [it.name for it in process.episodes.running()] == ["a"]
    assert process.server.open == set()


async def test_one_that_fails_at_its_end_is_void_and_the_others_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = Process(out=tmp_path)
    broken = process.begin("broken")
    process.begin("sound")
    monkeypatch.setattr(broken.connections, "finish", lambda: 1 / 0)

    await process.episodes.end_all()
    process.own.recorder.close()

    outcomes = [read_outcome(tmp_path / "episodes" / it) for it in ("broken", "sound")]
    assert [isinstance(it, Void) for it in outcomes] == [True, False]
    assert (process.own.recorder.broken, process.episodes.running()) == (None, ())


def test_what_breaks_an_episode_is_reported_with_its_name(process: Process) -> None:
    messages: list[str] = []
    process.episodes.on_notice = messages.append
    process.begin("a").broke(KeyError("x"))

    assert messages == ["episode a is void: KeyError: 'x'"]
    assert process.own.recorder.broken is None
