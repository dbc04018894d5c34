"""The record of an exchange's end."""

from typing import Literal
from urllib.parse import SplitResult, urlsplit

from warex.engine.handler import Outcome, Relay
from warex.lane.outcome import timings_of
from warex.lane.record.recorder import Recorder
from warex.lane.state import ExchangeState
from warex.lane.traffic.base import Ending
from warex.traces import ResponseSeen


def ending_of(state: ExchangeState, outcome: Outcome, error: str | None) -> Ending:
    """Return how an exchange has ended, for what it carried."""
    draft = state.draft
    body = b""
    if not state.relays and draft.response is not None:
        body = draft.response.body
        if draft.pieces is not None:  # The client has no more than was sent.
            body = b"".join(draft.pieces)[: outcome.response_bytes]
    return Ending(
        head=None if draft.abort is not None else state.answer,
        body=body,
        error=error,
        began=(state.from_cache or isinstance(state.plan, Relay)) and outcome.head_sent,
        client_left=outcome.end == "client_left",
        by_warex=state.by_warex,
        in_part=draft.pieces is not None,
    )


def ended_response(
    state: ExchangeState, outcome: Outcome, ending: Ending, recorder: Recorder
) -> ResponseSeen:
    """Return the event of an exchange's end."""
    # A response that breaks off counts: the client has its head.
    answered = ending.error is None or ending.began
    head = ending.head if answered else None
    headers, headers_left_out = ([], 0) if head is None else recorder.heads.fields(head)
    return ResponseSeen(
        exchange=state.id,
        status=None if head is None else head.status,
        resource=state.resource,
        by=_answered_by(state, by_site=head is not None),
        http_version=None if head is None else head.version,
        headers=headers,
        headers_left_out=headers_left_out,
        size=_size(state, outcome),
        body_blob="" if head is None else _store_body(state, outcome, ending, recorder),
        timings=timings_of(outcome.timings),
        error=ending.error,
    )


def _store_body(state: ExchangeState, outcome: Outcome, ending: Ending, recorder: Recorder) -> str:
    """Keep what the client was sent of the body; return its reference."""
    bodies, head = recorder.bodies, ending.head
    if bodies is None or head is None or state.traffic.exchange.server != "site":
        return ""
    body = ending.body if state.body_copy is None else state.body_copy.body
    headers = head.headers
    return bodies.keep(
        body[: outcome.response_bytes],
        headers.get("content-type"),
        headers.get("content-encoding"),
    )


def _answered_by(
    state: ExchangeState, *, by_site: bool
) -> Literal["site", "warex", "cache", "none"]:
    """Return who answered; ``by_site``: the response is the site's unless WAREX made it."""
    if state.by_warex:
        return "warex"
    if state.from_cache:
        return "cache"
    return "site" if by_site else "none"


def _size(state: ExchangeState, outcome: Outcome) -> int:
    """Return the bytes of the response's body, as the site or WAREX has made it."""
    draft = state.draft
    if state.by_warex and draft.response is not None:
        return len(draft.response.body)
    return outcome.response_bytes if state.response_size is None else state.response_size


def unreachable_message(site: SplitResult, upstream: str | None, reason: str) -> str:
    """Return a message that a site cannot be reached, with the remedy if there is one."""
    through = remedy = ""
    if upstream is not None:
        through = f" (the upstream proxy is {urlsplit(upstream).netloc.rpartition('@')[2]})"
    if "certificate" in reason.lower():
        remedy = "; --insecure accepts such a certificate"
    return f"{site.scheme}://{site.netloc} cannot be reached{through}: {reason}{remedy}"
