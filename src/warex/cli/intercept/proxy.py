"""`warex proxy`: run the proxy alone, with a scenario, until it is interrupted."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warex.cli.options.parameters import PATH
from warex.cli.options.traffic import proxy_options, traffic_options
from warex.cli.options.traffic_config import (
    ProxyOptions,
    build_proxy_config,
    ineffective_rules,
)
from warex.cli.output import echo, warn
from warex.errors import InputError, void_error
from warex.traffic import TrafficKeywords, TrafficOptions

if TYPE_CHECKING:
    from pydantic import JsonValue

    from warex.lane.config import ProxyConfig
    from warex.lane.record.traffic_summary import TrafficSummary
    from warex.proxy.process.client import Proxy


@click.command("proxy")
@proxy_options
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8080,
    help="Port to listen on; 0: any free port.",
)
@click.option("--host", default="127.0.0.1", help="Address to listen on.")
@click.option(
    "--transparent", is_flag=True, help="Serve connections that `warex iptables` redirects."
)
@click.option(
    "--control-port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Loopback port of the control API; 0: any free port.",
)
@click.option(
    "--ready-file",
    type=PATH,
    help="Write the addresses, as one line of JSON, when the proxy serves; removed at the end.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the same line at the start.")
@traffic_options
def command(
    port: int,
    host: str,
    transparent: bool,
    control_port: int,
    ready_file: Path | None,
    as_json: bool,
    traffic: TrafficKeywords,
    **others: Any,
) -> None:
    """Run the proxy alone, until Ctrl-C.

    A browser that uses it must trust the CA that it prints.
    """
    from warex.proxy.certificates.ca import ensure_ca
    from warex.traces.manifest import require_no_run

    options = ProxyOptions(traffic=TrafficOptions().extended(**traffic), **others)
    if options.out is not None:
        require_no_run(options.out)
    _check_host(host)
    if transparent:
        _check_rules()
    ca = ensure_ca()
    config = build_proxy_config(
        ca,
        options,
        capture="transparent" if transparent else "forward",
        host=host,
        port=port,
        control_port=control_port,
    )
    for sentence in ineffective_rules(options.scenario, options.sites):
        warn(sentence)
    _serve(config, str(ca.certificate), ready_file, as_json=as_json)


def _check_host(host: str) -> None:
    """Check that the address can be bound, so that the error is not about the port."""
    import socket

    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        socket.create_server((host, 0), family=family).close()
    except (OSError, UnicodeError) as error:
        why = str(error).partition(" (while")[0]
        raise InputError(
            f"--host {host!r} is not an address of this machine ({why}); give 127.0.0.1 for this"
            " machine only, or 0.0.0.0 for everybody who can reach it"
        ) from None


def _check_rules() -> None:
    """Raise InputError if the rules in force would redirect this proxy's own traffic to it."""
    import os

    from warex.sandbox.iptables.firewall import applied_redirect

    capture = applied_redirect()
    if capture is not None and capture.takes(os.geteuid()):
        raise InputError(
            f"the rules in force capture the traffic of user {os.geteuid()}, who runs this proxy:"
            " it would be sent back to itself. Run it as another user, or change the rules"
            " (warex iptables apply, revert)"
        )


def _heading(config: "ProxyConfig", proxy: "Proxy", certificate: str) -> "dict[str, JsonValue]":
    """Return where the proxy serves, for programs."""
    return {
        "address": proxy.url,
        "control": f"http://127.0.0.1:{proxy.control_port}",
        "token": proxy.token,
        "trace": None if config.out is None else str(config.out),
        "certificate": certificate,
        "scenario": config.scenario.name if config.scenario else None,
        "seed": config.seed,
    }


def _print_heading(config: "ProxyConfig", proxy: "Proxy", certificate: str) -> None:
    name = config.scenario.name if config.scenario else "no faults"
    where = proxy.url
    if config.capture == "transparent":
        where = f"transparent, on port {proxy.port} of {proxy.host}"
    echo(f"proxy    {where}  ({name}, seed {config.seed})")
    echo(f"trust    {certificate}")
    echo(f"control  http://127.0.0.1:{proxy.control_port}  token {proxy.token}")
    if config.out is not None:
        echo(f"trace    {config.out}")


def _print_summary(saw: "TrafficSummary", config: "ProxyConfig") -> None:
    from warex.cli.intercept.summary import counts, summary_sentences

    scenario = config.scenario.name if config.scenario else None
    for sentence in summary_sentences(saw, config.out, scenario):
        warn(sentence)
    if config.out is None:
        warn(f"{counts(saw)}; nothing was recorded: --out DIR keeps a trace")


@contextmanager
def _ready_file(path: Path | None, heading: "dict[str, JsonValue]") -> Iterator[None]:
    """Have the file, which holds a token, while the proxy serves."""
    from warex.traces.files import write_atomic

    if path is not None:
        write_atomic(path, (json.dumps(heading) + "\n").encode())
    try:
        yield
    finally:
        if path is not None:
            path.unlink(missing_ok=True)


def _remove_stale(path: Path) -> None:
    """Remove the file of an earlier proxy that was killed, or raise InputError."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"--ready-file {path} cannot be replaced: {error.strerror}") from None


def _serve(
    config: "ProxyConfig", certificate: str, ready_file: Path | None, *, as_json: bool
) -> None:
    import signal
    import threading

    from warex.proxy.process.client import start_proxy
    from warex.proxy.process.forkserver import Forkserver
    from warex.traces import Unscored, leave_outcome

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    if ready_file is not None:
        _remove_stale(ready_file)
    forkserver = Forkserver()
    try:
        with ExitStack() as stack:
            proxy = stack.enter_context(start_proxy(forkserver, config, warn, stop.set))
            heading = _heading(config, proxy, certificate)
            stack.enter_context(_ready_file(ready_file, heading))
            if as_json:
                echo(json.dumps(heading))
            else:
                _print_heading(config, proxy, certificate)
            # A void trial ends at once, so that nothing more is done for it.
            while not (stop.wait(0.5) or proxy.broken):
                pass
    finally:
        forkserver.close()
    leave_outcome(config.out, proxy.broken, Unscored())
    if proxy.void is not None:
        raise void_error(proxy.void)
    if proxy.summary is not None:
        _print_summary(proxy.summary, config)
