"""HTTP Archive 1.2, a file for each trial.

The faults of an exchange are under ``_warex``.

Bodies are in it as far as they were recorded. Cookies are redacted in a trace, so that no name or
value is left.
"""

import base64
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

from warex.analysis.trial.record import read_attempt
from warex.errors import InputError, TraceError
from warex.exports.interchange.selection import SelectedTrial
from warex.exports.interchange.strict_json import encode_strictly
from warex.exports.run_formats import RunExport
from warex.traces.blobs import BlobStore
from warex.traces.event_parts import Timings
from warex.traces.events import (
    Entry,
    FaultDelivered,
    FaultMissed,
    FaultPlanned,
    RequestSeen,
    ResponseSeen,
    Witness,
)
from warex.traces.files import write_atomic
from warex.traces.paths import BLOBS, TrialKey
from warex.traces.reader import Trace
from warex.version import VERSION

type Json = dict[str, Any]
type Headers = Sequence[tuple[str, str]]

_NO_BODY: Final = "The body was not recorded; --record-bodies records bodies of up to 4 MiB."
_BODY_IS_GONE: Final = "The body is missing: a secret in it showed later, or the blob is damaged."
_BODY_IS_TOO_MUCH: Final = "The body is left out: the archive holds 256 MiB of bodies."
_UNKNOWN_TYPE: Final = "x-unknown"
_UNKNOWN: Final = -1
_LONGEST_S: Final = 1e9
_MOST_BODIES: Final = 256 * 1024 * 1024
"""Bytes of bodies in an archive."""


class _Bodies:
    """The recorded bodies of a trial."""

    def __init__(self, store: BlobStore) -> None:
        self._store = store
        self._left = _MOST_BODIES

    def text_of(self, reference: str, size: int) -> Json:
        """Return a body's ``text``, or a ``comment`` on why there is none."""
        if not reference:
            return {"comment": _NO_BODY} if size else {}
        try:
            body = self._store.get(reference)
        except TraceError:
            return {"comment": _BODY_IS_GONE}
        if len(body) > self._left:
            return {"comment": _BODY_IS_TOO_MUCH}
        self._left -= len(body)
        try:
            return {"text": body.decode(), "size": len(body)}
        except UnicodeDecodeError:
            text = base64.b64encode(body).decode()
            return {"text": text, "encoding": "base64", "size": len(body)}


def write(export: RunExport) -> Iterable[str]:
    """Write the archives."""
    selection = export.select()
    out = export.out
    if out.suffix != ".har":
        export.require_new_folder()
    elif len(selection.trials) > 1:
        raise InputError(
            f"--out {out}: an archive holds one trial, and there are {len(selection.trials)}; name"
            " a folder, or the folder of one trial as RUN"
        )
    elif out.exists():
        raise InputError(f"--out {out}: this exists already; name a new file")
    write_har(selection.trials, out)
    return export.result(selection)


def write_har(trials: Sequence[SelectedTrial], out: Path) -> None:
    """Write an archive for each trial below ``out``, or into it if that is a file's name."""
    for trial in trials:
        path = out if out.suffix == ".har" else trial.file(out, ".har")
        trace = read_attempt(trial.path, lean=True)
        archive = har(trace, trial.key, BlobStore(trial.path / BLOBS), trial.void)
        write_atomic(path, encode_strictly(archive, indent=1))


def har(trace: Trace, key: TrialKey, store: BlobStore, void: str | None = None) -> Json:
    """Return the archive of a trial; ``store`` has its bodies, ``void`` says why it is void."""
    bodies = _Bodies(store)
    answers = {answer.exchange: answer for answer in trace.events(ResponseSeen)}
    faults = _faults(trace.entries)
    entries = []
    for entry in trace.of(RequestSeen):
        request = entry.event
        assert isinstance(request, RequestSeen)
        hits = faults.pop(request.exchange, [])
        entries.append(_entry(entry.at, request, answers.get(request.exchange), hits, bodies))
    return {
        "log": {
            "version": "1.2",
            "creator": {"name": "WAREX", "version": VERSION},
            "entries": entries,
            "_warex": {
                "benchmark": key.benchmark,
                "agent": key.agent,
                "condition": key.condition,
                "task": key.task,
                "repeat": key.repeat,
                "void": void,
                "truncated": trace.truncation,
                # Of connections that were never made, so that no request was.
                "faults": [fault for each in faults.values() for fault in each],
            },
        }
    }


def _faults(entries: Sequence[Entry]) -> dict[str, list[Json]]:
    """Return what was planned for each exchange and what became of it, by exchange."""
    by_exchange: dict[str, list[Json]] = {}
    by_injection: dict[str, Json] = {}
    for entry in entries:
        match entry.event:
            case FaultPlanned() as plan:
                fault = {
                    "injection": plan.injection,
                    "rule": plan.rule,
                    "kind": plan.fault.get("kind"),
                    "category": plan.category,
                    "target": plan.target,
                    "fault": plan.fault,
                    "effects": list(plan.effects),
                    "fate": "open",
                    "url": plan.url,
                    "reports": [],
                }
                by_injection[plan.injection] = fault
                by_exchange.setdefault(plan.exchange, []).append(fault)
            case FaultDelivered() as delivered if delivered.injection in by_injection:
                by_injection[delivered.injection] |= {
                    "fate": "delivered",
                    "waited_s": delivered.waited_s,
                    "client_left": delivered.client_left,
                    "changes": [
                        {"where": each.where, "before": each.before, "after": each.after}
                        for each in delivered.changes
                    ],
                }
            case FaultMissed(injection=str(injection), reason=reason) if injection in by_injection:
                by_injection[injection] |= {"fate": "missed", "reason": reason}
            case Witness(injection=injection, what=what) if injection in by_injection:
                by_injection[injection]["reports"].append(what)
            case _:
                pass
    return by_exchange


def _entry(
    at: str,
    request: RequestSeen,
    answer: ResponseSeen | None,
    faults: Sequence[Json],
    bodies: _Bodies,
) -> Json:
    error = answer.error if answer else "the trace ends before the response"
    timings = _timings(answer.timings) if answer else {"send": 0, "wait": 0, "receive": 0}
    return {
        "startedDateTime": at,
        "time": _time(timings),
        "request": _request(request, bodies),
        "response": _response(answer, bodies) | ({"_error": error} if error else {}),
        "cache": {},
        "timings": timings,
        "connection": request.connection,
        "_resourceType": answer.resource if answer else request.resource,
        "_warex": {
            "exchange": request.exchange,
            "by": answer.by if answer else "none",
            "repeat_of": request.repeat_of,
            "operation": request.operation or None,
            "error": error,
            "faults": list(faults),
        },
    }


def _request(request: RequestSeen, bodies: _Bodies) -> Json:
    query = request.url.partition("#")[0].partition("?")[2]
    return {
        "method": request.method,
        "url": request.url,
        "httpVersion": request.http_version,
        "cookies": [],
        "headers": _headers(request.headers),
        "queryString": [
            {"name": name, "value": value}
            for name, value in parse_qsl(query, keep_blank_values=True, errors="replace")
        ],
        "headersSize": _UNKNOWN,
        "bodySize": request.size,
        **_posted(request, bodies),
        **_left_out(request.headers_left_out),
    }


def _posted(request: RequestSeen, bodies: _Bodies) -> Json:
    """Return ``postData``, or a comment on why there is none."""
    body = bodies.text_of(request.body_blob, request.size)
    if "text" not in body:
        return body
    del body["size"]
    types = _values(request.headers, "content-type")
    encoding = {"_encoding": body.pop("encoding")} if "encoding" in body else {}
    return {"postData": {"mimeType": types[0] if types else _UNKNOWN_TYPE, **body, **encoding}}


def _response(answer: ResponseSeen | None, bodies: _Bodies) -> Json:
    """Return the response; without one, status 0, as browsers write it."""
    if answer is None or answer.status is None:
        return {
            "status": 0,
            "statusText": "",
            "httpVersion": "",
            "cookies": [],
            "headers": [],
            "content": {"size": 0, "mimeType": _UNKNOWN_TYPE},
            "redirectURL": "",
            "headersSize": _UNKNOWN,
            "bodySize": _UNKNOWN,
        }
    types = _values(answer.headers, "content-type")
    return {
        "status": answer.status,
        "statusText": _phrase(answer.status),
        "httpVersion": answer.http_version or "",
        "cookies": [],
        "headers": _headers(answer.headers),
        "content": {
            "size": answer.size,
            "mimeType": types[0] if types else _UNKNOWN_TYPE,
            **bodies.text_of(answer.body_blob, answer.size),
        },
        "redirectURL": next(iter(_values(answer.headers, "location")), ""),
        "headersSize": _UNKNOWN,
        "bodySize": answer.size,
        **_left_out(answer.headers_left_out),
    }


def _left_out(number: int) -> Json:
    return {"_warex": {"headers_left_out": number}} if number else {}


def _timings(timings: Timings) -> Json:
    """Return the phases in milliseconds. HAR counts TLS in ``connect``, and all in the total."""
    tls = timings.tls or 0.0
    connect = (timings.connect or 0.0) + tls
    wait, receive = timings.wait or 0.0, timings.receive or 0.0
    rest = max(0.0, timings.total - connect - wait - receive)
    made = timings.connect is not None or timings.tls is not None
    return {
        "blocked": _UNKNOWN,
        "dns": _UNKNOWN,
        "connect": _ms(connect) if made else _UNKNOWN,
        "ssl": _UNKNOWN if timings.tls is None else _ms(tls),
        "send": _ms(rest),
        "wait": _ms(wait),
        "receive": _ms(receive),
    }


def _time(timings: Mapping[str, float]) -> float:
    return round(sum(max(0.0, ms) for name, ms in timings.items() if name != "ssl"), 3)


def _ms(seconds: float) -> float:
    return round(1000 * min(max(0.0, seconds), _LONGEST_S), 3)


def _headers(headers: Headers) -> list[Json]:
    return [{"name": name, "value": value} for name, value in headers]


def _values(headers: Headers, wanted: str) -> list[str]:
    return [value for name, value in headers if name.lower() == wanted]


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in HTTPStatus else ""
