"""Applies effects to a live flow, and tracks their outcome."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, assert_never

from mitmproxy import http

from warex.clock import Clock
from warex.effects import (
    BadCertificate,
    Cut,
    Delay,
    DnsError,
    DropPackets,
    DuplicateRequest,
    EditToolResponse,
    OtherPage,
    PushToolEvent,
    RefuseConnection,
    ReplayFirst,
    Reply,
    Rewrite,
    Trickle,
    Truncate,
)
from warex.lane.response_faults.page_change import MAX_CHANGES, PageChange
from warex.lane.traffic.mcp_tap import Amendment
from warex.proxy.exchange.client_status import ClientStatus
from warex.proxy.exchange.duplicate_request import send_duplicate
from warex.proxy.exchange.flows import content_of
from warex.proxy.exchange.paced_response import trickle, truncate
from warex.proxy.net.client_socket import is_connected, reset
from warex.scenarios import PlannedInjection
from warex.traces import ChangedValue, MissReason

GAVE_UP_AFTER: Final = 1.0
"""Seconds of a hold after which the fault counts as delivered to a client that leaves."""


@dataclass(slots=True)
class AppliedInjection:
    """The state of an injection that is being applied."""

    injection: PlannedInjection
    waited_s: float = 0.0
    """Seconds of the finished holds."""
    held_since: float | None = None
    """Second of the trial at which the current hold began."""
    client_left: bool = False
    left_while_held: bool = False
    """Whether the client left during a hold, before anything was sent to it."""
    replied: bool = False
    """Whether a reply is set, which counts as delivered once it is sent."""
    cut: bool = False
    page: PageChange | None = None
    """What it changes in a page."""
    amendment: Amendment | None = None
    """What it changes in the answers of an MCP server."""
    site_change: ChangedValue | None = None
    """The change that depends on the site: another page, an earlier response, a second request."""
    done: bool = False
    """Whether all effects are applied, and nothing on the wire is awaited."""

    def waited(self, now: float) -> float:
        """Return the seconds of all holds, including the current one."""
        return self.finished_wait_s + (0.0 if self.held_since is None else now - self.held_since)

    @property
    def finished_wait_s(self) -> float:
        """Seconds of the finished holds, on another exchange as well."""
        return self.waited_s + (0.0 if self.amendment is None else self.amendment.waited_s)

    @property
    def awaits_response(self) -> bool:
        """Whether the response to change has not arrived yet; it may never arrive."""
        if self.amendment is not None:
            return self.amendment.awaits_answer
        return any(isinstance(effect, EditToolResponse) for effect in self.injection.effects)

    @property
    def is_amended(self) -> bool:
        """Whether the answer of an MCP server is changed."""
        return self.amendment is not None and not self.amendment.awaits_answer

    @property
    def missed_reason(self) -> MissReason:
        """Why it is missed, unless the trial or another fault is the reason."""
        if self.client_left:
            return "client_gone" if self.left_while_held else "client_left"
        page = self.page
        if page is not None and page.is_bomb:
            return "decompression_bomb"
        if self.changed_nothing or (page is not None and page.found_nothing):
            return "nothing_to_rewrite"
        if page is not None and page.removed_by_page:
            return "removed_by_page"
        return "not_rendered" if page is not None and page.rewriter is not None else "client_left"

    @property
    def changed_nothing(self) -> bool:
        """Whether there was no response to change, or nothing in it."""
        applied = self.page is not None and self.page.applied
        forgotten = self.depends_on_site and self.site_change is None
        return self.awaits_response or forgotten or (self.rewrites and not applied)

    @property
    def depends_on_site(self) -> bool:
        """Whether it depends on a present or earlier response of the site."""
        return any(effect.traits.depends_on_site for effect in self.injection.effects)

    @property
    def changes(self) -> list[ChangedValue]:
        """The changed values, as the trace has them."""
        return self._all_changes[:MAX_CHANGES]

    @property
    def changes_left_out(self) -> int:
        """How many more there are."""
        by_page = 0 if self.page is None else self.page.left_out
        return by_page + max(0, len(self._all_changes) - MAX_CHANGES)

    @property
    def _all_changes(self) -> list[ChangedValue]:
        by_site = [] if self.site_change is None else [self.site_change]
        return [*by_site, *(() if self.page is None else self.page.changes)]

    @property
    def rewrites(self) -> bool:
        """Whether it changes the response while it is streamed."""
        return any(effect.traits.rewrites for effect in self.injection.effects)

    def outlives_exchange(self, *, arrived: bool) -> bool:
        """Whether it stays open after its exchange: for another exchange or a page's report."""
        elsewhere = self.amendment is not None and self.amendment.on_other_exchange
        awaits_report = self.page is not None and self.page.awaits_report
        return elsewhere or (arrived and awaits_report and not self.changed_nothing)

    @property
    def gave_up_waiting(self) -> bool:
        """Whether the client left after a hold of at least ``GAVE_UP_AFTER``."""
        return self.client_left and self.waited_s >= GAVE_UP_AFTER


async def apply_effects(
    applied: AppliedInjection, flow: http.HTTPFlow, client: ClientStatus, clock: Clock
) -> None:
    """Apply the injection's effects to the flow in order, until the client leaves."""
    for effect in applied.injection.effects:
        match effect:
            case Delay(seconds):
                applied.held_since = clock.now()
                applied.client_left = await _wait(seconds, client)
                applied.waited_s, applied.held_since = applied.waited(clock.now()), None
                if applied.client_left:
                    applied.left_while_held = True
                    return
            case Reply() | Cut() if client.left.is_set() or not is_connected(flow.client_conn):
                applied.client_left = True
                return
            case Reply(status, headers, body, echoes, cookies):
                body = _echo(flow.request, body) if echoes else body
                flow.response = make_response(flow.request, status, headers, body)
                for cookie in cookies:
                    flow.response.headers.add("set-cookie", cookie)
                applied.replied = True
            case Cut(how):
                if how == "reset":
                    reset(flow.client_conn)
                flow.kill()
                applied.cut = True
            case Trickle(pause):
                trickle(flow, pause)
                applied.replied = True
            case Truncate(share, how):
                truncate(flow, share, how)
                applied.replied = True
            case Rewrite() | OtherPage() | ReplayFirst() | PushToolEvent() | EditToolResponse():
                pass  # The addon applies them.
            case DuplicateRequest():
                twice = ChangedValue(where="request", before="once", after="twice")
                applied.site_change = twice if await send_duplicate(flow) else None
            case DnsError() | RefuseConnection() | DropPackets() | BadCertificate():
                raise TypeError(f"{effect} comes before there is an exchange")
            case _:
                assert_never(effect)
    applied.done = not (
        applied.replied or applied.awaits_response or applied.rewrites or applied.depends_on_site
    )


async def wait_before_piece(
    applied: Iterable[AppliedInjection], seconds: float, client: ClientStatus, clock: Clock
) -> None:
    """Wait before a piece of a response to which faults are applied, until the client leaves."""
    if not seconds:
        return
    began = clock.now()
    left = await _wait(seconds, client)
    for each in applied:
        each.waited_s += clock.now() - began
        each.client_left = each.left_while_held = left


def make_response(
    request: http.Request, status: int, headers: Mapping[str, str], body: bytes = b""
) -> http.Response:
    """Make a response to a request."""
    answer = http.Response.make(status, body, dict(headers))
    if request.method == "HEAD":
        # A body would be taken for the next response (RFC 9110 §9.3.2).
        answer.data.content = b""
    return answer


def _echo(request: http.Request, body: bytes) -> bytes:
    """Return the request's JSON object with the members of ``body`` added."""
    try:
        sent = json.loads(content_of(request))
    except (ValueError, RecursionError):
        return body  # The content is not JSON, or its coding is invalid.
    if not isinstance(sent, dict):
        return body
    return json.dumps({**sent, **json.loads(body)}).encode()


async def _wait(seconds: float, client: ClientStatus) -> bool:
    """Wait until the time is over or the client leaves; return whether it left."""
    try:
        async with asyncio.timeout(seconds):
            await client.left.wait()
    except TimeoutError:
        return False
    return True
