"""The process of one lane's proxy: reads its configuration from a channel and serves one trial.

The channel is a Unix socket to the caller. The proxy receives one JSON line, the configuration, and
sends JSON lines: ``ready`` or ``failed``, then ``notice`` and ``broken`` as they happen, ``ended``,
and finally ``learned``, the secrets that the trial has shown. When the caller closes the channel or
is killed, the proxy shuts down.
"""

import asyncio
import json
import logging
import os
import secrets
import socket
from collections.abc import Callable
from functools import cache
from importlib import import_module

from pydantic import JsonValue

from warex.errors import WarexError
from warex.faults.catalogue import preload as preload_faults
from warex.lane.config import ProxyConfig
from warex.lane.control.control_port import bind_control, serve_control
from warex.lane.hosts.own_hosts import RESERVED_HOSTS
from warex.lane.record.fault_lines import fault_line
from warex.proxy.serving import RunningLane, run_lane
from warex.proxy.transparent.passed_sockets import PassedSockets
from warex.scenarios import Injector
from warex.scenarios.scenario import NO_RULES, Match, Rule, Scenario, Trigger
from warex.traces.redaction.environment_secrets import process_secrets
from warex.traces.redaction.text import precompile

_TASKS = (
    "this replay has places in later tasks, up to task {}, which do not begin by themselves: call"
    " POST /task/begin where the replayed trial did, or they are not hit"
)


_LATE = (
    "jinja2",
    "warex.engine.http.http2.client",
    "warex.engine.http.http2.server",
    "warex.lane.control.control_server",
    "warex.llm.actions.guess",
    "warex.llm.actions.parser",
)
"""What a lane imports when it first needs it, so that a single one begins sooner."""


def preload() -> None:
    """Load what the lanes of this user need, once before they are forked."""
    ProxyConfig.model_rebuild()
    process_secrets()
    # Python caches the compiled patterns that every trial uses.
    Injector(NO_RULES, 0, own_hosts=RESERVED_HOSTS)


def preload_late() -> None:
    """Load what single trials may never need, once before many lanes are forked."""
    for module in _LATE:
        import_module(module)
    preload_faults()
    for model in (Match, Trigger, Rule, Scenario):
        model.model_rebuild()
    precompile()


def serve(channel: socket.socket, passed: PassedSockets | None = None) -> None:
    """Serve one trial, on the sockets of a namespace if any; return when the channel closes."""
    logging.getLogger().addHandler(logging.NullHandler())
    asyncio.run(_serve(channel, passed))


class _Notices(logging.Handler):
    """Sends warnings of WAREX, such as one about an unusable plug-in, to the caller."""

    def __init__(self, send: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._send = send

    def emit(self, record: logging.LogRecord) -> None:
        """Send the message of a record."""
        self._send(record.getMessage())


async def _serve(channel: socket.socket, passed: PassedSockets | None) -> None:
    channel.setblocking(False)
    reader, writer = await asyncio.open_unix_connection(sock=channel, limit=64 * 1024 * 1024)

    def send(kind: str, **what: JsonValue) -> None:
        writer.write(json.dumps({"kind": kind, **what}).encode() + b"\n")

    def send_error(kind: str, error: WarexError) -> None:
        send(kind, sentence=str(error), exit_code=error.exit_code)

    warnings = logging.getLogger("warex")
    # Without a handler, the lane would print them beside the agent's output.
    warnings.addHandler(_Notices(lambda sentence: send("notice", sentence=sentence)))
    line = await reader.readline()
    if not line:
        return
    running: RunningLane | None = None
    try:
        config = ProxyConfig.model_validate_json(line)
        token = secrets.token_urlsafe(24)
        # Bind first, so that a port in use leaves no partial trace behind.
        listener = bind_control(config.control_port)
        async with run_lane(config, passed) as running:
            running.recorder.on_broken = lambda cause: send_error("broken", cause)
            # Each sentence is sent only once.
            running.lane.on_notice = cache(lambda sentence: send("notice", sentence=sentence))
            running.recorder.traffic.notices = running.lane.on_notice
            running.episodes.on_notice = running.lane.on_notice
            if config.verbose:
                running.recorder.on_settled = lambda plan, end: send(
                    "notice", sentence=fault_line(plan, end)
                )
            async with serve_control(running.episodes, listener, token) as control:
                send("ready", pid=os.getpid(), port=running.port, control=control, token=token)
                if config.schedule:
                    from warex.scenarios.injection.replay import tasks_required

                    if last := tasks_required(config.schedule):
                        send("notice", sentence=_TASKS.format(last))
                if running.recorder.void is not None:
                    send_error("broken", running.recorder.void)
                await reader.read()
        saw: JsonValue = json.loads(json.dumps(running.recorder.summary()))
        send("ended", saw=saw)
    except WarexError as error:
        send_error("failed", error)
    except Exception as error:  # noqa: BLE001 - the last place that can report to the caller
        send_error("failed", WarexError(f"the proxy broke: {type(error).__name__}: {error}"))
    if running is not None and (learned := running.recorder.redactor.learned.values()):
        send("learned", secrets=[*learned])
    try:
        await writer.drain()
        writer.close()
        await writer.wait_closed()
    except OSError:
        pass  # The caller has ended.
