"""Answers for the sites that belong to faults, and records each visit."""

from collections.abc import Callable

import msgspec

from warex.exchange import UNKNOWN_LOOK, Exchange, Request, SiteLook
from warex.lane.hosts.own_hosts import fault_sites
from warex.lane.record.recorder import Recorder
from warex.lane.whole_response import WholeResponse
from warex.scenarios import PlannedInjection
from warex.traces import Witness

type Redeem = Callable[[str], Witness | None]


class FaultSites:
    """Answers for the faults' own sites in one trial."""

    def __init__(self, recorder: Recorder, look_of: Callable[[Request], SiteLook]) -> None:
        self._recorder = recorder
        self._look_of = look_of
        self._latest: dict[str, tuple[Exchange, str]] = {}
        """By the kind of fault: the exchange and the injection that last led to its site."""
        self._looks: dict[str, SiteLook] = {}
        """By the kind of fault: the look of the site whose page last led to its site."""

    def note(self, exchange: Exchange, injection: PlannedInjection) -> None:
        """Note an injection, to which the next visits to its fault's site belong."""
        self._latest[injection.fault.kind] = exchange, injection.id

    def respond(self, request: Request, content: bytes, redeem: Redeem) -> WholeResponse:
        """Answer a request to such a site, and record the visit.

        ``content``: its decoded body. ``redeem`` returns what a ticket of a changed page proves.
        """
        kind, site = fault_sites()[request.parts.hostname or ""]
        latest = self._latest.get(kind)
        before = request.headers.get("referer", "")
        if (led := self._look_of(Request("GET", before))) != UNKNOWN_LOOK:
            self._looks[kind] = led
        elif kind not in self._looks and latest is not None:
            self._looks[kind] = self._look_of(latest[0].request)
        look = self._looks.get(kind, UNKNOWN_LOOK)
        visit = site.visit(request, content.decode("utf-8", "replace"), look)
        for seen in visit.actions:
            if seen.ticket is not None:
                proof = redeem(seen.ticket)
                if proof is not None and proof.what == seen.what:
                    self._recorder.write(msgspec.structs.replace(proof, detail=seen.detail))
            elif latest is not None:
                exchange, injection = latest
                self._recorder.write(
                    Witness(
                        exchange=exchange.id,
                        injection=injection,
                        what=seen.what,
                        detail=seen.detail,
                        by=seen.by,
                    )
                )
        reply = visit.reply
        return WholeResponse.make(reply.status, reply.headers, reply.body, to=request.method)
