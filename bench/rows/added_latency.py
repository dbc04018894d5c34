"""The latency that a lane adds to a page and to a model call, in turns with direct ones.

The pages are the start pages of the testbed's sites, the calls those that an agent has made. One
browser and one client send everything.
"""

import http.client
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from statistics import median

from playwright.sync_api import Browser
from pydantic import JsonValue

from bench.traffic.browser import fresh_page, load_milliseconds, loaded, trusting_browser
from bench.traffic.counted_lanes import Lane, counting_lane
from bench.traffic.measured_lanes import warex_config
from bench.turn_order import alternate
from bench.workspace import Workspace
from warex.benchmarks.adapters.testbed import TestbedBenchmark
from warex.benchmarks.adapters.testbed_pool import own_testbed
from warex.trials.scripted_model import MODEL_HOST as MODEL
from warex.trials.scripted_model import ScriptedModelProcess
from warex_testbed.sites import HOSTS
from warex_testbed.tasks import FILES

_CHAT = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class Added:
    """Milliseconds that a lane adds, as medians of paired differences."""

    first_page: float
    """A site's first page: new connections, nothing cached."""
    page: float
    """A page on kept connections, its scripts and style sheets cached."""
    call: float
    """A model call on a kept connection."""
    direct_page: float
    """Milliseconds of the page without a proxy."""
    direct_call: float
    """Milliseconds of the call without a proxy."""


def added(workspace: Workspace, calls: Sequence[JsonValue]) -> Added:
    """Measure pages and model calls; ``calls``: the messages of each, from a trace."""
    rounds = 1 if workspace.quick else 20
    pages = _pages(workspace, rounds)
    calls_direct, calls_through = _calls(workspace, calls, rounds)
    first, rest = (
        {name: [load[at] for load in loads] for name, loads in pages.items()} for at in (0, 1)
    )
    return Added(
        first_page=_more(first["through"], first["direct"]),
        page=_more(rest["through"], rest["direct"]),
        call=_more(calls_through, calls_direct),
        direct_page=median(rest["direct"]),
        direct_call=median(calls_direct),
    )


def _more(times: Sequence[float], than: Sequence[float]) -> float:
    return median(time - other for time, other in zip(times, than, strict=True))


def _pages(workspace: Workspace, rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Return the milliseconds of each site's first and second load, directly and through a lane."""
    with ExitStack() as stack:
        port = stack.enter_context(own_testbed(workspace.ca))["port"]
        ways = {"direct": None, "through": stack.enter_context(_lane(workspace, port))}
        # For direct loads only: a browser with a proxy resolves no names.
        here = f"--host-resolver-rules=MAP *.warex.test 127.0.0.1:{port}"
        browser = stack.enter_context(trusting_browser(workspace, here))
        hosts = tuple(HOSTS)[:: 3 if workspace.quick else 1]
        for lane in ways.values():
            _visits(browser, lane, hosts)
        loads: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        for order in alternate(list(ways), rounds):
            for name in order:
                loads[name] += _visits(browser, ways[name], hosts)
        return loads


@contextmanager
def _lane(workspace: Workspace, port: int) -> Iterator[Lane]:
    maps = tuple(f"https://{host}=https://127.0.0.1:{port}" for host in HOSTS)
    usual = warex_config(workspace)
    config = usual.model_copy(
        update={
            "traffic": usual.traffic.extended(maps=maps),
            "sites": tuple(f"https://{host}" for host in HOSTS),
        }
    )
    with counting_lane(workspace, config) as lane:
        yield lane


def _visits(browser: Browser, lane: Lane | None, hosts: Sequence[str]) -> list[tuple[float, float]]:
    """Open each site's start page twice in a new context; return the milliseconds of both."""
    times_of_visits = []
    with fresh_page(browser, lane.port if lane else 0) as page:
        for host in hosts:
            times: list[float] = []
            for _ in range(2):
                answer = page.goto(f"https://{host}/", wait_until="load")
                if answer is None or not answer.ok:
                    raise RuntimeError(f"{host} did not open {'through a lane' * bool(lane)}")
                times.append(load_milliseconds(page))
                if lane:
                    lane.count_requests(*loaded(page))
            times_of_visits.append((times[0], times[1]))
    return times_of_visits


def _calls(
    workspace: Workspace, calls: Sequence[JsonValue], rounds: int
) -> tuple[list[float], list[float]]:
    """Return the milliseconds of each call, directly and through a lane."""
    asked = [json.dumps({"model": "scripted:patient", "messages": each}).encode() for each in calls]
    with ExitStack() as stack:
        port = stack.enter_context(stack.enter_context(ScriptedModelProcess(FILES)).port())
        usual = warex_config(workspace)
        maps = (f"http://{MODEL}=http://127.0.0.1:{port}",)
        config = usual.model_copy(
            update={
                "traffic": usual.traffic.extended(maps=maps, llm_hosts=(MODEL,)),
                "vocabulary": TestbedBenchmark.vocabulary,
            }
        )
        lane = stack.enter_context(counting_lane(workspace, config))
        ways = {
            "direct": (_client(stack, port), _CHAT),
            "through": (_client(stack, lane.port), f"http://{MODEL}{_CHAT}"),
        }
        times: dict[str, list[float]] = {name: [] for name in ways}
        for client, url in ways.values():
            _ask(client, url, asked[0])
        for order in alternate(list(ways), rounds):
            for body in asked:
                for name in order:
                    times[name].append(_ask(*ways[name], body))
        lane.count_requests(f"http://{MODEL}{_CHAT}", times=1 + len(times["through"]))
    return times["direct"], times["through"]


def _client(stack: ExitStack, port: int) -> http.client.HTTPConnection:
    return stack.enter_context(closing(http.client.HTTPConnection("127.0.0.1", port)))


def _ask(client: http.client.HTTPConnection, url: str, body: bytes) -> float:
    """Send a model call on a kept connection; return the milliseconds until the whole answer."""
    headers = {"Content-Type": "application/json", "Authorization": "Bearer none"}
    began = time.perf_counter()
    client.request("POST", url, body, headers)
    with client.getresponse() as answer:
        content = answer.read()
    taken = (time.perf_counter() - began) * 1000
    if answer.status != 200:
        raise RuntimeError(f"the model answered {answer.status}: {content[:200]!r}")
    return taken
