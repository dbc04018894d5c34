"""HTTPS requests per second on 16 kept connections, against stock mitmdump.

All candidates stay up and take turns of a second under the same client, so that whatever else the
machine does falls on all of them alike. The result is the ratio of the medians.
"""

from contextlib import ExitStack
from statistics import median

from bench.candidates import ELSEWHERE, LOADED, Running, lane, mitmdump
from bench.processes import processor_seconds
from bench.programs import program, site
from bench.row import Row
from bench.setting import Setting
from bench.turns import there_and_back

CONNECTIONS = 16


def measure(setting: Setting) -> list[Row]:
    """Measure a lane that reads everything and one that passes the host through."""
    rounds, seconds = (2, 0.3) if setting.quick else (20, 1.0)
    with ExitStack() as stack:
        port = stack.enter_context(site("bench.quick_site", *setting.tls))
        proxies: dict[str, Running] = {
            "mitmdump": stack.enter_context(mitmdump(setting)),
            "warex": stack.enter_context(lane(setting, LOADED)),
            "passed": stack.enter_context(lane(setting, ELSEWHERE, "concerned")),
        }
        client = stack.enter_context(program("bench.load"))

        def turn(name: str) -> float:
            return float(client.ask(f"turn {name} {seconds}"))

        client.ask(f"connect direct 0 {port} {CONNECTIONS}")
        direct = turn("direct")
        for name, proxy in proxies.items():
            client.ask(f"connect {name} {proxy.port} {port} {CONNECTIONS}")
            turn(name)
        rates: dict[str, list[float]] = {name: [] for name in proxies}
        used = dict.fromkeys(proxies, 0.0)
        for order in there_and_back(list(proxies), rounds):
            for name in order:
                before = processor_seconds(proxies[name].pid)
                rates[name].append(turn(name))
                used[name] += processor_seconds(proxies[name].pid) - before
    typical = {name: median(found) for name, found in rates.items()}
    cost = {name: used[name] / (sum(rates[name]) * seconds) * 1000 for name in proxies}

    def behind(name: str) -> str:
        return (
            f"{typical[name]:,.0f} requests/s and {cost[name]:.2f} ms of processor time each; "
            f"mitmdump {typical['mitmdump']:,.0f} and {cost['mitmdump']:.2f} ms; "
            f"direct {direct:,.0f}"
        )

    return [
        Row(
            "requests",
            "HTTPS requests/s, a scenario loaded, traced (2 kB, 16 connections), to mitmdump's",
            typical["warex"] / typical["mitmdump"],
            "times",
            1.6,
            at_least=True,
            detail=behind("warex"),
        ),
        Row(
            "passed-through",
            "the same for a host that is passed through (`--record concerned`)",
            typical["passed"] / typical["mitmdump"],
            "times",
            10,
            at_least=True,
            detail=behind("passed"),
        ),
    ]
