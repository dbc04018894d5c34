"""The client of a proxy process: starts it for one trial, calls its control API, stops it."""

import json
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from warex.errors import InputError, MachineError, ProcessDied, TrialVoid, WarexError
from warex.proxy.process.forkserver import Forkserver
from warex.proxy.process.unvalidated_config import ConfigLike
from warex.proxy.transparent.passed_sockets import PassedSockets

if TYPE_CHECKING:
    from pydantic import JsonValue

    from warex.lane.record.traffic_summary import TrafficSummary

_START_SECONDS = 120.0
"""Long, since fifty proxies may start at the same time; one that dies is noticed at once."""
_STOP_SECONDS = 10.0
_DIED_EARLY = (
    "the proxy ended before it was ready: it was killed, ran out of memory, or failed, as its"
    " messages above then say"
)

_ERRORS: dict[int, type[WarexError]] = {2: InputError, 3: MachineError}


@dataclass(slots=True)
class Proxy:
    """A running proxy for one trial."""

    port: int
    control_port: int
    token: str
    pid: int
    host: str = "127.0.0.1"
    void: TrialVoid | MachineError | None = None
    """Why the trial is void, if it is: the MachineError of a trace that cannot be written, a
    ProcessDied if the process was ended from outside, or another TrialVoid."""
    summary: "TrafficSummary | None" = None
    """The traffic, once the proxy has shut down regularly."""
    learned: tuple[str, ...] = field(repr=False, default=())
    """The secrets that the trial has shown, once the proxy has shut down."""
    _channel: socket.socket = field(repr=False, default_factory=socket.socket)
    _listener: threading.Thread | None = field(repr=False, default=None)

    @property
    def url(self) -> str:
        """The URL of the proxy for clients."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def broken(self) -> str | None:
        """Why the trial is void, in a sentence."""
        return None if self.void is None else str(self.void)

    def call(self, method: str, path: str, body: "JsonValue" = None) -> Any:
        """Call the control API; raise InputError if it refuses, TrialVoid if it does not answer."""
        # Imported late, since `warex exec` makes no call and should start fast.
        import urllib.error
        import urllib.request

        request = urllib.request.Request(
            f"http://127.0.0.1:{self.control_port}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"authorization": f"Bearer {self.token}"},
            method=method,
        )
        # Ignore the environment's proxies.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=10) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                message = json.loads(error.read() or b"{}").get("error", error.reason)
            raise InputError(f"control API, {path}: {message}") from None
        except OSError as error:
            raise TrialVoid(f"the proxy's control API does not answer: {error}") from None

    def stop(self) -> None:
        """Shut the proxy down; kill it if it does not end."""
        with suppress(OSError):  # The process may have died.
            self._channel.shutdown(socket.SHUT_WR)
        if self._listener is not None:
            self._listener.join(_STOP_SECONDS)
            if self._listener.is_alive():
                with suppress(ProcessLookupError):
                    os.kill(self.pid, signal.SIGKILL)
                self._listener.join()
                self.void = self.void or TrialVoid("the proxy did not end and was killed")
        self._channel.close()


@dataclass(slots=True)
class ProxyEpisode:
    """A further trial in a proxy's process, with a port of its own."""

    process: "Proxy | ProxyEpisode"
    name: str
    port: int
    ended: "dict[str, JsonValue] | None" = None
    """What the control API has reported about it at its end."""

    @property
    def pid(self) -> int:
        """The process."""
        return self.process.pid

    @property
    def url(self) -> str:
        """The URL of its port for clients."""
        return f"{self.process.url.rpartition(':')[0]}:{self.port}"

    @property
    def broken(self) -> str | None:
        """Why it is void, if it is."""
        described = self.ended
        if described is None and self.process.broken is None:
            running = self.process.call("GET", "/episodes")
            described = next((it for it in running if it["task"] == self.name), None)
        reason = self.process.broken if described is None else described["broken"]
        return None if reason is None else str(reason)

    def call(self, method: str, path: str, body: "JsonValue" = None) -> Any:
        """Call the control API about it; raises the same errors as the process."""
        return self.process.call(method, f"{path}?task={quote(self.name, safe='')}", body)

    def end(self) -> None:
        """End it, unless it has ended with its process."""
        with suppress(TrialVoid):
            self.ended = self.process.call("POST", "/task/end", {"task": self.name})


@contextmanager
def start_proxy(
    forkserver: Forkserver,
    config: ConfigLike,
    notice: Callable[[str], None] = lambda sentence: None,
    on_end: Callable[[], None] = lambda: None,
    passed: PassedSockets | None = None,
) -> Iterator[Proxy]:
    """Run a proxy for one trial in a process of its own.

    ``notice`` is called with notices to the user, ``on_end`` when the proxy has ended for any
    reason, both from another thread. ``passed``: a namespace's sockets, to be served instead of a
    port. Raises InputError or MachineError, with the proxy's message, if it cannot start;
    ProcessDied if it was killed.
    """
    if (config.capture == "namespace") != (passed is not None):
        raise ValueError("a namespace's sockets go with capture='namespace', and it with them")
    with ExitStack() as unless_ready:
        channel = unless_ready.enter_context(forkserver.start(passed))
        lines = unless_ready.enter_context(channel.makefile("r", encoding="utf-8"))
        try:
            channel.settimeout(_START_SECONDS)
            channel.sendall(config.model_dump_json().encode() + b"\n")
            ready = _read(lines.readline())
        except TimeoutError:
            raise ProcessDied(f"the proxy was not ready within {_START_SECONDS:g} s") from None
        except OSError:
            ready = {}
        if ready.get("kind") != "ready":
            if "sentence" not in ready:
                raise forkserver.died() or ProcessDied(_DIED_EARLY)
            raise _ERRORS.get(ready["exit_code"], WarexError)(ready["sentence"])
        unless_ready.pop_all()
    channel.settimeout(None)
    proxy = Proxy(
        ready["port"], ready["control"], ready["token"], ready["pid"], config.host, _channel=channel
    )

    def listen() -> None:
        in_order = False
        # A killed process may cause a reset of the channel.
        with lines, suppress(OSError):
            for line in lines:
                match _read(line):
                    case {"kind": "notice", "sentence": sentence}:
                        notice(sentence)
                    case {"kind": "broken" | "failed", "sentence": sentence, "exit_code": code}:
                        cause = MachineError if code == MachineError.exit_code else TrialVoid
                        proxy.void = cause(sentence)
                    case {"kind": "ended", "saw": summary}:
                        in_order = True
                        proxy.summary = summary
                    case {"kind": "learned", "secrets": secrets}:
                        proxy.learned = tuple(map(str, secrets))
                    case _:
                        pass
        if not in_order and proxy.void is None:
            proxy.void = ProcessDied("the proxy died before the trial's end")
        on_end()

    proxy._listener = threading.Thread(target=listen, name="proxy listener", daemon=True)
    proxy._listener.start()
    try:
        yield proxy
    finally:
        proxy.stop()


def _read(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
