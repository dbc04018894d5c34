"""Proxies for the wire tests, and their traces."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, Protocol

import msgspec

from tests.waiting import wait_until as wait_until
from warex.lane.config import ProxyConfig
from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.process.client import Proxy, start_proxy
from warex.proxy.process.forkserver import Forkserver
from warex.scenarios import Match, Rule, Scenario, Trigger
from warex.traces import Trace, read_trace
from warex.traffic import TrafficOptions


class Lane:
    """A running proxy, and its trace after it has ended."""

    def __init__(self, proxy: Proxy, out: Path, notices: list[str]) -> None:
        self.proxy, self.out, self.notices = proxy, out, notices

    @property
    def port(self) -> int:
        return self.proxy.port

    @property
    def url(self) -> str:
        return self.proxy.url

    @property
    def trace(self) -> Trace:
        return read_trace(self.out / "events.jsonl")

    def events[E: msgspec.Struct](self, kind: type[E]) -> list[E]:
        return list(self.trace.events(kind))


class Begin(Protocol):
    def __call__(self, **config: Any) -> AbstractContextManager[Lane]: ...


def beginner(forkserver: Forkserver, ca: CertificateAuthority, folder: Path) -> Begin:
    """Return a function that starts lanes, each with its own folder."""
    count = 0

    @contextmanager
    def begin(**config: Any) -> Iterator[Lane]:
        nonlocal count
        count += 1
        out = folder / f"out-{count}"
        notices: list[str] = []
        with start_proxy(
            forkserver, configured(ca=ca.folder, out=out, **config), notices.append
        ) as proxy:
            yield Lane(proxy, out, notices)

    return begin


def configured(**keys: Any) -> ProxyConfig:
    """A configuration whose options about traffic are given beside the other keys."""
    names = keys.keys() & {option.name for option in fields(TrafficOptions)}
    traffic = {name: keys.pop(name) for name in names}
    return ProxyConfig(**keys, traffic=TrafficOptions(**traffic))


def scenario(fault: Any, trigger: Trigger | None = None, **rule: Any) -> Scenario:
    """Return a scenario of one rule."""
    match = Match(**rule.pop("match", {}))
    hits = trigger or Trigger(always=True)
    return Scenario(
        name="test", rules=(Rule(name="rule", match=match, trigger=hits, fault=fault, **rule),)
    )
