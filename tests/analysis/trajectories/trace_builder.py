"""Build the events that the proxy would write from a short description, a story.

A line is a mapping with one of these keys, and options:

- ``page``, ``script``, ``image``, ``fetch``, ``post``: the path or URL of a request. It is answered
  with ``status`` (200), or hit by a ``fault``: a status, ``cut``, ``held`` (whole, but late),
  ``left`` (held until the client gave up), ``refused``, ``unresolved``. ``user: true`` is a user's
  gesture in Fetch Metadata, ``fetch_metadata: false`` omits that, ``again_of: i1`` is a silent
  repeat, ``of`` the requesting page, ``body`` the number of its body, ``operation`` a GraphQL
  operation, ``lost: true`` a fault after the site has acted, ``for`` the seconds that ``held`` and
  ``left`` last, ``by`` the User-Agent of a program, ``none: true`` a request that nobody refers to.
- ``model``: the text of its answer, or a mapping with ``text``, ``tools`` (name, arguments),
  ``takes`` (seconds), ``cut: true``. The proxy's code reads the actions from it.
- ``wait``: seconds without events.

Every event takes a tenth of a second. Injections are called i1, i2… in their order.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urljoin

from warex.lane.traffic.llm_tap import LlmTap, read_call
from warex.llm import recognise
from warex.llm.actions.vocabulary import SubtaskDepth, Vocabulary
from warex.traces.event_parts import Timings
from warex.traces.events import (
    Disarmed,
    Entry,
    Event,
    FaultDelivered,
    FaultPlanned,
    RequestSeen,
    ResponseSeen,
)

SITE = "https://shop.example/"
_KINDS = {
    "page": ("GET", "document"),
    "script": ("GET", "script"),
    "image": ("GET", "image"),
    "fetch": ("GET", "xhr"),
    "post": ("POST", "document"),
}
_KEYS = {
    *_KINDS,
    *("model", "wait", "method", "resource", "status", "fault"),
    *("user", "fetch_metadata", "again_of", "of", "body", "operation", "lost", "for", "by", "none"),
}
_EFFECTS = {
    "cut": ("cut",),
    "held": ("delay",),
    "left": ("delay", "reply"),
    "refused": ("refuse",),
    "unresolved": ("dns_error",),
}
_POINTS = {"refused": "connect", "unresolved": "name"}


def build_trace(
    story: Sequence[Mapping[str, Any]], vocabulary: Vocabulary | None
) -> tuple[Entry, ...]:
    """Return the trace of a story."""
    builder = _TraceBuilder(vocabulary)
    for line in story:
        builder.add(line)
    return tuple(builder.entries)


class _TraceBuilder:
    def __init__(self, vocabulary: Vocabulary | None) -> None:
        self.entries: list[Entry] = []
        self._vocabulary = vocabulary
        self._progress = SubtaskDepth()
        self._now = 0.0
        self._exchanges = 0
        self._injections = 0
        self._steps = 0
        self._over = False

    def add(self, line: Mapping[str, Any]) -> None:
        if unknown := line.keys() - _KEYS:
            raise ValueError(f"a story has no {', '.join(map(repr, unknown))}: {line}")
        if "wait" in line:
            self._now += line["wait"]
        elif "model" in line:
            self._add_model_call(line["model"])
        else:
            kind = next(key for key in _KINDS if key in line)
            self._add_request(kind, urljoin(SITE, line[kind]), line)

    def _write(self, event: Event) -> None:
        self._now += 0.1
        self.entries.append(Entry(len(self.entries) + 1, round(self._now, 3), "", event))

    def _add_request(self, kind: str, url: str, line: Mapping[str, Any]) -> None:
        method, resource = _KINDS[kind]
        fault = line.get("fault")
        self._exchanges += 1
        exchange = f"x{self._exchanges}"
        headers = [] if line.get("none") else [("referer", urljoin(SITE, line.get("of", "/")))]
        if "by" in line:
            headers = [("user-agent", line["by"])]
        elif line.get("fetch_metadata", True):
            headers.append(("sec-fetch-mode", "navigate"))
            headers += [("sec-fetch-user", "?1")] if line.get("user") else []
        point = _POINTS.get(str(fault))
        if point is None:
            self._write(
                RequestSeen(
                    exchange=exchange,
                    method=line.get("method", method),
                    url=url,
                    resource=line.get("resource", resource),
                    top_level=resource == "document",
                    http_version="HTTP/1.1",
                    connection="c1",
                    headers=headers,
                    size=0,
                    body=line.get("body", 0),
                    operation=line.get("operation", ""),
                )
            )
        injection = (
            self._plan(exchange, url, fault, point, line) if fault and not self._over else ""
        )
        status = line.get("status", 200) if fault in (None, "held") else fault
        if point is None:
            self._now += line.get("for", 2.0) if fault in ("held", "left") else line.get("for", 0)
            self._write(
                ResponseSeen(
                    exchange=exchange,
                    status=status if isinstance(status, int) else None,
                    resource=line.get("resource", resource),
                    by="site" if fault in (None, "held") else "warex",
                    size=100,
                    timings=Timings(total=0.1),
                )
            )
        if injection:
            left = fault == "left"
            self._write(
                FaultDelivered(
                    injection=injection,
                    exchange=exchange,
                    rule="rule",
                    client_left=left,
                    waited_s=line.get("for", 0.0),
                )
            )

    def _plan(
        self, exchange: str, url: str, fault: Any, point: Any, line: Mapping[str, Any]
    ) -> str:
        self._injections += 1
        injection = f"i{self._injections}"
        self._write(
            FaultPlanned(
                injection=injection,
                exchange=exchange,
                rule="rule",
                fault={"kind": str(fault)},
                stage="response" if line.get("lost") else "request",
                scope="",
                ordinal=self._injections,
                effects=_EFFECTS.get(str(fault), ("reply",)),
                url=urljoin(url, "/") if point else url,
                point=point,
                repeat_of=line.get("again_of"),
            )
        )
        return injection

    def _add_model_call(self, answer_or_text: Any) -> None:
        answer: Mapping[str, Any] = (
            {"text": answer_or_text} if isinstance(answer_or_text, str) else answer_or_text
        )
        self._exchanges += 1
        self._steps += 1
        exchange, began = f"x{self._exchanges}", self._now
        asked = {"model": "m", "messages": [{"role": "user", "content": f"turn {self._steps}"}]}
        request = recognise("POST", "/v1/chat/completions", "", json.dumps(asked).encode())
        assert request is not None
        url = "https://model.example/v1/chat/completions"
        tap = LlmTap(request, url, self._steps, began, progress=self._progress)
        body = json.dumps(_completion(answer)).encode()
        self._now += answer.get("takes", 0.5)
        tap.add(body[: len(body) // 2] if answer.get("cut") else body, self._now)
        call = read_call(
            tap,
            exchange,
            status=200,
            content_type="application/json",
            content_encoding="",
            error="connection cut" if answer.get("cut") else None,
            now=self._now,
            vocabulary=self._vocabulary,
            blobs=None,
        )
        self._write(call.event)
        for action in call.actions:
            self._write(action)
        if call.ends_task:
            self._over = True
            self._write(Disarmed(by="terminal_action"))


def _completion(answer: Mapping[str, Any]) -> dict[str, Any]:
    tools = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": tool["name"], "arguments": json.dumps(tool.get("arguments", {}))},
        }
        for number, tool in enumerate(answer.get("tools", ()))
    ]
    message = {"role": "assistant", "content": answer.get("text", "")}
    return {
        "model": "m",
        "choices": [{"message": message | ({"tool_calls": tools} if tools else {})}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 20},
    }
