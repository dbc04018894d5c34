"""What ``scenarios check`` says of two faults on one exchange is what happens to them."""

import json
from collections.abc import Iterator
from contextlib import suppress
from itertools import permutations
from typing import Any

import pytest
from pydantic import ValidationError

from tests.lane.support.played import answer, trial
from warex import faults
from warex.faults import Fault
from warex.scenarios import Match, Rule, Scenario, Trigger
from warex.scenarios.lint.collisions import collisions
from warex.traces import FaultDelivered, FaultMissed

PAGE = (
    b"<!doctype html><html><head><title>Shop</title></head><body><p>Hello, 12.50</p>"
    b"<form action=/a><input name=q><button>Go</button></form><ul><li>a<li>b<li>c</ul>"
    b"</body></html>"
)
ITEMS = {"items": [{"id": 1, "name": "a", "price": 3.5}, {"id": 2, "name": "b", "price": 4.5}]}
SCRIPT = b"function a() { return 1 }\n" * 40
CHAT = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
CHOICE = {
    "index": 0,
    "message": {"role": "assistant", "content": "Hello there, as asked"},
    "finish_reason": "stop",
}
COMPLETION = {
    "id": "1",
    "object": "chat.completion",
    "model": "m",
    "choices": [CHOICE],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "click", "arguments": {}},
}
RESULT = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "ok, 42"}]}}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
TOOLS = {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "click", "inputSchema": {}}]}}

NAVIGATES = {"sec_fetch_dest": "document", "sec_fetch_mode": "navigate"}
FORM = {**NAVIGATES, "content_type": "application/x-www-form-urlencoded", "content_length": "3"}
FETCHES = {"sec_fetch_dest": "empty", "sec_fetch_mode": "cors"}


def posted(content: object, **fields: str) -> dict[str, Any]:
    body = json.dumps(content).encode()
    sent = {"content_type": "application/json", "content_length": str(len(body)), **fields}
    return {"method": "POST", "body": body, **sent}


def as_json(content: object) -> tuple[bytes, str]:
    return json.dumps(content).encode(), "application/json"


TOOL = "https://tools.test/mcp"
MODEL = "https://api.openai.com/v1/chat/completions"
ACCEPTS = {"accept": "application/json, text/event-stream"}
REQUESTS: tuple[tuple[str, dict[str, Any], tuple[bytes, str]], ...] = (
    ("https://shop.test/", NAVIGATES, (PAGE, "text/html")),
    ("https://shop.test/order", {"method": "POST", "body": b"a=1", **FORM}, (PAGE, "text/html")),
    ("https://shop.test/api/items", FETCHES, as_json(ITEMS)),
    ("https://shop.test/api/order", posted({"a": 1}, **FETCHES), as_json(ITEMS)),
    ("https://shop.test/a.js", {"sec_fetch_dest": "script"}, (SCRIPT, "text/javascript")),
    (MODEL, posted(CHAT), as_json(COMPLETION)),
    (TOOL, posted(CALL, **ACCEPTS), as_json(RESULT)),
    (TOOL, posted(LIST, **ACCEPTS), as_json(TOOLS)),
)
"""URL, how it is asked for, and what the site answers."""


def variants() -> Iterator[Fault]:
    """Yield each fault of exchanges, and those of its forms that end an exchange otherwise."""
    more: dict[str, tuple[dict[str, Any], ...]] = {
        "connection_cut": (
            {"how": "reset"},
            {"after_bytes": 5},
            {"after_bytes": 5, "part": "head"},
        ),
        "truncated_body": ({"how": "clean"},),
        "stalled_body": ({"then": "close"},),
        "llm_cut": ({"how": "clean"}, {"how": "reset"}),
        "slow_page": ({"delay": 2},),
        "javascript_failure": ({"mode": "truncate", "stage": "response"},),
    }
    for kind in faults.CATALOGUE:
        if kind.point is not None:
            continue
        plain = kind()
        yield plain
        yield from (kind(**options) for options in more.get(plain.kind, ()))
        if plain.stage == "request":
            with suppress(ValidationError):  # It has one stage only.
                yield kind(stage="response")


def rule(name: str, fault: Fault) -> Rule:
    return Rule(name=name, match=Match(), trigger=Trigger(always=True), fault=fault)


def played(rules: tuple[Rule, ...], number: int) -> dict[str, str]:
    """Return what became of each rule's injection, by the rule's name."""
    url, how, answered = REQUESTS[number]
    with trial(scenario=Scenario(name="pair", rules=rules)) as began:
        began.ask(lambda head, body: answer(answered[0], kind=answered[1]), url, **how)
    became = {it.rule: it.reason for it in began.all(FaultMissed) if it.injection}
    return became | {it.rule: "delivered" for it in began.all(FaultDelivered)}


@pytest.mark.slow
def test_two_faults_on_one_exchange_are_applied_as_the_check_says() -> None:
    numbers = range(len(REQUESTS))
    kinds = [(it, [played((rule("a", it),), number) for number in numbers]) for it in variants()]
    wrong = []
    for (one, one_alone), (other, other_alone) in permutations(kinds, 2):
        pair = (rule("a", one), rule("b", other))
        verdict = " ".join(collisions(pair))
        for number in numbers:
            alone = (one_alone[number].get("a"), other_alone[number].get("a"))
            if None in alone:
                continue
            became = played(pair, number)
            got = (became.get("a"), became.get("b"))
            if "missed (superseded)" in verdict:
                holds = got in ((alone[0], "superseded"), ("superseded", alone[1]))
            elif "nothing_to_rewrite" in verdict:
                holds = got in ((alone[0], "nothing_to_rewrite"), ("nothing_to_rewrite", alone[1]))
            else:
                # What the first has left may hold nothing that the second changes.
                fits = [
                    it in (own, "nothing_to_rewrite") for it, own in zip(got, alone, strict=True)
                ]
                holds = "are applied" in verdict and all(fits)
            if not holds:
                wrong.append((one, other, number, alone, got, verdict))
    assert wrong == []
