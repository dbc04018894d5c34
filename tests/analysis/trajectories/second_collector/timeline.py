"""`python -m …second_collector.timeline FILE…`: print traces as timelines, for raters.

How an action was read by WAREX is left out.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

type Event = dict[str, Any]


def timeline(path: Path) -> str:
    """Return the trace as lines, in order of time."""
    events = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    model = {e["exchange"] for e in events if e["event"] == "llm_call"}
    timed = [(t, line) for event in events for t, line in _lines(event, model)]
    timed.sort(key=lambda one: one[0])
    return "\n".join([f"# {path.stem}", *(f"{t:6.2f} {line}" for t, line in timed)])


def _lines(e: Event, model: set[str]) -> Iterator[tuple[float, str]]:
    t = float(e["t"])
    of_model = e.get("exchange") in model
    match e["event"]:
        case "trial_began":
            for rule in (e.get("scenario") or {}).get("rules", []):
                parts = {k: v for k, v in rule.items() if k in ("match", "trigger", "per", "fault")}
                yield 0, f"{rule['name']}: {_plain(parts)}"
        case "request" if not of_model:
            headers = {k.lower(): v for k, v in e.get("headers", [])}
            marks = [e["resource"], "top" if e.get("top_level") else ""]
            marks += [f"body{e['body']}" if e.get("body") else "", e.get("operation", "")]
            marks += [
                "nocache" if headers.get("cache-control") in ("max-age=0", "no-cache") else ""
            ]
            marks += [f"repeats {e['repeat_of']}" if e.get("repeat_of") else ""]
            marks += [f"ref {headers['referer']}" if "referer" in headers else ""]
            marks += ["prefetch" if "sec-purpose" in headers else ""]
            shown = " ".join(m for m in marks if m)
            yield t, f"-> {e['exchange']} {e['method']} {e['url']} ({shown})"
        case "response" if not of_model:
            headers = {k.lower(): v for k, v in e.get("headers", [])}
            to = f" to {headers['location']}" if "location" in headers else ""
            error = f" {e['error']}" if e.get("error") else ""
            yield t, f"<- {e['exchange']} {e.get('status')} by {e['by']}{to}{error}"
        case "fault_planned":
            again = f" REPEATS {e['repeat_of']}" if e.get("repeat_of") else ""
            at = e.get("point") or e["stage"]
            yield (
                t,
                f"!! planned {e['injection']} {e['fault']['kind']} {at} on {e['exchange']}{again}",
            )
        case "fault_delivered":
            changes = f" {_plain(e['changes'])[:200]}" if e.get("changes") else ""
            left = " client left" if e.get("client_left") else ""
            yield t, f"!! DELIVERED {e['injection']} on {e['exchange']}{left}{changes}"
        case "fault_missed":
            yield t, f"   missed {e.get('injection')} {e['rule']}: {e['reason']}"
        case "llm_call":
            yield float(e["began"]), f"ASKED {e['step']}: {_shown(e)}"
            yield t, f"SAID {e['step']} ({e.get('status')}): {_sentence(e)}"
        case "witness":
            yield t, f"   witness {e['injection']} {e['what']} {e.get('detail', '')}"
        case "trial_ended" | "armed" | "disarmed" | "harness_broke" | "llm_unread":
            yield t, f"--- {e['event']} {e.get('by', '')}{e.get('reason', '')}"


def _shown(e: Event) -> str:
    texts = []
    for message in e.get("messages") or []:
        if message.get("role") != "system":
            content = message.get("content") or message.get("output")
            texts.append(content if isinstance(content, str) else _plain(content))
    return " / ".join(texts).replace("\n", " | ")[:330]


def _sentence(e: Event) -> str:
    parts = [e["answer"].replace("\n", " | ")] if e.get("answer") else []
    parts += [f"{c.get('name')} {_plain(c.get('arguments'))}" for c in e.get("tool_calls", [])]
    if e.get("error") or not e.get("complete"):
        parts.append(f"(cut: {e.get('error')})")
    return " ".join(parts)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(timeline(Path(name)), end="\n\n")
