"""Builders of traces and run folders, written with the trace writer."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec
from pydantic import JsonValue, TypeAdapter

from warex.clock import Clock
from warex.faults import CATALOGUE, AnyFault, Fault
from warex.llm.actions.vocabulary import Vocabulary
from warex.traces.event_parts import ChangedValue, MissReason, Timings
from warex.traces.events import (
    AgentAction,
    Disarmed,
    Entry,
    Event,
    FaultDelivered,
    FaultMissed,
    FaultPlanned,
    LlmCall,
    RequestSeen,
    ResponseSeen,
    TrialBegan,
    Witness,
)
from warex.traces.manifest import Manifest, write_manifest
from warex.traces.outcome import Counted, Outcome
from warex.traces.outcome_file import write_outcome
from warex.traces.paths import EVENTS, MANIFEST, TrialKey, attempt_dir
from warex.traces.writer import TraceWriter

SHOP = "https://shop.example/"
ANY: TypeAdapter[Fault] = TypeAdapter(AnyFault)
CATEGORIES = {fault.model_fields["kind"].default: fault.category for fault in CATALOGUE}
"""The category of each kind of fault."""
WORDS = Vocabulary(
    name="testbed",
    navigate=("goto", "click"),
    recover=("goto", "reload"),
    retry=("reload",),
    finish=("send_msg_to_user", "report_infeasible"),
    infeasible=("report_infeasible",),
    noop=("noop", "click_nothing"),
    other=("fill",),
)
_ROLES = {
    "reload": "recover",
    "goto": "recover",
    "click": "navigate",
    "report_infeasible": "finish",
    "send_msg_to_user": "finish",
}


def solved(latency: float = 3.0, *reasons: str) -> Counted:
    return Counted(ending="answered", score=1, latency_s=latency, reasons=reasons)


def failed(latency: float = 2.0, *reasons: str) -> Counted:
    return Counted(ending="reported_infeasible", score=0, latency_s=latency, reasons=reasons)


def as_planned(event: FaultPlanned, fault: dict[str, Any]) -> FaultPlanned:
    """Return the event with this fault and the fields that depend on it."""
    parsed = ANY.validate_python(fault)
    return msgspec.structs.replace(
        event, fault=fault, category=parsed.category, inaction_resists=parsed.inaction_resists
    )


@dataclass
class Story:
    """A builder of a trial's events, each one second after the last."""

    events: list[tuple[float, Event]] = field(default_factory=list)
    t: float = 0.0

    def entries(self) -> tuple[Entry, ...]:
        return tuple(Entry(n, t, "", event) for n, (t, event) in enumerate(self.events, 1))

    def add(self, event: Event) -> "Story":
        self.t += 1
        self.events.append((self.t, event))
        return self

    def began(self, key: TrialKey, seed: int = 7) -> "Story":
        has_faults = key.condition not in ("clean", "no-proxy")
        scenario: dict[str, JsonValue] | None = {"name": key.condition} if has_faults else None
        return self.add(
            TrialBegan(
                benchmark=key.benchmark,
                agent=key.agent,
                condition=key.condition,
                task=key.task,
                repeat=key.repeat,
                seed=seed,
                scenario=scenario,
                versions={"warex": "0.1.0"},
            )
        )

    def asks(
        self,
        exchange: str,
        url: str = SHOP,
        method: str = "GET",
        resource: str = "document",
        repeat_of: str | None = None,
        **headers: str,
    ) -> "Story":
        """Add a request; underscores in the names of ``headers`` become hyphens."""
        return self.add(
            RequestSeen(
                exchange=exchange,
                method=method,
                url=url,
                resource=resource,
                top_level=resource == "document",
                http_version="HTTP/1.1",
                connection="c1",
                headers=[(name.replace("_", "-"), value) for name, value in headers.items()],
                size=0,
                repeat_of=repeat_of,
            )
        )

    def writes(self, exchange: str, body: int, repeat_of: str | None = None) -> "Story":
        """Add a request that sends an order to the shop; ``body``: the number of its body."""
        self.asks(exchange, f"{SHOP}order", "POST", "xhr", repeat_of)
        t, request = self.events[-1]
        self.events[-1] = (t, msgspec.structs.replace(request, **{"body": body}))
        return self

    def gets(
        self, exchange: str, status: int | None = 200, resource: str = "document", by: str = "site"
    ) -> "Story":
        return self.add(
            msgspec.convert(
                {
                    "exchange": exchange,
                    "status": status,
                    "resource": resource,
                    "by": by,
                    "size": 100,
                    "timings": Timings(total=0.1),
                    "error": None if status else "connection cut",
                },
                ResponseSeen,
            )
        )

    def page(self, exchange: str, url: str = SHOP) -> "Story":
        return self.asks(exchange, url).gets(exchange)

    def planned(
        self,
        injection: str,
        exchange: str,
        url: str = SHOP,
        effects: Sequence[str] = ("reply",),
        repeat_of: str | None = None,
        point: Literal["name", "connect", "tls"] | None = None,
        kind: str = "http_error",
    ) -> "Story":
        return self.add(
            FaultPlanned(
                injection=injection,
                exchange=exchange,
                rule="shop-down",
                fault={"kind": kind},
                category=CATEGORIES[kind],
                stage="request",
                scope="",
                ordinal=1,
                effects=tuple(effects),
                url=url,
                repeat_of=repeat_of,
                point=point,
            )
        )

    def fails_to_reach(
        self,
        number: int,
        url: str = f"{SHOP[:-1]}:443/",
        repeat_of: str | None = None,
        effects: Sequence[str] = ("refuse",),
    ) -> "Story":
        """Add a failed connection try, by default a refused one: ``aN``, ``iN``."""
        exchange, injection = f"a{number}", f"i{number}"
        return self.planned(injection, exchange, url, effects, repeat_of, "connect").delivered(
            injection, exchange
        )

    def delivered(self, injection: str, exchange: str, client_left: bool = False) -> "Story":
        return self.add(
            FaultDelivered(
                injection=injection,
                exchange=exchange,
                rule="shop-down",
                waited_s=0.5,
                client_left=client_left,
            )
        )

    def lied(
        self,
        number: int,
        before: str,
        after: str | None,
        url: str = f"{SHOP}api/items",
        effect: str = "rewrite",
    ) -> "Story":
        """Add a page's own request whose answer has a changed value."""
        exchange, injection = f"x{number}", f"i{number}"
        return (
            self.asks(exchange, url, resource="xhr", referer=SHOP)
            .planned(injection, exchange, url, (effect,))
            .gets(exchange, 200, "xhr")
            .add(
                FaultDelivered(
                    injection=injection,
                    exchange=exchange,
                    rule="shop-down",
                    changes=[ChangedValue(where="/price", before=before, after=after)],
                )
            )
        )

    def popup(self, number: int, *reports: str) -> "Story":
        """Add a page that opens a popup (``xN``, ``iN``), and its reports."""
        exchange, injection = f"x{number}", f"i{number}"
        story = self.asks(exchange).planned(injection, exchange, effects=("rewrite",), kind="popup")
        return (
            story.gets(exchange).delivered(injection, exchange).reports(number, "shown", *reports)
        )

    def met(self, number: int, kind: str, *changes: tuple[str, str, str]) -> "Story":
        """Add a page that a fault of the browser hits (``xN``, ``iN``), with what it reports."""
        exchange, injection = f"x{number}", f"i{number}"
        story = self.asks(exchange).planned(injection, exchange, effects=("rewrite",), kind=kind)
        listed = [
            ChangedValue(where=where, before=before, after=after, reported_by="page")
            for where, before, after in changes
        ]
        done = FaultDelivered(
            injection=injection, exchange=exchange, rule="shop-down", changes=listed
        )
        return story.gets(exchange).reports(number, "shown").add(done)

    def reports(
        self, number: int, *reports: str, detail: str = "", by: Literal["", "user", "script"] = ""
    ) -> "Story":
        """Add reports of a changed page."""
        for what in reports:
            self.add(
                Witness(
                    exchange=f"x{number}", injection=f"i{number}", what=what, detail=detail, by=by
                )
            )
        return self

    def says(self, step: int, words: str, action: str = "noop", *arguments: str) -> "Story":
        """Add a model call whose answer has words before its action."""
        self.thinks(step, action, arguments=arguments)
        t, call = self.events[-2]
        self.events[-2] = (t, msgspec.structs.replace(call, **{"answer": f"{words} {action}()"}))
        return self

    def missed(self, reason: MissReason, injection: str | None = None, count: int = 1) -> "Story":
        return self.add(
            FaultMissed(rule="shop-down", reason=reason, injection=injection, count=count)
        )

    def fault(
        self, number: int, url: str = SHOP, status: int | None = 500, resource: str = "document"
    ) -> "Story":
        """Add a request that is hit by a fault: exchange ``xN``, injection ``iN``."""
        exchange, injection = f"x{number}", f"i{number}"
        effects = ("reply",) if status else ("cut",)
        return (
            self.asks(exchange, url, resource=resource, referer=SHOP)
            .planned(injection, exchange, url, effects)
            .gets(exchange, status, resource, "warex" if status else "none")
            .delivered(injection, exchange)
        )

    def thinks(
        self,
        step: int,
        action: str | None,
        tokens: tuple[int, int] | None = (1000, 10),
        model: str = "scripted:patient",
        cached: int = 0,
        put: int = 0,
        arguments: Sequence[str] = (),
        original: float | None = None,
        messages: JsonValue = None,
        stream: bool = False,
        answer: str = "",
    ) -> "Story":
        """Add a model call of half a second, and its action.

        ``original``: the answer is replayed, and its first call took that many seconds.
        """
        exchange = f"m{step}"
        self.add(
            LlmCall(
                exchange=exchange,
                family="openai_chat",
                url="https://llm.example/v1/chat/completions",
                model=model,
                step=step,
                began=self.t + 0.4,
                messages=messages or [],
                stream=stream,
                status=200,
                answer=answer or f"{action}()",
                input_tokens=tokens[0] if tokens else None,
                output_tokens=tokens[1] if tokens else None,
                cached_tokens=cached,
                cache_write_tokens=put,
                usage="reported" if tokens else "none",
                latency_s=0.5,
                first_token_s=0.4,
                complete=True,
                replayed=original is not None,
                original_latency_s=original,
            )
        )
        if action is not None:
            self.add(
                msgspec.convert(
                    {
                        "exchange": exchange,
                        "step": step,
                        "name": action,
                        "arguments": list(arguments),
                        "role": _ROLES.get(action, "other"),
                    },
                    AgentAction,
                )
            )
        return self

    def stops(self) -> "Story":
        return self.add(Disarmed(by="terminal_action"))

    def write(self, path: Path) -> Path:
        with TraceWriter(path, Clock(monotonic=lambda: 0.0, wall=lambda: 1_700_000_000.0)) as trace:
            for t, event in self.events:
                trace.write(event, t)
        return path


@dataclass
class RunFolder:
    """A run folder under construction."""

    path: Path
    benchmark: str = "testbed"
    agent: str = "patient"

    def manifest(self, **campaign: JsonValue) -> "RunFolder":
        self.path.mkdir(parents=True, exist_ok=True)
        write_manifest(
            self.path / MANIFEST,
            Manifest(
                campaign={"name": "demo", **campaign},
                vocabularies={self.benchmark: WORDS.model_dump(mode="json")},
                versions={"warex": "0.1.0", "python": "3.13.0"},
                seed=7,
                prices_date="2025-08-31",
                made_at="2025-09-01T00:00:00+00:00",
                command=["warex", "demo", "--out", "runs/<demo>"],
            ),
        )
        return self

    def trial(
        self,
        condition: str,
        task: str,
        outcome: Outcome | None,
        story: Story | None = None,
        attempt: int = 1,
        agent: str | None = None,
        repeat: int = 1,
        seed: int = 7,
    ) -> Path:
        """Write an attempt; ``story``: its events after ``trial_began``."""
        key = TrialKey(self.benchmark, agent or self.agent, condition, task, repeat)
        folder = attempt_dir(self.path, key, attempt)
        folder.mkdir(parents=True)
        if story is not None:
            full = Story(t=-1.0).began(key, seed)
            full.events += story.events
            full.write(folder / EVENTS)
        if outcome is not None:
            write_outcome(folder, outcome)
        return folder
