"""HTTPS requests per second on 16 kept connections, against stock mitmdump.

All candidates run at the same time and take turns of a second under the same client, so that
whatever else the machine does falls on all of them alike. Each round gives one ratio; the median
of the rounds is the result.
"""

from contextlib import ExitStack
from statistics import median

from bench.candidates import ELSEWHERE, LOADED, lane, mitmdump
from bench.programs import program, site
from bench.row import Row
from bench.setting import Setting

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
        rates = [
            {name: float(client.ask(f"turn {name} {seconds}")) for name in proxies}
            for _ in range(rounds)
        ]
    typical = {name: median(rate[name] for rate in rates) for name in proxies}
    context = f"direct {typical['direct']:,.0f}, mitmdump {typical['mitmdump']:,.0f} requests/s"
    return [
        Row(
            "requests",
            "HTTPS requests/s, a scenario loaded, traced (2 kB, 16 connections), to mitmdump's",
            median(rate["warex"] / rate["mitmdump"] for rate in rates),
            "times",
            1.6,
            at_least=True,
            detail=f"{typical['warex']:,.0f} requests/s; {context}",
        ),
        Row(
            "passed-through",
            "the same for a host that is passed through (`--record concerned`)",
            median(rate["passed"] / rate["mitmdump"] for rate in rates),
            "times",
            10,
            at_least=True,
            detail=f"{typical['passed']:,.0f} requests/s; {context}",
        ),
    ]
