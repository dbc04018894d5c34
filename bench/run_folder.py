"""A run folder of any size, made of copies of four trials.

The trace writer writes each of the four once. A trial is identified by its folder's path, so copies
are valid.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import JsonValue

from warex.clock import Clock
from warex.traces import (
    AgentAction,
    Disarmed,
    Event,
    FaultDelivered,
    FaultPlanned,
    LlmCall,
    RequestSeen,
    ResponseSeen,
    Timings,
    TrialBegan,
)
from warex.traces.manifest import Manifest, write_manifest
from warex.traces.outcome import Counted
from warex.traces.outcome_file import write_outcome
from warex.traces.paths import EVENTS, MANIFEST, OUTCOME, TrialKey, attempt_dir
from warex.traces.writer import TraceWriter

AGENTS = ("patient", "hasty")
CONDITIONS = ("clean", "server-error", "network-error", "server-error+refresh", "clean-again")

_HEADERS = [
    ("accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"),
    ("sec-fetch-mode", "navigate"),
    ("user-agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36"),
    ("referer", "https://shop.warex.test/"),
]


def write_run(
    path: Path, trials: int, steps: int = 5, prompt: int = 2000, requests: int = 4
) -> Path:
    """Write a run of two agents under five conditions; return its folder.

    Each step of a trial is one model call, whose prompt is ``prompt`` characters longer than the
    last one, and one page of a number of requests.
    """
    path.mkdir(parents=True)
    write_manifest(path / MANIFEST, _manifest())
    with TemporaryDirectory() as scratch:
        kinds: dict[int, tuple[bytes, bytes]] = {}
        for number in range(trials):
            task, cell = divmod(number, len(AGENTS) * len(CONDITIONS))
            which, condition = divmod(cell, len(CONDITIONS))
            name = CONDITIONS[condition]
            key = TrialKey("testbed", AGENTS[which], name, f"shop-task-{task}", 1)
            faulted = "error" in name
            lost = (task * 7 + which * 3 + condition) % 5 < (3 if faulted else 1)
            kind = 2 * faulted + lost
            if kind not in kinds:
                kinds[kind] = _kind(Path(scratch) / str(kind), kind, steps, prompt, requests)
            events, outcome = kinds[kind]
            folder = attempt_dir(path, key, 1)
            folder.mkdir(parents=True)
            (folder / EVENTS).write_bytes(events)
            (folder / OUTCOME).write_bytes(outcome)
    return path


def _manifest() -> Manifest:
    return Manifest(
        campaign={
            "name": "synthetic",
            "agents": [{"name": name} for name in AGENTS],
            "conditions": [
                {"name": "clean"},
                {"name": "server-error", "scenario": "paper/server-error"},
                {"name": "network-error", "scenario": "paper/network-error"},
                {
                    "name": "server-error+refresh",
                    "scenario": "paper/server-error",
                    "defence": {"name": "refresh", "text": "Refresh the page."},
                },
                {"name": "clean-again", "control": True},
            ],
        },
        vocabularies={
            "testbed": {
                "name": "testbed",
                "navigate": ["goto", "click"],
                "recover": ["goto", "reload"],
                "retry": ["reload"],
                "finish": ["send_msg_to_user"],
            }
        },
        versions={"warex": "0"},
        seed=1,
        prices_date="2025-08-31",
        made_at="2025-09-01T00:00:00+00:00",
        command=["warex", "run", "synthetic.toml"],
    )


def _kind(folder: Path, number: int, steps: int, prompt: int, requests: int) -> tuple[bytes, bytes]:
    """Return trace and outcome of one of the four trials: with faults or not, solved or not."""
    faulted, lost = divmod(number, 2)
    folder.mkdir()
    clock = Clock(monotonic=lambda: 0.0, wall=lambda: 1_700_000_000.0)
    with TraceWriter(folder / EVENTS, clock) as trace:
        for t, event in enumerate(_events(bool(faulted), bool(lost), steps, prompt, requests)):
            trace.write(event, t / 10)
    write_outcome(folder, Counted(ending="answered", score=1 - lost, latency_s=steps * 2.0 + lost))
    return (folder / EVENTS).read_bytes(), (folder / OUTCOME).read_bytes()


def _events(faulted: bool, lost: bool, steps: int, prompt: int, requests: int) -> Iterator[Event]:
    scenario: dict[str, JsonValue] | None = {"name": "faults"} if faulted else None
    yield TrialBegan(benchmark="testbed", scenario=scenario)
    for step in range(1, steps + 1):
        hit = faulted and step == 1
        yield from _call(step, "goto" if step == 1 or lost else "reload", prompt)
        for part in range(requests):
            yield from _exchange(f"x{step}.{part}", part == 0, hit and part == 0)
    yield Disarmed(by="terminal_action")


def _call(step: int, action: str, prompt: int) -> list[Event]:
    call = LlmCall(
        exchange=f"m{step}",
        family="openai_chat",
        url="https://llm.example/v1/chat/completions",
        model="scripted:patient",
        step=step,
        began=(step - 1) * 1.2,
        messages=[{"role": "user", "content": "lorem ipsum " * (step * prompt // 12)}],
        stream=False,
        status=200,
        answer=f"{action}()",
        input_tokens=step * prompt // 4,
        output_tokens=20,
        usage="reported",
        latency_s=0.05,
        first_token_s=0.04,
        complete=True,
    )
    act = AgentAction(exchange=call.exchange, step=step, name=action, arguments=[], role="recover")
    return [call, act]


def _exchange(name: str, page: bool, hit: bool) -> list[Event]:
    url = "https://shop.warex.test/" + ("" if page else f"static/{name}.js")
    asked = RequestSeen(
        exchange=name,
        method="GET",
        url=url,
        resource="document" if page else "script",
        top_level=page,
        http_version="HTTP/2.0",
        connection="c1",
        headers=_HEADERS,
        size=0,
    )
    count_requests = ResponseSeen(
        exchange=name,
        status=500 if hit else 200,
        resource=asked.resource,
        by="warex" if hit else "site",
        headers=_HEADERS,
        size=12_000,
        timings=Timings(total=0.02),
    )
    if not hit:
        return [asked, count_requests]
    planned = FaultPlanned(
        injection="i1",
        exchange=name,
        rule="down",
        fault={"kind": "http_error", "status": 500},
        stage="request",
        scope="",
        ordinal=1,
        effects=("reply",),
        url=url,
    )
    return [
        asked,
        planned,
        count_requests,
        FaultDelivered(injection="i1", exchange=name, rule="down"),
    ]
