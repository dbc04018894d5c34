"""HTTPS requests per second on 16 kept connections, against stock mitmdump.

All candidates stay up and take turns of a second under the same client, so that whatever else the
machine does falls on all of them alike; each round begins with another one, so that none always
follows the same. The result is the ratio of the medians.
"""

from contextlib import ExitStack
from statistics import median

from bench.candidates import ELSEWHERE, LOADED, lane, mitmdump
from bench.programs import program, site
from bench.row import Row
from bench.setting import Setting
from bench.turns import rotated

CONNECTIONS = 16


def measure(setting: Setting) -> list[Row]:
    """Measure a lane that reads everything and one that passes the host through."""
    rounds, seconds = (2, 0.3) if setting.quick else (15, 1.0)
    with ExitStack() as stack:
        port = stack.enter_context(site("bench.quick_site", *setting.tls))
        proxies = {
            "mitmdump": stack.enter_context(mitmdump(setting)),
            "warex": stack.enter_context(lane(setting, LOADED)).port,
            "passed": stack.enter_context(lane(setting, ELSEWHERE, "concerned")).port,
            "direct": 0,
        }
        client = stack.enter_context(program("bench.load"))
        for name, proxy in proxies.items():
            client.ask(f"connect {name} {proxy} {port} {CONNECTIONS}")
            client.ask(f"turn {name} {seconds / 2}")
        rates: dict[str, list[float]] = {name: [] for name in proxies}
        for first in range(rounds):
            for name in rotated(list(proxies), first):
                rates[name].append(float(client.ask(f"turn {name} {seconds}")))
    typical = {name: median(found) for name, found in rates.items()}
    context = f"direct {typical['direct']:,.0f}, mitmdump {typical['mitmdump']:,.0f} requests/s"
    return [
        Row(
            "requests",
            "HTTPS requests/s, a scenario loaded, traced (2 kB, 16 connections), to mitmdump's",
            typical["warex"] / typical["mitmdump"],
            "times",
            1.6,
            at_least=True,
            detail=f"{typical['warex']:,.0f} requests/s; {context}",
        ),
        Row(
            "passed-through",
            "the same for a host that is passed through (`--record concerned`)",
            typical["passed"] / typical["mitmdump"],
            "times",
            10,
            at_least=True,
            detail=f"{typical['passed']:,.0f} requests/s; {context}",
        ),
    ]
