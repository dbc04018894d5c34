"""What a lane adds to one page and to one model call of a trial, each beside the same without it.

The pages are those on which the testbed's sites open, the calls those that an agent has made. One
browser and one client ask for everything, by turns.
"""

import http.client
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from statistics import median

from playwright.sync_api import Browser, ProxySettings, sync_playwright
from pydantic import JsonValue

from bench.candidates import warex_config
from bench.setting import Setting
from bench.turns import there_and_back
from warex.agents.reference import chromium
from warex.benchmarks.testbed import TestbedBenchmark
from warex.benchmarks.testbed_pool import own_testbed
from warex.proxy.config import HostMap
from warex.proxy.lane import started
from warex.testbed.sites import HOSTS
from warex.testbed.tasks import FILES
from warex.trials.model import HOST as MODEL
from warex.trials.model import scripted_model

_CHAT = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class Added:
    """Milliseconds that a lane adds, each the median of differences by turns."""

    first_page: float
    """A site's first page: new connections, nothing cached."""
    page: float
    """A page on kept connections, its scripts and style sheets cached."""
    call: float
    """A model call on a kept connection."""
    direct_page: float
    """What that page takes without a proxy."""
    direct_call: float
    """What that call takes without a proxy."""


def added(setting: Setting, calls: Sequence[JsonValue]) -> Added:
    """Measure pages and model calls; ``calls`` are what a trace has of their messages."""
    rounds = 1 if setting.quick else 20
    pages = _pages(setting, rounds)
    calls_direct, calls_through = _calls(setting, calls, rounds)
    first, kept = (
        {way: [load[place] for load in loads] for way, loads in pages.items()} for place in (0, 1)
    )
    return Added(
        first_page=_more(first["through"], first["direct"]),
        page=_more(kept["through"], kept["direct"]),
        call=_more(calls_through, calls_direct),
        direct_page=median(kept["direct"]),
        direct_call=median(calls_direct),
    )


def _more(times: Sequence[float], than: Sequence[float]) -> float:
    return median(time - other for time, other in zip(times, than, strict=True))


def _pages(setting: Setting, rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Return, for each way to the sites, the milliseconds of each site's first and second load."""
    with ExitStack() as stack:
        port = stack.enter_context(own_testbed(setting.ca))["port"]
        ways = {"direct": 0, "through": stack.enter_context(_lane(setting, port))}
        playwright = stack.enter_context(sync_playwright())
        own = playwright.chromium.executable_path
        # Only what goes direct asks it for an address; a proxy is told the name.
        here = f"--host-resolver-rules=MAP *.warex.test 127.0.0.1:{port}"
        browser = stack.enter_context(
            playwright.chromium.launch(
                executable_path=chromium.find(None, os.environ, own),
                args=chromium.arguments((here,)),
            )
        )
        hosts = tuple(HOSTS)[:: 3 if setting.quick else 1]
        for proxy in ways.values():
            _visits(browser, proxy, hosts)
        loads: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
        for order in there_and_back(list(ways), rounds):
            for way in order:
                loads[way] += _visits(browser, ways[way], hosts)
        return loads


@contextmanager
def _lane(setting: Setting, port: int) -> Iterator[int]:
    maps = tuple(HostMap.parse(f"https://{host}=https://127.0.0.1:{port}") for host in HOSTS)
    config = warex_config(setting).model_copy(
        update={"maps": maps, "sites": tuple(f"https://{host}" for host in HOSTS)}
    )
    with started(setting.forkserver, config) as proxy:
        yield proxy.port
        if proxy.broken:
            raise RuntimeError(f"the lane broke: {proxy.broken}")


def _visits(browser: Browser, proxy: int, hosts: Sequence[str]) -> list[tuple[float, float]]:
    """Open each site's first page twice in a fresh profile; return the milliseconds of both."""
    settings = ProxySettings(server=f"http://127.0.0.1:{proxy}")
    found = []
    with browser.new_context(
        proxy=settings if proxy else None, ignore_https_errors=True
    ) as context:
        page = context.new_page()
        for host in hosts:
            times: list[float] = []
            for _ in range(2):
                answer = page.goto(f"https://{host}/", wait_until="load")
                if answer is None or not answer.ok:
                    raise RuntimeError(f"{host} did not open through port {proxy}")
                times.append(
                    page.evaluate("performance.getEntriesByType('navigation')[0].loadEventStart")
                )
            found.append((times[0], times[1]))
    return found


def _calls(
    setting: Setting, calls: Sequence[JsonValue], rounds: int
) -> tuple[list[float], list[float]]:
    """Return the milliseconds of each call, directly and through a lane."""
    asked = [json.dumps({"model": "scripted:patient", "messages": each}).encode() for each in calls]
    with ExitStack() as stack:
        port = stack.enter_context(scripted_model(FILES))
        config = warex_config(setting).model_copy(
            update={
                "maps": (HostMap.parse(f"http://{MODEL}=http://127.0.0.1:{port}"),),
                "llm_hosts": (MODEL,),
                "vocabulary": TestbedBenchmark.vocabulary,
            }
        )
        proxy = stack.enter_context(started(setting.forkserver, config))
        ways = {
            "direct": (_client(stack, port), _CHAT),
            "through": (_client(stack, proxy.port), f"http://{MODEL}{_CHAT}"),
        }
        times: dict[str, list[float]] = {way: [] for way in ways}
        for client, url in ways.values():
            _ask(client, url, asked[0])
        for order in there_and_back(list(ways), rounds):
            for body in asked:
                for way in order:
                    times[way].append(_ask(*ways[way], body))
        if proxy.broken:
            raise RuntimeError(f"the lane broke: {proxy.broken}")
    return times["direct"], times["through"]


def _client(stack: ExitStack, port: int) -> http.client.HTTPConnection:
    return stack.enter_context(closing(http.client.HTTPConnection("127.0.0.1", port)))


def _ask(client: http.client.HTTPConnection, url: str, body: bytes) -> float:
    """Ask the model on a kept connection; return the milliseconds until all of its answer."""
    headers = {"Content-Type": "application/json", "Authorization": "Bearer none"}
    began = time.perf_counter()
    client.request("POST", url, body, headers)
    with client.getresponse() as answer:
        said = answer.read()
    taken = (time.perf_counter() - began) * 1000
    if answer.status != 200:
        raise RuntimeError(f"the model answered {answer.status}: {said[:200]!r}")
    return taken
