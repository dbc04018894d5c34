"""What a namespace costs: the same proxy's requests with and without one, and relayed bytes.

The clients inside and outside are the same programs; each has a lane of its own, equally loaded.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from statistics import median

from bench import load
from bench.candidates import LOADED, lane, warex_config
from bench.counted import Lane, counting_lane
from bench.programs import Program, program, site
from bench.row import Row
from bench.setting import Setting
from bench.turns import there_and_back
from warex.sandbox.namespace import Namespace, namespace

_CONNECTIONS = 16


@contextmanager
def _inside(setting: Setting, *host_ports: int) -> Iterator[tuple[Namespace, Lane]]:
    """Run a lane with a namespace."""
    config = warex_config(setting, LOADED).model_copy(update={"capture": "handed"})
    with (
        namespace(setting.ca, host_ports=host_ports) as space,
        counting_lane(setting, config, space.handed) as counted,
    ):
        yield space, counted


@contextmanager
def _program(space: Namespace, module: str, *arguments: str) -> Iterator[Program]:
    """Run ``python -m MODULE ARGUMENTS`` in a namespace until the block ends."""
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    with open(ours_out, "w") as asks, open(ours_in) as answers:
        try:
            running = space.start(
                [sys.executable, "-m", module, *arguments],
                os.environ,
                stdin=theirs_in,
                stdout=theirs_out,
                stderr=sys.stderr.fileno(),
            )
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        yield Program(asks, answers)
        asks.close()
        running.wait(10)


def measure(setting: Setting) -> list[Row]:
    """Measure requests on kept and on new connections, and bytes that are relayed."""
    return [*_requests(setting), _relayed(setting)]


def _requests(setting: Setting) -> Iterator[Row]:
    rounds, seconds = (2, 0.3) if setting.quick else (20, 1.0)
    with ExitStack() as stack:
        port = stack.enter_context(site("bench.quick_site", *setting.tls))
        forward = stack.enter_context(lane(setting, LOADED))
        space, inside = stack.enter_context(_inside(setting, port))
        clients = {
            "forward": (stack.enter_context(program("bench.load")), forward.port, forward),
            "inside": (stack.enter_context(_program(space, "bench.load")), 0, inside),
        }
        for client, proxy, _ in clients.values():
            client.ask(f"connect kept {proxy} {port} {_CONNECTIONS}")
        for what, name in (
            ("on kept connections", "turn kept"),
            ("on new connections", "fresh"),
        ):
            rates: dict[str, list[float]] = {it: [] for it in clients}
            for order in there_and_back(list(clients), rounds):
                for it in order:
                    client, proxy, counted = clients[it]
                    where = f" {proxy} {port}" if name == "fresh" else ""
                    done = load.turn(client, f"{name}{where} {seconds}")
                    counted.answered(load.url(port), times=done.answers)
                    rates[it].append(done.rate)
            took = {it: 1000 / median(found) for it, found in rates.items()}
            yield Row(
                f"namespace-{'fresh' if name == 'fresh' else 'kept'}",
                f"an HTTPS request in a namespace, {what}, to the same through a forward proxy",
                took["inside"] / took["forward"],
                "times",
                1.1,
                at_least=False,
                detail=f"{took['inside']:.2f} ms each, {took['forward']:.2f} ms forward",
            )


def _relayed(setting: Setting) -> Row:
    rounds, megabytes = (2, 64) if setting.quick else (10, 1024)
    with ExitStack() as stack:
        port = stack.enter_context(site("bench.bulk", "site"))
        bare = stack.enter_context(site("bench.bulk", "relay", str(port)))
        space, relaying = stack.enter_context(_inside(setting, port))
        clients = {
            "bare": (stack.enter_context(program("bench.bulk", "client")), bare),
            "inside": (stack.enter_context(_program(space, "bench.bulk", "client")), port),
        }
        rates: dict[str, list[float]] = {it: [] for it in clients}
        for order in there_and_back(list(clients), rounds):
            for it in order:
                client, to = clients[it]
                rates[it].append(float(client.ask(f"pull {to} {megabytes}")))
                if it == "inside":
                    relaying.passed(megabytes << 20)
    typical = {it: median(found) for it, found in rates.items()}
    return Row(
        "namespace-relay",
        "bytes of no HTTP per second out of a namespace, to a bare asyncio relay's",
        typical["inside"] / typical["bare"],
        "times",
        0.5,
        at_least=True,
        detail=f"{typical['inside']:,.0f} MB/s, the bare relay {typical['bare']:,.0f} MB/s",
    )
