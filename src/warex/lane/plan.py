"""Makes plans of injections; only this module interprets effects.

The injections of a stage are applied in order to a ``Draft``, which then becomes a plan. A later
injection works on the result of the earlier ones: it can rewrite a page with which a fault answers.
"""

import json
from collections.abc import Callable
from typing import assert_never

from msgspec.structs import replace

from warex.effects import (
    AddStrayLine,
    BadCertificate,
    BreakEvent,
    ChangeMessages,
    Cut,
    CutStream,
    Delay,
    DnsError,
    DropPackets,
    DuplicateRequest,
    EditToolResponse,
    Effect,
    EndStreamInError,
    LosePackets,
    Malform,
    OtherPage,
    PushToolEvent,
    RefuseConnection,
    RefuseHttp2,
    ReorderPackets,
    ReplayFirst,
    Reply,
    Rewrite,
    Stall,
    StallStream,
    Throttle,
    Trickle,
    Truncate,
)
from warex.engine.handler import Abort, Forward, Plan, Relay, Respond, Site
from warex.engine.http.byte_rate import ByteRate
from warex.engine.http.encoding import decode
from warex.lane.response_faults.page_change import PageChange
from warex.lane.response_faults.previous_responses import PreviousResponses
from warex.lane.response_faults.rewritten_pages import RewrittenPages, unconditional
from warex.lane.sending.body_pace import first_part, pace_of
from warex.lane.sending.malformed_responses import add_stray_line, malform
from warex.lane.state import AppliedInjection, Draft, ExchangeState, MessageLimit, PlannedStop
from warex.lane.stream_edits import edit_stream
from warex.lane.whole_response import WholeResponse
from warex.llm.body.framing import stream_chunks

type Settle = Callable[[ExchangeState, AppliedInjection, bool], None]


class EffectApplier:
    """Applies injections to the drafts of a trial's exchanges."""

    def __init__(
        self, previous: PreviousResponses, rewrites: RewrittenPages, settle: Settle
    ) -> None:
        """``settle`` is called when the outcome is known after the exchange's own end."""
        self._previous = previous
        self._rewrites = rewrites
        self._settle = settle
        self._limits: dict[str, ByteRate] = {}
        """Rate limits for all exchanges of a rule, by rule and direction."""

    def apply(self, state: ExchangeState, applied: AppliedInjection) -> None:
        """Apply an injection's effects in order, after those of earlier ones."""
        draft = state.draft
        for effect in applied.injection.effects:
            self._apply(state, draft, applied, effect)
        if draft.response is not None:
            self._change_page(state, draft, applied)
        applied.amendment = state.traffic.apply(
            applied.injection, lambda arrived: self._settle(state, applied, arrived)
        )
        if applied.is_answer:
            # The trace has the response that the client receives, and its times.
            state.traffic.reset()
        state.by_warex = state.by_warex or applied.is_answer or applied.is_cut

    def _apply(
        self, state: ExchangeState, draft: Draft, applied: AppliedInjection, effect: Effect
    ) -> None:
        match effect:
            case Delay(seconds):
                draft.holds.append((applied, seconds))
            case Reply():
                draft.response = _reply(state, effect)
                draft.pieces, applied.is_answer = None, True
            case Cut(how, head_bytes):
                draft.abort = Abort(how, head_bytes)
            case Trickle(pieces=0, piece_bytes=0):
                _divide(draft)
                draft.trickle, applied.is_answer = effect, True
            case Trickle():
                draft.trickle = effect
            case Stall():
                draft.stops.append(PlannedStop(applied, effect))
            case Truncate():
                self._truncate(draft, applied, effect)
            case Malform():
                malform(state.wire.request, draft, applied, effect)
            case AddStrayLine():
                add_stray_line(state.wire.request, draft, applied)
            case StallStream() | CutStream() | BreakEvent() | EndStreamInError():
                edit_stream(state, draft, applied, effect)
            case Throttle():
                self._throttle(state, draft, applied, effect)
            case OtherPage(draw):
                self._request_other_page(state, draft, applied, draw)
            case ReplayFirst():
                self._replay_first(state, draft, applied)
            case DuplicateRequest():
                draft.copies.append(applied)
            case Rewrite() | ChangeMessages() | EditToolResponse() | PushToolEvent():
                pass  # Once the response is known; by the kind of traffic.
            case DnsError() | RefuseConnection() | DropPackets() | LosePackets():
                raise TypeError(f"{effect} comes before there is an exchange")
            case ReorderPackets() | BadCertificate() | RefuseHttp2():
                raise TypeError(f"{effect} comes before there is an exchange")
            case _:
                assert_never(effect)

    def _truncate(self, draft: Draft, applied: AppliedInjection, effect: Truncate) -> None:
        applied.is_answer = effect.how == "clean" or effect.unit == "piece_share"
        if effect.unit == "piece_share":
            _keep_pieces(draft, effect.at)
        if effect.how != "clean":
            draft.stops.append(PlannedStop(applied, effect))
        elif effect.unit == "piece_share":
            _correct_length(draft)
        else:
            _keep_bytes(draft, applied, effect)

    def _throttle(
        self, state: ExchangeState, draft: Draft, applied: AppliedInjection, effect: Throttle
    ) -> None:
        limits = self._limits if effect.scope == "all" else state.connection.limits
        rule = applied.injection.rule
        if effect.down is not None:
            draft.limits.append(_limit(limits, f"{rule} down", effect.down, effect.burst))
            draft.message_limits.append(MessageLimit(applied, draft.limits[-1], from_client=False))
        size = state.wire.request_bytes
        if effect.up is not None:
            limit = _limit(limits, f"{rule} up", effect.up, effect.burst)
            draft.message_limits.append(MessageLimit(applied, limit, from_client=True))
            if size and (wait := limit.reserve(size, state.began, state.began)) > 0:
                draft.holds.append((applied, wait))

    def page_change(self, state: ExchangeState, applied: AppliedInjection) -> PageChange:
        """Return how an injection changes the page of an exchange."""
        applied.page = PageChange(
            applied.injection,
            state.exchange,
            lambda seen: self._settle(state, applied, seen),
        )
        return applied.page

    def _change_page(self, state: ExchangeState, draft: Draft, applied: AppliedInjection) -> None:
        if not (applied.rewrites or any(map(_is_wall, applied.injection.effects))):
            return
        change = self.page_change(state, applied)
        self._rewrites.note_wall(change)
        response = draft.response
        if response is None or not applied.rewrites:
            return
        if draft.pieces is not None:  # Only the part that is left is changed.
            response = replace(response, body=b"".join(draft.pieces))
        draft.response = self._rewrites.rewrite_complete(change, state.wire.request, response)
        if draft.pieces is not None:
            draft.pieces = None
            _divide(draft)

    def _request_other_page(
        self, state: ExchangeState, draft: Draft, applied: AppliedInjection, draw: float
    ) -> None:
        request = state.request
        change = self._previous.other_page(state.task_key, request, draft.head.path, draw)
        if change is None or change.after is None:
            return
        applied.site_change = change
        headers = unconditional(draft.head.headers)
        draft.head = replace(draft.head, path=change.after, headers=headers, raw=b"")

    def _replay_first(self, state: ExchangeState, draft: Draft, applied: AppliedInjection) -> None:
        earlier = self._previous.first_response(state.task_key, state.request)
        if earlier is not None:
            draft.response, applied.site_change = earlier
            applied.is_answer = True


def _is_wall(effect: Effect) -> bool:
    return isinstance(effect, Reply) and effect.wall_exit is not None


def request_plan(draft: Draft, site: Site | None, asked: object) -> Plan[Forward | Respond | Abort]:
    """Return the plan of a draft at the request; ``asked``: the head that the client sent."""
    holds = hold_seconds(draft) if draft.holds else ()
    if draft.abort is not None:
        return Plan(draft.abort, holds)
    if draft.response is not None:
        return Plan(_respond(draft), holds)
    head = None if draft.head is asked else draft.head
    return Plan(Forward(head, draft.body, site, len(draft.copies)), holds)


def response_plan(draft: Draft, site: WholeResponse) -> Plan[Relay | Respond | Abort]:
    """Return the plan of a draft for a complete response; ``site``: as the site sent it."""
    holds = hold_seconds(draft)
    if draft.abort is not None:
        return Plan(draft.abort, holds)
    is_as_sent = draft.response is site and draft.pieces is None and draft.defect is None
    if draft.response is None or is_as_sent:
        return Plan(Relay(pace=pace_of(draft, len(site.body))), holds)
    return Plan(_respond(draft), holds)


def hold_seconds(draft: Draft) -> tuple[float, ...]:
    """Return the seconds of each hold of a draft."""
    return tuple([seconds for _, seconds in draft.holds])


def _respond(draft: Draft) -> Respond:
    if draft.trickle is not None and not (draft.trickle.pieces or draft.trickle.piece_bytes):
        _divide(draft)  # It is another response than at first.
    response = draft.response
    assert response is not None
    pieces = draft.pieces
    if pieces is None:
        pieces = [response.body] if response.body else []
    return Respond(
        response.head.status,
        response.head.headers,
        tuple(pieces),
        pace_of(draft, sum(map(len, pieces))),
        # A model's answer is read as it is sent, and may be sent in part.
        tap=draft.pieces is not None,
        defect=draft.defect,
    )


def _reply(state: ExchangeState, reply: Reply) -> WholeResponse:
    body = reply.body
    if reply.echo_json:
        request = state.wire.request
        sent = decode(state.wire.request_body or b"", request.headers.get("content-encoding"))
        body = echo(sent.body, body)
    return WholeResponse.make(
        reply.status, reply.headers, body, cookies=reply.cookies, to=state.wire.request.method
    )


def echo(sent: bytes, members: bytes) -> bytes:
    """Return a request's JSON object with the members of another added."""
    try:
        content = json.loads(sent)
    except (ValueError, RecursionError):
        return members  # The content is not JSON, or its coding is invalid.
    if not isinstance(content, dict):
        return members
    return json.dumps({**content, **json.loads(members)}).encode()


def _divide(draft: Draft) -> None:
    """Have the response sent in pieces; it is decompressed first, if possible."""
    if draft.pieces is not None or draft.response is None:
        return
    draft.response = draft.response.decoded()
    kind = draft.response.head.headers.get("content-type")
    draft.pieces = stream_chunks(draft.response.body, kind) or [b""]


def _limit(limits: dict[str, ByteRate], name: str, rate: float, burst: int) -> ByteRate:
    """Return a limit, which is made at its first exchange."""
    limit = limits.get(name)
    if limit is None:
        limit = limits[name] = ByteRate(rate, burst)
    return limit


def _keep_bytes(draft: Draft, applied: AppliedInjection, effect: Truncate) -> None:
    """Have the response end in good order after its first part, if it is longer than that."""
    if draft.response is None:
        return
    response = draft.response.decoded()
    length = len(response.body)
    length_kept = int(effect.at) if effect.unit == "bytes" else first_part(effect.at, length)
    if length_kept is None or length_kept >= length:
        applied.is_unmet = True
        return
    draft.response, draft.pieces = response.with_body(response.body[:length_kept]), None


def _keep_pieces(draft: Draft, share: float) -> None:
    """Keep only the first part of the response: at least one piece, and not the last."""
    _divide(draft)
    if draft.pieces is None:
        return
    count = max(1, min(int(share * len(draft.pieces)), len(draft.pieces) - 1))
    draft.pieces = draft.pieces[:count]


def _correct_length(draft: Draft) -> None:
    """Have the head tell the length of what is left of the body."""
    response = draft.response
    if response is not None and "content-length" in response.head.headers.by_name:
        length = str(sum(map(len, draft.pieces or ())))
        draft.response = response.with_headers(
            response.head.headers.with_field("content-length", length)
        )
