"""`python -m tests.analysis.trajectories.render NAME`: print a collected trial as a timeline.

NAME is a trial of `corpus/`, or a path to a trace. Lines begin with seconds; the names of exchanges
(x7) and injections link them.
"""

import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tests.yaml_files import load_yaml

CORPUS = Path(__file__).parent / "corpus"

type Event = dict[str, Any]


def render(path: Path) -> str:
    """Return the trace as a timeline, one line per event."""
    events = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    entry: Event = next((e for e in _known(path.parent) if e["name"] == path.stem), {})
    timed = [(t, line) for event in events for t, line in _lines(event, events)]
    timed.sort(key=lambda one: one[0])
    lines = [*_head(path.stem, entry, events), ""]
    lines += [f"{t:7.2f}  {line}" for t, line in timed]
    lines += ["", *_tail(entry)]
    return "\n".join(lines)


@cache
def _known(folder: Path) -> list[Event]:
    """Return the index of the trials' folder; cached, since it is slow to read."""
    index = folder / "index.yaml"
    return load_yaml(index) if index.is_file() else []


def _head(name: str, entry: Event, events: list[Event]) -> list[str]:
    began = events[0]
    lines = [f"{name}: {began.get('task') or 'no task'}"]
    vocabulary = entry.get("vocabulary")
    if isinstance(vocabulary, dict):
        lists = [f"{k}={' '.join(v)}" for k, v in vocabulary.items() if v and k != "name"]
        vocabulary = f"of its own: {'; '.join(lists)}"
    lines.append(f"vocabulary: {vocabulary or 'none'}")
    for rule in (began.get("scenario") or {}).get("rules", []):
        text = " ".join(
            f"{k}={_plain(rule[k])}" for k in ("match", "trigger", "per", "fault") if k in rule
        )
        lines.append(f"rule {rule['name']}: {text}")
    lines.append(f"armed by: {began.get('arm', 'start')}")
    return lines


def _tail(entry: Event) -> list[str]:
    solved = {True: "yes", False: "no", None: "not known"}[entry.get("solved")]
    return [f"claim: {entry.get('claim')!r}", f"solved: {solved}"]


def _lines(event: Event, events: list[Event]) -> Iterator[tuple[float, str]]:
    t = float(event["t"])
    match event["event"]:
        case "request" if not _of_model(event["exchange"], events):
            yield t, _request(event)
        case "response" if not _of_model(event["exchange"], events):
            yield t, _response(event)
        case "fault_planned":
            yield t, _planned(event)
        case "fault_delivered":
            left = ", the client left" if event.get("client_left") else ""
            after = f"after {event.get('waited_s', 0):.2f} s{left}"
            yield t, f"!!! DELIVERED {event['injection']} on {event['exchange']} {after}"
        case "fault_missed":
            missed = event.get("injection") or f"{event.get('count', 1)} exchanges"
            yield t, f"    missed {missed} of {event['rule']}: {event['reason']}"
        case "llm_call":
            yield float(event["began"]), f"MODEL is asked (step {event['step']}): {_shown(event)}"
            yield t, f"MODEL said (step {event['step']}): {_sentence(event)}"
        case "agent_action":
            arguments = _plain(event.get("arguments"))
            yield t, f"    read as {event['name']} {arguments}"
        case "armed" | "disarmed":
            yield t, f"--- {event['event']} by {event['by']}"
        case "trial_ended":
            yield t, "--- the trial ended"


def _of_model(exchange: str, events: list[Event]) -> bool:
    return any(e["event"] == "llm_call" and e["exchange"] == exchange for e in events)


def _request(event: Event) -> str:
    headers = {name.lower(): value for name, value in event.get("headers", [])}
    marks = [event["resource"]]
    marks += ["top-level"] if event.get("top_level") else []
    marks += ["by the user"] if headers.get("sec-fetch-user") else []
    marks += [f"body {event['body']}"] if event.get("body") else []
    marks += [f"cache-control {headers['cache-control']}"] if "cache-control" in headers else []
    marks += [f"from {headers['referer']}"] if "referer" in headers else []
    marks += [f"repeats {event['repeat_of']}"] if event.get("repeat_of") else []
    return f"-> {event['exchange']} {event['method']} {event['url']} ({', '.join(marks)})"


def _response(event: Event) -> str:
    headers = {name.lower(): value for name, value in event.get("headers", [])}
    status = event.get("status") or "no answer"
    to = f" to {headers['location']}" if "location" in headers else ""
    error = f", {event['error']}" if event.get("error") else ""
    total = event["timings"]["total"]
    return f"<- {event['exchange']} {status}{to} by {event['by']} in {total:.2f} s{error}"


def _planned(event: Event) -> str:
    fault = dict(event["fault"])
    kind, at = fault.pop("kind"), event.get("point") or event["stage"]
    again = f", repeats {event['repeat_of']}" if event.get("repeat_of") else ""
    rest = _plain(fault)
    return (
        f"!!! PLANNED {event['injection']} {kind} at {at} on {event['exchange']} {event['url']}"
        f" ({event['rule']}, number {event['ordinal']}{again}; {rest})"
    )


def _shown(event: Event) -> str:
    return " ".join(str(message.get("content", "")) for message in event.get("messages") or [])


def _sentence(event: Event) -> str:
    parts = [repr(event["answer"])] if event.get("answer") else []
    parts += [_plain(call) for call in event.get("tool_calls", [])]
    if event.get("error") or not event.get("complete"):
        parts.append(f"(cut: {event.get('error')})")
    return " ".join(parts) or "nothing"


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        value = {k: v for k, v in value.items() if v is not None}
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(render(Path(name) if "/" in name else CORPUS / f"{name}.jsonl"), end="\n\n")
