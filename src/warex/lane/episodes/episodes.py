"""The episodes of one process: to which trial a connection or a request belongs.

An episode is a trial beside the process's own, with a scenario, a seed and a trace of its own. Its
clients come to a port of its own, or name it as their proxy user or in each request's header
``X-Warex-Task``. The trials share nothing but the process: no rule, count, trace, or connection
to a site.
"""

from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import unquote

from msgspec import Struct

from warex.engine.handler import Connection, Handler
from warex.engine.http.heads import RequestHead
from warex.errors import InputError, WarexError
from warex.lane.config import ProxyConfig
from warex.lane.episodes.refusal import Refusal
from warex.lane.lane import Lane
from warex.lane.tasks import TASK_HEADER, task_name, user_name
from warex.scenarios import Scenario
from warex.scenarios.intensity import scaled
from warex.seeds import derive_seed
from warex.traces import Unscored, leave_outcome
from warex.traces.paths import escape

_FOLDER: Final = "episodes"


class EpisodeOptions(Struct, frozen=True):
    """The settings of an episode; None takes the process's."""

    name: str
    seed: int | None = None
    scenario: Scenario | None = None
    no_faults: bool = False
    """Whether it has no scenario, even if the process has one."""
    intensity: float | None = None
    sites: tuple[str, ...] | None = None
    maps: tuple[str, ...] = ()
    """Maps of origins, beside the process's; for the same origin these count."""
    out: Path | None = None
    port: int | None = None
    """The port of its clients; 0 for any free port, None without a port of its own."""


class Episode(Struct, frozen=True):
    """A running episode."""

    name: str
    seed: int
    lane: Lane
    port: int | None
    """Its own port, if it has one."""


class Server(Protocol):
    """What serves the episodes."""

    def open_port(self, port: int) -> int:
        """Accept clients at a port, 0 for any; return it. Raises InputError."""

    def close_port(self, port: int) -> None:
        """Accept no more clients at a port."""

    async def drop(self, handler: Handler) -> None:
        """End the open exchanges and connections of a handler."""


class Episodes:
    """The process's own trial and its episodes; says which of them decides (``Handlers``)."""

    def __init__(self, own: Lane, begin: Callable[[ProxyConfig], Lane]) -> None:
        """``begin`` begins the lane of an episode; raises WarexError if it cannot."""
        self.own = own
        self.port = 0
        """The port that all trials share."""
        self.on_notice: Callable[[str], None] = lambda sentence: None
        self._begin = begin
        self._server: Server | None = None
        self._by_name: dict[str, Episode] = {}
        self._by_port: dict[int, Episode] = {}
        self._had_any = False
        self._refusal = Refusal(own)

    def attach(self, server: Server) -> None:
        """Set what serves the episodes; without it none can begin."""
        self._server = server

    # ---- to which trial traffic belongs

    def of_connection(self, connection: Connection) -> Handler:
        """Return the trial of a connection: by its port, then by its proxy user."""
        if not self._had_any:
            return self.own
        if connection.port != self.port:
            episode = self._by_port.get(connection.port)
            return self._refusal if episode is None else episode.lane
        return self._named(task_name(unquote(connection.proxy_user)))

    def of_request(self, connection: Connection, head: RequestHead) -> Handler:
        """Return the trial of a request; only one whose connection names none may name it."""
        if not self._had_any:
            return self.own
        handler = self.of_connection(connection)
        if handler is not self.own:
            return handler
        fields = head.headers.by_name
        names_user = connection.destination is None and not connection.is_redirected
        if names_user and (user := user_name(fields.get("proxy-authorization"))):
            return self._named(user)
        return self._named(task_name(unquote(fields.get(TASK_HEADER, ""))))

    def _named(self, name: str | None) -> Handler:
        if name is None:
            return self.own
        episode = self._by_name.get(name)
        if episode is not None:
            return episode.lane
        # A client that outlives its episode must not be counted as the process's own.
        return self.own if self.own.tasks.named(name) is not None else self._refusal

    def broke(self, error: Exception) -> None:
        """Void every trial, since what they share has failed."""
        for lane in (self.own, *(episode.lane for episode in self._by_name.values())):
            lane.broke(error)

    # ---- begin and end

    def running(self) -> tuple[Episode, ...]:
        """Return the running episodes, in the order in which they began."""
        return tuple(self._by_name.values())

    def get(self, name: str) -> Episode | None:
        """Return a running episode."""
        return self._by_name.get(name)

    def begin(self, options: EpisodeOptions) -> Episode:
        """Begin an episode.

        Raises InputError if its name or port is taken or its scenario cannot be applied,
        MachineError if its trace cannot be written.
        """
        name, server = options.name, self._server
        if server is None:
            raise InputError("this process serves one trial only")
        if name in self._by_name:
            raise InputError(f"the episode {name!a} is running; end it first: POST /task/end")
        if self.own.tasks.named(name) is not None:
            raise InputError(f"the task {name!a} is running; give the episode another name")
        config = self._config(options)
        with ExitStack() as unless_begun:
            port = None
            if options.port is not None:
                port = server.open_port(options.port)
                unless_begun.callback(server.close_port, port)
            lane = self._begin(config)
            unless_begun.callback(lane.recorder.close)
            lane.attribution.episode = name
            lane.engine.attach(self.own.engine.control)
            lane.on_notice = lambda notice: self.on_notice(f"episode {name}: {notice}")
            lane.recorder.traffic.notices = lane.on_notice
            lane.recorder.on_broken = lambda why: self.on_notice(f"episode {name} is void: {why}")
            lane.recorder.on_settled = self.own.recorder.on_settled
            lane.begin_task(name, config.seed, "control")
            unless_begun.pop_all()
        episode = Episode(name, config.seed, lane, port)
        self._had_any = self.own.connections.may_serve_others = True
        self._by_name[name] = episode
        if port is not None:
            self._by_port[port] = episode
        return episode

    def _config(self, options: EpisodeOptions) -> ProxyConfig:
        own = self.own.config
        scenario = None if options.no_faults else options.scenario or own.scenario
        if options.intensity is not None:
            if scenario is None:
                raise InputError("intensity: there is no scenario whose faults could be larger")
            scenario = scaled(scenario, options.intensity)
        out = options.out
        if out is not None:
            from warex.traces.manifest import require_no_run

            require_no_run(out)
        elif own.out is not None:
            out = _free_folder(own.out / _FOLDER / escape(options.name))
        seed = derive_seed(own.seed, options.name) if options.seed is None else options.seed
        return own.model_copy(
            update={
                "out": out,
                "scenario": scenario,
                "seed": seed,
                "sites": own.sites if options.sites is None else options.sites,
                "traffic": own.traffic.extended(maps=options.maps),
                "task": options.name,
                "tasks": None,
                "schedule": None,
                "replay_of": None,
                "llm_cache": None,
                "agent_ended": None,
                "own_proof": False,
            }
        )

    async def end(self, name: str) -> Episode:
        """End a running episode: its trace is complete, its clients are cut.

        Raises MachineError if its outcome cannot be written.
        """
        episode = self._by_name.pop(name)
        lane, server = episode.lane, self._server
        assert server is not None
        if episode.port is not None:
            del self._by_port[episode.port]
            server.close_port(episode.port)
        try:
            lane.finish()
        except Exception as error:  # noqa: BLE001 - fail closed: this trial is void, no other
            lane.broke(error)
        await server.drop(lane)
        with suppress(WarexError):  # If its trace cannot be written, it is void.
            lane.recorder.close()
        leave_outcome(lane.config.out, lane.recorder.broken, Unscored())
        return episode

    async def end_all(self) -> None:
        """End the episodes that are still running."""
        for name in list(self._by_name):
            with suppress(WarexError):
                await self.end(name)


def _free_folder(folder: Path) -> Path:
    """Return the folder, or one beside it if an earlier episode of the name has it."""
    number, free = 1, folder
    while free.exists():
        number += 1
        free = folder.with_name(f"{folder.name}-{number}")
    return free
