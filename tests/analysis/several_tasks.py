"""A trace of a command that ran several tasks."""

from warex.traces.events import (
    Entry,
    Event,
    FaultDelivered,
    FaultPlanned,
    LlmCall,
    RequestSeen,
    TaskBegan,
    TaskEnded,
)


def asked(exchange: str, task: str = "") -> RequestSeen:
    return RequestSeen(
        exchange=exchange,
        method="GET",
        url="https://shop.test/",
        resource="document",
        http_version="HTTP/1.1",
        connection="c1",
        size=0,
        task=task,
    )


def called(exchange: str, step: int) -> LlmCall:
    return LlmCall(
        exchange=exchange,
        family="openai-chat",
        url="https://llm.test/v1/chat/completions",
        model="gpt-4o",
        step=step,
        began=0,
        messages=[],
        stream=False,
        status=200,
        answer="",
        input_tokens=10,
        output_tokens=1,
        usage="reported",
        latency_s=1,
        first_token_s=1,
        complete=True,
    )


def hit(injection: str, exchange: str, **point: object) -> tuple[Event, ...]:
    plan = FaultPlanned(
        injection=injection,
        exchange=exchange,
        rule="r",
        fault={"kind": "http_error"},
        stage="request",
        scope="",
        ordinal=1,
        effects=(),
        url="https://shop.test/",
        point="connect" if point else None,
    )
    return plan, FaultDelivered(injection=injection, exchange=exchange, rule="r")


def trace(*events: Event) -> tuple[Entry, ...]:
    return tuple(Entry(n, float(n), "2026-01-01T00:00:00Z", it) for n, it in enumerate(events, 1))


TRACE = trace(
    asked("x1"),
    TaskBegan(task="one", seed=1, told_by="marker"),
    asked("x2", "one"),
    *hit("i1", "x2"),
    asked("x3", "one"),
    called("x3", 1),
    *hit("i2", "a1", point="connect"),
    TaskBegan(task="own", seed=2, told_by="header", beside=True),
    asked("x4", "own"),
    called("x4", 1),
    TaskBegan(task="one", seed=1, told_by="marker"),
    asked("x5", "one"),
    called("x5/1", 1),
    called("x5/2", 2),
    TaskEnded(task="one"),
    asked("x6"),
)
