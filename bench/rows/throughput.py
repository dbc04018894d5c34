"""HTTPS requests per second on 16 kept connections, against stock mitmdump.

Both run throughout and take turns of one second with the same client, so that other load on the
machine affects both alike. The result is the ratio of the medians.
"""

from contextlib import ExitStack
from statistics import median

from bench.processes import processor_seconds
from bench.row import Row
from bench.traffic import load
from bench.traffic.counted_lanes import Lane
from bench.traffic.load import Turn
from bench.traffic.measured_lanes import LOADED, lane
from bench.traffic.mitmdump import MitmdumpProcess, mitmdump
from bench.traffic.programs import program, site
from bench.turn_order import alternate
from bench.workspace import Workspace

CONNECTIONS = 16


def measure(workspace: Workspace) -> list[Row]:
    """Measure a lane with a trace and a scenario, and mitmdump."""
    rounds, seconds = (2, 0.3) if workspace.quick else (20, 1.0)
    with ExitStack() as stack:
        port = stack.enter_context(site("bench.traffic.quick_site", *workspace.tls))
        lane_proxy = stack.enter_context(lane(workspace, LOADED))
        client = stack.enter_context(program("bench.traffic.load"))

        def turn(name: str) -> Turn:
            done = load.turn(client, name, seconds)
            if name == "warex":
                lane_proxy.count_requests(load.url(port), times=done.answers)
            return done

        proxies: dict[str, MitmdumpProcess | Lane] = {
            "mitmdump": stack.enter_context(mitmdump(workspace)),
            "warex": lane_proxy,
        }
        client.ask(f"connect direct 0 {port} {CONNECTIONS}")
        direct = turn("direct").rate
        for name, proxy in proxies.items():
            client.ask(f"connect {name} {proxy.port} {port} {CONNECTIONS}")
            turn(name)
        turns: dict[str, list[Turn]] = {name: [] for name in proxies}
        used = dict.fromkeys(proxies, 0.0)
        for order in alternate(list(proxies), rounds):
            for name in order:
                before = processor_seconds(proxies[name].pid)
                turns[name].append(turn(name))
                used[name] += processor_seconds(proxies[name].pid) - before
    typical = {name: median(each.rate for each in found) for name, found in turns.items()}
    cost = {name: used[name] / sum(each.answers for each in turns[name]) * 1000 for name in proxies}
    return [
        Row(
            "requests",
            "HTTPS requests/s, a scenario loaded, traced (2 kB, 16 connections), to mitmdump's",
            typical["warex"] / typical["mitmdump"],
            "times",
            1.6,
            at_least=True,
            detail=f"{typical['warex']:,.0f} requests/s and {cost['warex']:.2f} ms of processor"
            f" time each; mitmdump {typical['mitmdump']:,.0f} and {cost['mitmdump']:.2f} ms;"
            f" direct {direct:,.0f}",
        )
    ]
