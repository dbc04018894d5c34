"""The responses that faults rewrite; a page reports when its change is shown."""

import json
import secrets
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from importlib import import_module
from typing import Final

from msgspec import Struct, structs
from msgspec.structs import replace
from pydantic import JsonValue

from warex.effects import Reply, Rewrite, WallExit
from warex.engine.http.encoding import StreamDecoder
from warex.engine.http.heads import Headers, RequestHead, ResponseHead
from warex.exchange import Exchange, Request, Resource
from warex.lane.record.recorder import Recorder
from warex.lane.response_faults.identifiers import UsedIdentifiers
from warex.lane.response_faults.page_change import MAX_CHANGES, PageChange, reported_value
from warex.lane.response_faults.page_reports import (
    CHANGED,
    DATA,
    NOTHING,
    QUERIES,
    REMOVED,
    SHOWN,
    TEXTS,
    PageReport,
    ReportChannel,
    read_changes,
    read_query,
)
from warex.lane.response_faults.stream_rewriter import (
    BodyReader,
    DecompressionBomb,
    StreamedRewriter,
    start_rewriter,
)
from warex.lane.response_faults.wall_exits import answer_at, paths_of
from warex.lane.whole_response import WholeResponse
from warex.rewriting.base import Edit
from warex.rewriting.html_body.script_injection import InjectedScript
from warex.rewriting.json_body.edit import JsonEdit
from warex.scenarios import PlannedInjection, Rule
from warex.traces import ChangedValue, Witness

_VISITED: Final = "visited"
"""Recorded when a client opens a link that only a changed page has."""
_FORGED: Final = "forged"
"""Recorded once for each page in whose place somebody else reports, or repeats its report."""
_PAGE: Final = (
    b"<!doctype html><html lang=en><title>Thank you</title><h1>Thank you</h1>"
    b"<p>This step is done. You can go back now.</p></html>"
)
"""The page behind such a link."""
_KEY_BYTES: Final = 16
_MOST_DATA: Final = 100
"""Answers with changed data of one rule and site that are remembered."""

_CONDITIONS: Final = ("if-none-match", "if-modified-since", "if-range", "range")
"""Headers for which a site may send a part or no body (RFC 9110 §13, §14)."""

type RewriteCallback = Callable[[Exchange, PlannedInjection], None]


def rewrites(injection: PlannedInjection) -> bool:
    """Whether an injection only changes the response while it is streamed."""
    return all(effect.traits.rewrites for effect in injection.effects)


def unconditional(headers: Headers) -> Headers:
    """Return a request's headers for a complete response; the same if they ask for one."""
    known = headers.by_name
    return headers.without(*_CONDITIONS) if any(it in known for it in _CONDITIONS) else headers


def _site_of(change: PageChange) -> tuple[str, str]:
    """Return the rule of a change, and the site that it is about."""
    return change.injection.rule, change.exchange.request.parts.netloc


def _without_cookies(headers: Headers, names: Collection[str]) -> Headers:
    """Return a request's headers without cookies of these names (RFC 6265 §5.4)."""
    # HTTP/2 may divide the field (RFC 9113 §8.2.3).
    cookies = ";".join(headers.get_all("cookie")).split(";")
    remaining = [it.strip() for it in cookies if it.partition("=")[0].strip() not in names]
    left = "; ".join(it for it in remaining if it)
    return headers.with_field("cookie", left) if left else headers.without("cookie")


class _Page(Struct, frozen=True):
    """A changed page that reports."""

    change: PageChange
    edit: Edit
    channel: ReportChannel


class RewrittenPages:
    """The changed pages of a trial, and their reports."""

    def __init__(
        self, rules: Iterable[Rule], recorder: Recorder, on_rewrite: RewriteCallback
    ) -> None:
        if any(rule.fault.changes_page for rule in rules):
            # Import it now, so that the first page does not wait.
            import_module("warex.rewriting.html_body.head_inserter")
        self._mentioned = UsedIdentifiers(rules)
        self.reads_code = self._mentioned.wanted
        """Whether a rule's fault needs the scripts and styles of the sites."""
        self._recorder = recorder
        self._on_rewrite = on_rewrite
        self._pages: dict[str, _Page] = {}
        """By the path of each page's reports."""
        self._hanging: dict[str, PlannedInjection] = {}
        """The injection of the page that asks there, and is never answered, by path."""
        self._links: dict[str, PageChange] = {}
        """By the path of each link that only a changed page has."""
        self._data: dict[tuple[str, str], deque[StreamedRewriter]] = {}
        """The latest changes of data, by rule and site."""
        self._walls: dict[str, tuple[PageChange, WallExit]] = {}
        """The walls of the trial, by each path of an exit."""

    def note_request(self, url: str) -> None:
        """Note a request to a site."""
        self._mentioned.note_request(url)

    def prepare_request(
        self, head: RequestHead, injections: Iterable[PlannedInjection] = ()
    ) -> RequestHead:
        """Request a response that may be changed as complete and in a readable coding.

        The cookies that ``injections`` drop are left out. Returns the same head if there is nothing
        to change.
        """
        headers = unconditional(head.headers)
        effects = (it for injection in injections for it in injection.effects)
        dropped = {name for it in effects if isinstance(it, Rewrite) for name in it.drops}
        if dropped:
            headers = _without_cookies(headers, dropped)
        if "accept-encoding" in headers.by_name:
            offered = headers.get("accept-encoding").split(",")
            read = [it.strip() for it in offered if StreamDecoder.reads(it.partition(";")[0])]
            if len(read) < len(offered):
                headers = headers.with_field("accept-encoding", ", ".join(read) or "identity")
        return head if headers is head.headers else structs.replace(head, headers=headers, raw=b"")

    def code_reader(
        self, url: str, resource: Resource, head: ResponseHead, *, streamed: bool
    ) -> BodyReader | None:
        """Return a reader of a script or a style; None for other responses.

        ``streamed``: the response is sent while it is read.
        """
        return self._mentioned.reader(url, resource, head, streamed=streamed)

    def begin(
        self, change: PageChange, asked: RequestHead, head: ResponseHead, beginning: bytes
    ) -> ResponseHead:
        """Begin to change a response, by ``change.rewriter``; return its head.

        ``asked``: the head of its request. ``beginning``: what is known of the body.
        """
        for effect in change.injection.effects:
            if isinstance(effect, Rewrite):
                head = self._begin(change, effect, asked, head, beginning)
        return head

    def _begin(
        self,
        change: PageChange,
        effect: Rewrite,
        asked: RequestHead,
        head: ResponseHead,
        beginning: bytes,
    ) -> ResponseHead:
        # A page that guesses the seed could compute a key that followed from it.
        channel = ReportChannel(secrets.token_hex(_KEY_BYTES))
        edit = effect.edit
        if isinstance(edit, InjectedScript):
            edit = edit.with_key(channel.key)
        try:
            started = start_rewriter(asked, change.exchange.request, head, edit, beginning)
        except DecompressionBomb:
            change.met_bomb = True
            return head
        if started is None:
            return head
        change.rewriter, head = started
        self._on_rewrite(change.exchange, change.injection)
        if effect.beacon_path:
            self._links[effect.beacon_path] = change
        if isinstance(edit, JsonEdit):
            known = self._data.setdefault(_site_of(change), deque(maxlen=_MOST_DATA))
            known.append(change.rewriter)
        if edit.report:
            change.awaits_report = True
            self._pages[edit.report] = _Page(change, edit, channel)
        if isinstance(edit, InjectedScript) and edit.hanging:
            self._hanging[edit.hanging] = change.injection
        return head

    def rewrite_complete(
        self, change: PageChange, asked: RequestHead, response: WholeResponse
    ) -> WholeResponse:
        """Rewrite a complete response, to which another fault may have been applied."""
        head = self.begin(change, asked, response.head, response.body)
        if (rewriter := change.rewriter) is None:
            return response
        body = b"".join(rewriter.feed(response.body)) + rewriter.close()
        headers = head.headers.without("transfer-encoding")
        if asked.method != "HEAD":
            headers = headers.with_field("content-length", str(len(body)))
        return WholeResponse(structs.replace(head, headers=headers), body)

    def note_wall(self, change: PageChange) -> None:
        """Note an injection that answers with a wall, if it does."""
        for effect in change.injection.effects:
            if isinstance(effect, Reply) and effect.wall_exit is not None:
                for path in paths_of(effect.wall_exit):
                    self._walls[path] = change, effect.wall_exit

    def is_report(self, path: str) -> bool:
        """Whether a request is a changed page's own, opens its link, or passes a wall."""
        pages = path in self._pages or path in self._hanging
        return pages or path in self._links or path in self._walls

    def hanging(self, path: str) -> PlannedInjection | None:
        """Return the injection of a page whose request is never answered; None for others."""
        return self._hanging.get(path)

    def handle_report(self, request: Request, path: str, content: bytes) -> WholeResponse:
        """Record and answer a report, or a visit to a link in a changed page.

        ``content``: the decoded body of the request.
        """
        if path in self._walls:
            change, wall_exit = self._walls[path]
            now = self._recorder.clock.now()
            what, response = answer_at(wall_exit, request, path, content, now)
            if what:
                self._record(change, PageReport(what, "", "", ""))
            return response
        if path in self._pages:
            return self._report(request, self._pages[path], content)
        by = request.asked_by
        if by is not None:
            self._record(self._links[path], PageReport(_VISITED, by, "", ""))
        headers = {"content-type": "text/html; charset=utf-8", "cache-control": "no-store"}
        return WholeResponse.make(200, headers, _PAGE, to=request.method)

    def redeem(self, ticket: str) -> Witness | None:
        """Return what a ticket that a changed page gave to a request proves; None if nothing."""
        path, _, sent = ticket.partition("\n")
        page = self._pages.get(path)
        report = page.channel.read(sent.encode("utf-8", "replace")) if page else None
        if page is None or report is None:
            return None
        exchange, injection = page.change.exchange.id, page.change.injection.id
        return Witness(exchange=exchange, injection=injection, what=report.what, by=report.by)

    def _report(self, request: Request, page: _Page, content: bytes) -> WholeResponse:
        if script := _worker_of(page, request):
            headers = {"content-type": "text/javascript", "cache-control": "no-store"}
            return WholeResponse.make(200, headers, script.encode())
        report = page.channel.read(content) if request.method == "POST" else None
        if report is None:
            if not page.channel.has_forged:
                page.channel.has_forged = True
                self._record(page.change, PageReport(_FORGED, "", "", ""))
            return WholeResponse.make(204)
        if report.what in QUERIES:
            # A sandboxed page has no origin of its own.
            headers = {"content-type": "application/json", "cache-control": "no-store"}
            headers["access-control-allow-origin"] = "*"
            return WholeResponse.make(200, headers, json.dumps(self._answer(page, report)).encode())
        self._take(page, report)
        return WholeResponse.make(204)

    def _answer(self, page: _Page, report: PageReport) -> JsonValue:
        text = read_query(report.payload)
        if report.what == DATA:
            made = (
                it
                for rewriter in self._data.get(_site_of(page.change), ())
                for it in rewriter.changes
            )
            return [[it.before, it.after] for it in made if it.after is not None]
        if report.what != TEXTS:
            return list(self._mentioned.handle_report(report.what, text))
        if not isinstance(page.edit, InjectedScript) or page.edit.answers is None:
            return []
        answer, page.change.reported = page.edit.answers.answer(text)
        return answer

    def _take(self, page: _Page, report: PageReport) -> None:
        change = page.change
        reported, left_out = read_changes(report.payload)
        if report.what == CHANGED:
            room = MAX_CHANGES - len(change.reported)
            recorded = [reported_value(it) for it in reported[: max(0, room)]]
            change.reported = (*change.reported, *reported[: len(recorded)])
            left_out += len(reported) - len(recorded)
            self._record(change, report, changes=recorded, left_out=left_out)
            return
        if isinstance(page.edit, InjectedScript):
            detail = dict(page.edit.details).get(report.detail, "")
            report = replace(report, detail=detail)
        # What an act came with is not a change of the page.
        values = () if report.what == SHOWN else reported[:MAX_CHANGES]
        self._record(change, report, changes=[reported_value(it) for it in values])
        change.changes_nothing |= report.what == NOTHING
        change.removed_by_page |= report.what == REMOVED
        if report.what == SHOWN:
            if isinstance(page.edit, InjectedScript):
                change.shown = (*page.edit.shows, *(() if reported else page.edit.meant))
            change.reported = (*change.reported, *reported)
            change.left_out = left_out
        if report.what in (SHOWN, REMOVED):
            change.awaits_report = False
            change.settle(report.what == SHOWN)

    def _record(
        self,
        change: PageChange,
        report: PageReport,
        changes: Sequence[ChangedValue] = (),
        left_out: int = 0,
    ) -> None:
        self._recorder.write(
            Witness(
                exchange=change.exchange.id,
                injection=change.injection.id,
                what=report.what,
                detail=report.detail,
                by=report.by,
                changes=list(changes),
                left_out=left_out,
            )
        )
        change.injection.note_report(change.exchange, report.what)

    def finish(self) -> None:
        """Settle the pages without a report at the end of the trial."""
        for page in self._pages.values():
            if page.change.awaits_report:
                page.change.awaits_report = False
                page.change.settle(False)


def _worker_of(page: _Page, request: Request) -> str:
    """Return the service worker's script if a browser asks for it, which no script can read."""
    if request.headers.get("sec-fetch-dest") != "serviceworker":
        return ""
    return page.edit.worker_script if isinstance(page.edit, InjectedScript) else ""
