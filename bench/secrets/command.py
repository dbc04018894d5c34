"""python -m bench secrets: plant secrets in trials, and count those that a file still has.

Each secret stands in a trial of its own, so that no other one helps. The counterpart are texts that
hold no secret, written for this and recorded: those that are changed are counted, too.
"""

import argparse
import json
import shlex
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

from pydantic import JsonValue

from bench.secrets import fourth
from bench.secrets.clean import changed
from bench.secrets.forms import OTHERS, THIRD, plant, weaker
from bench.secrets.planted import Planted, planted, ways
from bench.secrets.recorded import changes
from warex.clock import Clock
from warex.traces import (
    EVENTS,
    AgentAction,
    Event,
    LlmCall,
    McpCall,
    RequestSeen,
    ResponseSeen,
    Timings,
    TraceWriter,
    TrialEnded,
    redact_file,
)
from warex.traces.redaction.structured import redact_arguments

_MOST_LATER = 0.01
"""The share of the third and of the fourth list that may be left; some of either are known to."""


def main(arguments: Sequence[str]) -> int:
    """Print the counts by kind; return 1 if too many are left or another text is changed."""
    parser = argparse.ArgumentParser(prog="python -m bench secrets", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print what is left and what is lost")
    asked = parser.parse_args(arguments)
    lists = {
        "of the first list": (list(planted(asked.seed)), 0.0),
        "of the second list": (list(plant(OTHERS, asked.seed)), 0.0),
        "of the third list": (list(plant(THIRD, asked.seed)), _MOST_LATER),
        "of the fourth list": (list(plant(fourth.FORMS, asked.seed)), _MOST_LATER),
    }
    failed = False
    for name, (every, most) in lists.items():
        left = _count(every, by_kind=True, show=asked.show)
        print(f"{left:5} of {len(every):5}  secrets {name} are left in plain text")
        failed |= left > most * len(every)
    for name, forms in weaker():
        every = list(plant(forms, asked.seed))
        left = _count(every, by_kind=False, show=False)
        print(f"{left:5} of {len(every):5}  {name}, in the third list's forms (no bar)")
    lost, size = changed()
    print(f"{len(lost):5} of {size:5}  texts without a secret are changed")
    altered, total = changes()
    print(f"{len(altered):5} of {total:5}  texts of recordings and of the testbed are changed")
    for before, after in lost if asked.show else ():
        print(f"lost: {before!r} -> {after!r}")
    for change in altered if asked.show else ():
        print(f"changed: {change.source}: {change.before!r} -> {change.after!r}")
    return 1 if failed or lost or altered else 0


def _count(every: Sequence[Planted], *, by_kind: bool, show: bool) -> int:
    """Return how many secrets are left; print them by kind, and each."""
    left = [it for it in every if is_left(it)]
    counts, missed = Counter(it.kind for it in every), Counter(it.kind for it in left)
    for kind, count in counts.items() if by_kind else ():
        print(f"{missed[kind]:5} of {count:5}  {kind}")
    for it in left if show else ():
        print(f"left: {it.kind}, {it.place}: {it.text or it.name!r} ({it.secret})")
    return len(left)


def is_left(it: Planted) -> bool:
    """Whether any file that is written of a trial with this secret has it."""
    with tempfile.TemporaryDirectory() as folder:
        text = written(it, Path(folder))
    spellings = ways(it.secret) | (ways(it.encoded) if it.encoded else set())
    return any(way in text for way in spellings)


def written(it: Planted, folder: Path) -> str:
    """Return what is written of a trial with this secret."""
    match it.place:
        case "log":
            path = folder / "agent.log"
            path.write_text(f"INFO start\n{it.text}\nINFO end\n")
            redact_file(path)
            return path.read_text()
        case "manifest":
            in_shell = "|" in it.text or "\n" in it.text
            command = ["sh", "-c", it.text] if in_shell else shlex.split(it.text)
            return json.dumps(redact_arguments(command), ensure_ascii=False)
    with TraceWriter(folder / EVENTS, Clock()) as writer:
        for event in _events(it):
            writer.write(event)
        writer.write(TrialEnded(exchanges=1, delivered=0, missed=0))
    return (folder / EVENTS).read_text()


def _events(it: Planted) -> Iterator[Event]:
    seen: list[JsonValue] = [{"role": "system", "content": "You use a browser."}]
    if it.before:
        seen.append({"role": "user", "content": it.before})
    match it.place:
        case "url":
            yield _request(it.text)
        case "request header":
            yield _request("https://a.example/", [(it.name, it.secret)])
        case "response header":
            yield ResponseSeen(
                exchange="x1",
                status=200,
                resource="document",
                by="site",
                headers=[(it.name, it.secret)],
                size=0,
                timings=Timings(total=0.1),
            )
        case "prompt":
            yield _call([*seen, {"role": "user", "content": f"Page:\n{it.text}\nWhat next?"}])
        case "blocks":
            block: JsonValue = {"type": "text", "text": it.text}
            yield _call([*seen, {"role": "user", "content": [block]}])
        case "tool result":
            yield _call([*seen, {"role": "tool", "tool_call_id": "c1", "content": it.text}])
        case "answer":
            yield _call(seen, answer=it.text)
        case "history":
            yield _call(
                [
                    *seen,
                    {"role": "assistant", "content": it.text},
                    {"role": "user", "content": "next"},
                ]
            )
        case "tool argument":
            yield _call(seen, tools=[("bash", json.dumps({"command": it.text}))])
        case "tool arguments":
            yield _call(seen, tools=[("browser_type", it.text)])
            yield AgentAction(
                exchange="x1",
                step=1,
                name="browser_type",
                arguments=cast(JsonValue, json.loads(it.text)),
                role="other",
            )
        case "mcp result" | "mcp arguments":
            yield from _mcp(it)
        case "computer use":
            yield from _computer_use(it, seen)
        case "computer call":
            yield from _computer_call(it, seen)
        case _:
            raise ValueError(it.place)


def _request(url: str, headers: Sequence[tuple[str, str]] = ()) -> Event:
    return RequestSeen(
        exchange="x1",
        method="GET",
        url=url,
        resource="document",
        http_version="HTTP/1.1",
        connection="c1",
        headers=list(headers),
        size=0,
    )


def _call(messages: JsonValue, answer: str = "", tools: Sequence[tuple[str, str]] = ()) -> Event:
    return LlmCall(
        exchange="x1",
        family="openai-chat",
        url="https://api.example/v1/chat/completions",
        model="m",
        step=1,
        began=0.0,
        messages=messages,
        stream=False,
        status=200,
        answer=answer,
        tool_calls=[
            {"id": "c1", "name": name, "arguments": arguments} for name, arguments in tools
        ],
        input_tokens=1,
        output_tokens=1,
        usage="reported",
        latency_s=1.0,
        first_token_s=None,
        complete=True,
    )


def _mcp(it: Planted) -> Iterator[Event]:
    def call(arguments: JsonValue, result: JsonValue) -> Event:
        return McpCall(
            exchange="x1",
            url="https://mcp.example/mcp",
            transport="streamable_http",
            id=1,
            method="tools/call",
            tool="browser_type",
            arguments=arguments,
            result=result,
            began=0.0,
            latency_s=0.1,
            complete=True,
        )

    if it.before:
        yield call({}, {"content": [{"type": "text", "text": it.before}]})
    if it.place == "mcp result":
        yield call({}, {"content": [{"type": "text", "text": it.text}]})
        return
    try:
        yield call(json.loads(it.text), None)
    except ValueError:
        yield call({"command": it.text}, None)


def _computer_use(it: Planted, seen: list[JsonValue]) -> Iterator[Event]:
    click: JsonValue = {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I click the password field."},
            {
                "type": "tool_use",
                "id": "t1",
                "name": "computer",
                "input": {"action": "left_click", "coordinate": [4, 9]},
            },
        ],
    }
    shown: JsonValue = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "t1", "content": []}],
    }
    yield _call(
        [*seen, click, shown], tools=[("computer", json.dumps({"action": "type", "text": it.text}))]
    )
    again: JsonValue = {
        "role": "assistant",
        "content": [
            {
                "type": "tool_use",
                "id": "t2",
                "name": "computer",
                "input": {"action": "type", "text": it.text},
            }
        ],
    }
    yield _call([*seen, click, shown, again])


def _computer_call(it: Planted, seen: list[JsonValue]) -> Iterator[Event]:
    message: JsonValue = {"role": "assistant", "content": "Now the password box."}
    click: JsonValue = {
        "type": "computer_call",
        "call_id": "a",
        "action": {"type": "click", "x": 4, "y": 9},
    }
    shown: JsonValue = {
        "type": "computer_call_output",
        "call_id": "a",
        "output": {"type": "input_image"},
    }
    typed: JsonValue = {
        "type": "computer_call",
        "call_id": "b",
        "action": {"type": "type", "text": it.text},
    }
    yield _call([*seen, message, click, shown, typed])
