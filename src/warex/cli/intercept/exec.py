"""`warex exec`: any command behind the proxy; its exit code is the command's."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warex.cli import completion, prewarm
from warex.cli.intercept.scoring import Scoring, scoring_options
from warex.cli.options.host_ports import host_ports_option
from warex.cli.options.traffic import proxy_options, traffic_options
from warex.cli.options.traffic_config import (
    ProxyOptions,
    build_proxy_config,
    ineffective_rules,
    unvalidated_config,
)
from warex.cli.output import echo
from warex.errors import TraceError, TrialVoid, WarexError, void_error
from warex.extras import documentation
from warex.files.private import make_private_dir
from warex.files.reading import open_regular_file, read_text_file
from warex.traces.paths import EVENTS, MANIFEST
from warex.traffic import Capture, TrafficOptions

if TYPE_CHECKING:
    from warex.lane.record.traffic_summary import TrafficSummary
    from warex.proxy.process.forkserver import Forkserver
    from warex.proxy.process.unvalidated_config import ConfigLike
    from warex.sandbox.isolation import RequestedIsolation, Sandbox
    from warex.sandbox.job_control import Terminal

_POLL_SECONDS = 0.2
"""Seconds between two checks of the proxy and the command."""
_READY_SECONDS = 0.5
"""If starting takes longer, the command waits for the proxy: on such a slow machine a DNS lookup
might time out (after 2 s) before the proxy can answer."""
_LONGEST_HEAD = 1 << 26
"""Most bytes of the first line that are read."""
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_STOPPED_BY = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)

type _Say = Callable[[str], None]


@click.command("exec", context_settings={"allow_interspersed_args": False})
@click.argument(
    "arguments",
    metavar="CMD...",
    nargs=-1,
    required=True,
    type=click.UNPROCESSED,
    shell_complete=completion.FILE,
)
@proxy_options
@click.option(
    "--isolate",
    type=click.Choice(["auto", "namespace", "environment", "none"]),
    default="auto",
    help="Use a network namespace, environment variables, or neither.",
)
@host_ports_option
@click.option(
    "--vocabulary",
    metavar="V",
    help="The agent's actions: a benchmark or a file. [default: guessed]",
    shell_complete=completion.VOCABULARY,
)
@scoring_options
@click.option("-q", "--quiet", is_flag=True, help="Print only why the command could not run.")
@traffic_options
def command(
    arguments: tuple[str, ...],
    isolate: "RequestedIsolation",
    host_ports: tuple[frozenset[int], ...],
    quiet: bool,
    **others: Any,
) -> int:
    """Run a command behind the proxy, unchanged.

    The exit code is the command's, or 128 and the number of the signal that ended it; 1 if the
    trial is void, 2 or 3 if the command was not started.
    """
    from warex.sandbox.direct import find_program

    find_program(arguments[0], os.environ)
    others["traffic"] = TrafficOptions().extended(**others["traffic"])
    judging = Scoring.from_options(others)
    options = ProxyOptions(**others)
    # The forkserver loads the proxy while the rest is prepared.
    forkserver = prewarm.take_forkserver()
    try:
        say: _Say = (lambda _: None) if quiet else _say
        trial = _Trial(arguments, isolate, options, say, judging)
        return trial.run(forkserver, frozenset().union(*host_ports))
    finally:
        forkserver.close()


@dataclass
class _Trial:
    arguments: tuple[str, ...]
    requested: "RequestedIsolation"
    options: ProxyOptions
    say: _Say
    judging: Scoring
    programs: set[str] = field(default_factory=set)

    def run(self, forkserver: "Forkserver", asked: frozenset[int]) -> int:
        """Run the command and report the result."""
        from warex.proxy.certificates.ca import ensure_ca
        from warex.sandbox.isolation import ProxyCallbacks, open_sandbox
        from warex.sandbox.job_control import Terminal, forward_signals, signals_blocked

        self._require_no_run()
        began = time.monotonic()
        terminal = Terminal.current()
        ca = ensure_ca()
        # A bad scenario is refused before anything else is printed.
        warnings = ineffective_rules(self.options.scenario, self.options.sites)
        ports = self._host_ports(asked)
        self._find_upstream(ports)
        self._say_all(warnings)
        try:
            self.judging.reset(self.say)
        except TrialVoid as error:
            out = self.options.out
            if out is not None and self._may_write():
                from warex.traces import Unscored, leave_outcome

                leave_outcome(out, str(error), Unscored())
            raise void_error(error) from None

        with open_sandbox(
            self.requested,
            forkserver,
            self._configure,
            ca,
            os.environ,
            host_ports=ports,
            own_session=False,
            check=self._check,
            callbacks=ProxyCallbacks(self.say),
        ) as place:
            self._warn_of_bypasses(place.isolation)
            if not self._may_write() or time.monotonic() - began > _READY_SECONDS:
                place.wait_for_proxy()
            with signals_blocked() as mask:
                started = time.monotonic()
                with self.judging.capturing_output():
                    child = place.start(self.arguments, mask=mask)
                with forward_signals(child.signal), self._watched(place, child.pid, terminal):
                    code = child.wait()
                seconds = time.monotonic() - started
                terminal.restore_foreground()
            self._say_all(place.loopback_messages(over=True))
            own_sites, refused_ports = place.own_services(), place.refused_ports()
            died = place.died()
            place.end()
            self.judging.finish()
            expects = self.judging.expect is not None
            quiet = died is None and self.options.out is None and not expects
            if quiet and not place.needs_proxy():
                # No request can have been answered, and no result was requested.
                forkserver.close()
                if own_sites is not None:
                    self.say(own_sites)
                self._say_refused(refused_ports)
                return code if code >= 0 else 128 - code
            proxy = place.proxy
        void = self._write_outcome(code, seconds, died or proxy.void, refused_ports)
        if void is not None:
            raise void_error(void)
        if own_sites is not None and not (proxy.summary and proxy.summary["delivered"]):
            self.say(own_sites)
        if proxy.summary is not None:
            self._print_summary(place, proxy.summary)
        self._say_refused(refused_ports)
        return code if code >= 0 else 128 - code

    def _say_all(self, sentences: Iterable[str]) -> None:
        for sentence in sentences:
            self.say(sentence)

    def _check(self) -> None:
        """Validate the options before the command starts, as fast as possible.

        Reading a scenario takes longer than making a namespace, and so do the imports for the other
        options.
        """
        if self.options.needs_loading:
            self._configure("namespace")
        elif (scenario := self.options.own_scenario) is not None:
            from warex.scenarios.load import load_scenario

            load_scenario(scenario)

    def _configure(self, capture: Capture) -> "ConfigLike":
        from warex.proxy.certificates.ca import ensure_ca

        if self.options.needs_loading or self.options.own_scenario is not None:
            return build_proxy_config(ensure_ca(), self.options, capture=capture)
        return unvalidated_config(ensure_ca(), self.options, capture)

    def _require_no_run(self) -> None:
        out = self.options.out
        # Almost no folder has such a file, and reading it is slow.
        if out is not None and (out / MANIFEST).exists():
            from warex.traces.manifest import require_no_run

            require_no_run(out)

    def _may_write(self) -> bool:
        """Whether a trace can probably be written; otherwise the proxy reports why."""
        out = self.options.out
        if out is None:
            return True
        try:
            make_private_dir(out)
        except OSError:
            return False
        return not (out / EVENTS).exists() and os.access(out, os.W_OK)

    def _host_ports(self, asked: frozenset[int]) -> frozenset[int]:
        """Return the requested ports and those named elsewhere; report the latter."""
        from warex.linux.proc_net import listening
        from warex.sandbox.namespace import host_ports

        if self.requested not in ("auto", "namespace"):
            return asked
        named = host_ports.loopback_ports_in(_text_of(self.options.scenario))
        named |= host_ports.loopback_ports_in(_first_event(self.options.replay))
        for site in (*self.options.sites, *self.options.traffic.maps):
            named |= host_ports.loopback_ports_in(site.partition("=")[0])
        candidates = host_ports.loopback_ports_in_environment(os.environ)
        in_line = set().union(*map(host_ports.loopback_ports_in, self.arguments))
        candidates |= dict.fromkeys(in_line, "in the command line")
        candidates = host_ports.loopback_ports_in_files(self.arguments) | candidates
        # A port without a listener may be that of a service which the command starts itself.
        candidates = {port: name for port, name in candidates.items() if port not in asked | named}
        if candidates:
            open_ports = listening()
            candidates = {port: name for port, name in candidates.items() if port in open_ports}
        if candidates:
            ports = ", ".join(f"{port} ({name})" for port, name in sorted(candidates.items()))
            self.say(
                f"let through to this machine's loopback, since they are named: port {ports};"
                " all other ports on localhost are the command's own (--host-ports names more)"
            )
        return asked | named | candidates.keys()

    def _find_upstream(self, ports: frozenset[int]) -> None:
        """Chain to the proxy that the environment names."""
        from warex.sandbox.upstream_proxy import upstream_from_environment

        setting = None if self.options.traffic.upstream else upstream_from_environment(os.environ)
        if setting is None:
            return
        self.say(setting.sentence)
        if setting.upstream is not None:
            # Services on this machine are never reached through another proxy.
            origins = (f"http://{host}:{port}" for port in ports for host in _LOOPBACK)
            maps = {origin: origin for origin in origins}
            traffic = self.options.traffic.extended(upstream=setting.upstream, maps=maps)
            self.options = replace(self.options, traffic=traffic)

    def _warn_of_bypasses(self, isolation: str) -> None:
        from warex.sandbox.bypass_warnings import bypass_warnings
        from warex.sandbox.namespace.host_ports import direct_loopback_warnings

        self._say_all(
            bypass_warnings(self.arguments, os.environ, namespace=isolation == "namespace")
        )
        if isolation == "environment":
            self._say_all(direct_loopback_warnings(self.arguments, os.environ))

    @contextmanager
    def _watched(self, place: "Sandbox", pid: int, terminal: "Terminal") -> Iterator[None]:
        """Stop with the command; end it when the proxy cannot serve it; record its programs."""
        from warex.sandbox.job_control import stop_with_command

        over = threading.Event()

        def look() -> None:
            if self.options.out is not None:
                # Import this while the command runs: it writes the outcome.
                import warex.traces.outcome_file  # noqa: F401
            while not over.wait(_POLL_SECONDS):
                stop_with_command(pid, terminal)
                self._say_all(place.loopback_messages())
                if place.isolation == "environment":
                    self.programs |= place.programs()
                if place.failure() is not None or place.broken() is not None:
                    place.end()
                    return

        thread = threading.Thread(target=look, name="watch", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _say_refused(self, ports: tuple[int, ...]) -> None:
        """Repeat the most common reason of an agent's failure, below all that the agent printed."""
        if ports:
            listed = ", ".join(map(str, ports))
            self.say(
                f"refused in the command's own network, though this machine serves it: localhost,"
                f" port {listed}; run it again with --host-ports {listed.replace(' ', '')}"
            )

    def _write_outcome(
        self, code: int, seconds: float, void: WarexError | None, refused_ports: tuple[int, ...]
    ) -> WarexError | None:
        """Write the outcome, unless the command was stopped from outside.

        Returns why the trial is void, or None.
        """
        out = self.options.out
        if void is None and -code in _STOPPED_BY:
            return None
        verdict = None
        if void is None:
            try:
                verdict = self.judging.verdict(code, out, self.say)
            except (TrialVoid, TraceError) as error:
                void = error
        if verdict is not None:
            solved = "solved" if verdict.solved else "not solved"
            self.say(f"{solved}: {'; '.join(verdict.reasons)}")
        if out is None:
            return void
        from warex.traces import Counted, Ending, Unscored, leave_outcome

        if self.options.traffic.redact_strings:
            from warex.traces import keep_out

            keep_out(self.options.traffic.redact_strings)

        ending: Ending = "agent_crashed" if code else "answered"
        latency = round(seconds, 3)
        ended: Counted | Unscored = Unscored(
            ending=ending, latency_s=latency, refused_ports=refused_ports
        )
        if verdict is not None:
            score, reasons = float(verdict.solved), verdict.reasons
            ended = Counted(
                ending=ending,
                score=score,
                latency_s=latency,
                reasons=reasons,
                refused_ports=refused_ports,
            )
        leave_outcome(out, None if void is None else str(void), ended)
        return void

    def _print_summary(self, place: "Sandbox", saw: "TrafficSummary") -> None:
        from warex.cli.intercept.summary import summary_sentences

        if place.isolation == "environment":
            hosts = sorted(saw["hosts"].items(), key=lambda item: (-item[1], item[0]))
            listed = ", ".join(f"{host} ({count})" for host, count in hosts) or "none"
            self.say(f"hosts that came through: {listed}")
            browsers = place.browsers(self.programs)
            if browsers and not saw["browser"]:
                self.say(
                    f"a browser ran ({', '.join(sorted(browsers))}), but none of its pages came"
                    " through: it opened none, or it goes past the proxy and no fault can reach"
                    " it; where it opened one, tell its harness of the proxy"
                    f" ({documentation('how-to/exec')})"
                )
        self._say_all(summary_sentences(saw, self.options.out, self.options.scenario))


def _text_of(scenario: str | None) -> str:
    """Return the text of a scenario's file; empty for a preset, which names no port."""
    try:
        return read_text_file(Path(scenario or ""), "replace")
    except (OSError, ValueError):
        return ""  # Loading the scenario reports the error.


def _first_event(replay: Path | None) -> str:
    """Return a past trial's first event, which holds its scenario and sites."""
    if replay is None:
        return ""
    from warex.cli.trial_path import latest_attempt

    try:
        with open_regular_file(latest_attempt(replay) / EVENTS, follow=False) as events:
            return events.readline(_LONGEST_HEAD).decode()
    except (OSError, ValueError):
        return ""


def _say(sentence: str) -> None:
    # In a terminal's raw mode a line feed alone does not return to the first column.
    ends = "\r\n" if sys.stderr.isatty() else "\n"
    echo(f"warex: {sentence}", err=True, end=ends)
