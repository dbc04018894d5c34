"""`warex proxy`: run the proxy alone, with a scenario, until it is interrupted."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from warex.cli.options.traffic import (
    defence_option,
    replay_option,
    scenario_option,
    site_option,
    tasks_option,
    traffic_options,
)
from warex.cli.options.traffic_config import build_proxy_config, ineffective_rules
from warex.cli.output import echo
from warex.errors import InputError, MachineError, TrialVoid
from warex.traffic import TrafficKeywords, TrafficOptions

if TYPE_CHECKING:
    from warex.proxy.config import ProxyConfig


@click.command("proxy")
@scenario_option
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8080,
    show_default=True,
    help="Port to listen on; 0: any free one.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--transparent",
    is_flag=True,
    help="Serve connections that `warex iptables` redirects, of clients that know no proxy.",
)
@click.option(
    "--control-port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port of the control API, on loopback; 0: any free one.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of all random choices.")
@site_option
@click.option("--out", type=click.Path(path_type=Path), help="Folder for events.jsonl.")
@replay_option
@defence_option
@tasks_option
@traffic_options
def command(
    scenario: str | None,
    port: int,
    host: str,
    transparent: bool,
    control_port: int,
    seed: int,
    sites: tuple[str, ...],
    out: Path | None,
    replay: Path | None,
    defence: str | None,
    tasks: str | None,
    traffic: TrafficKeywords,
) -> None:
    """Run the proxy alone. Ends cleanly on Ctrl-C.

    Point a browser at it and have it trust the CA that is named at the start.
    """
    from warex.proxy.certificates.ca import ensure_ca

    _check_host(host)
    if transparent:
        _check_rules()
    ca = ensure_ca()
    config = build_proxy_config(
        ca,
        scenario=scenario,
        seed=seed,
        replay=replay,
        sites=sites,
        traffic=TrafficOptions().extended(**traffic),
        defence=defence,
        tasks=tasks,
        capture="transparent" if transparent else "forward",
        host=host,
        port=port,
        control_port=control_port,
        out=out,
    )
    for sentence in () if scenario is None else ineffective_rules(scenario, sites):
        _say(sentence)
    _serve(config, str(ca.certificate))


def _check_host(host: str) -> None:
    """Check that the address can be bound, so that the error is not about the port."""
    import socket

    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        socket.create_server((host, 0), family=family).close()
    except (OSError, UnicodeError) as error:
        why = str(error).partition(" (while")[0]
        raise InputError(
            f"--host {host!r} is no address of this machine ({why}); give 127.0.0.1 for this"
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


def _serve(config: "ProxyConfig", certificate: str) -> None:
    import signal
    import threading

    from warex.proxy.process.client import start_proxy
    from warex.proxy.process.forkserver import Forkserver
    from warex.traces import Unscored, leave_outcome

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    forkserver = Forkserver()
    try:
        with start_proxy(forkserver, config, _say, stop.set) as proxy:
            name = config.scenario.name if config.scenario else "no faults"
            where = proxy.url
            if config.capture == "transparent":
                where = f"transparent, on port {proxy.port} of {proxy.host}"
            echo(f"proxy    {where}  ({name}, seed {config.seed})")
            echo(f"trust    {certificate}")
            echo(f"control  http://127.0.0.1:{proxy.control_port}  token {proxy.token}")
            if config.out is not None:
                echo(f"trace    {config.out}")
            # A void trial ends at once, so that it is not continued in vain.
            while not (stop.wait(0.5) or proxy.broken):
                pass
    finally:
        forkserver.close()
    leave_outcome(config.out, proxy.broken, Unscored())
    if proxy.broken:
        # A reason about the folder, such as a full disk, is a MachineError.
        in_folder = config.out is not None and proxy.broken.startswith(str(config.out))
        kind = MachineError if in_folder else TrialVoid
        raise kind(f"the trial is void: {proxy.broken}")


def _say(sentence: str) -> None:
    echo(f"warex: {sentence}", err=True)
