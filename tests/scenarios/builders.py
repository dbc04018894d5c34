"""Builders of small scenarios and exchanges, and functions that send them to an injector."""

from collections.abc import Iterable
from itertools import count

from msgspec.structs import replace
from pydantic import JsonValue

from warex.exchange import Exchange, Request, Response, Server
from warex.scenarios import Decision, Injector, PlannedInjection, Rule, Scenario

SITE = "https://shop.test"
PAGE = f"{SITE}/"
DOCUMENT = {"sec-fetch-dest": "document"}
SCRIPT = {"sec-fetch-dest": "script"}

_numbers = count(1)


def rule(name: str = "down", /, **keys: JsonValue) -> dict[str, JsonValue]:
    return {"name": name, "trigger": {"always": True}, "fault": {"kind": "http_error"}, **keys}


def scenario(*rules: dict[str, JsonValue], **keys: JsonValue) -> Scenario:
    return Scenario.model_validate({"name": "s", "rules": list(rules), **keys})


def one(arm: str | None = None, never: tuple[str, ...] = (), **keys: JsonValue) -> Scenario:
    """Return a scenario of one rule, `down`."""
    return scenario(rule(**keys), arm=arm, never=list(never))


def one_shot(name: str = "once", **keys: JsonValue) -> Rule:
    return Rule.model_validate(rule(name, per="url", **keys))


def ask(
    url: str = PAGE,
    method: str = "GET",
    headers: dict[str, str] | None = None,
    body: str = "",
    server: Server = "site",
) -> Exchange:
    """Return a new exchange, for a page by default."""
    request = Request(method, url, DOCUMENT if headers is None else headers, body)
    return Exchange(f"x{next(_numbers)}", request, server=server)


def answer(exchange: Exchange, status: int = 200, content_type: str = "text/html") -> Exchange:
    response = Response(status, {"content-type": content_type})
    return replace(exchange, response=response)


def send(
    injector: Injector,
    url: str = PAGE,
    method: str = "GET",
    headers: dict[str, str] | None = None,
    *,
    now: float = 0.0,
    server: Server = "site",
) -> Decision:
    """Send a request that succeeds, with its injections delivered."""
    exchange = ask(url, method, headers, server=server)
    decision = injector.request(exchange, now)
    for injection in decision.injections:
        injection.settle(delivered=True)
    injector.finish(exchange.id)
    return decision


def hits(
    injector: Injector, urls: Iterable[str], headers: dict[str, str] | None = None
) -> list[int]:
    """Return the numbers of the requests that were hit, counted from 1."""
    return [n for n, url in enumerate(urls, 1) if send(injector, url, headers=headers).injections]


def only(injections: tuple[PlannedInjection, ...]) -> PlannedInjection:
    [injection] = injections
    return injection


def places(injections: Iterable[PlannedInjection]) -> list[tuple[str, str, int]]:
    return [(it.rule, it.scope, it.ordinal) for it in injections]
