"""Reads the exchanges of a HAR file (HTTP Archive 1.2) of a browser."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from warex.errors import TraceError
from warex.exchange import Request, Response
from warex.faults import ConnectionPhase
from warex.files.reading import read_regular_file

_SCHEMES: Final = ("http://", "https://", "ws://", "wss://")
# Chromium's names in `_resourceType` that differ from ours.
_RESOURCES: Final[Mapping[str, str]] = {"fetch": "xhr", "eventsource": "xhr"}


@dataclass(frozen=True, slots=True)
class HarEntry:
    """One exchange of the file."""

    at: float
    """Seconds since the first request."""
    seconds: float
    """The duration of the exchange."""
    request: Request
    body: str
    response: Response | None
    """None if the request was never answered."""
    resource: str
    """The browser's resource type; empty if unknown."""
    reached: tuple[ConnectionPhase, ...] | None = None
    """The connection phases before the request; None if the file has none."""


class _Pair(BaseModel, frozen=True):
    name: str
    value: str


class _Post(BaseModel, frozen=True):
    text: str = ""


class _Question(BaseModel, frozen=True):
    method: Annotated[str, Field(min_length=1)]
    url: str
    headers: tuple[_Pair, ...] = ()
    post: _Post | None = Field(default=None, alias="postData")


class _Answer(BaseModel, frozen=True):
    status: int = 0
    headers: tuple[_Pair, ...] = ()


class _Phases(BaseModel, frozen=True):
    """Durations in milliseconds; -1 for a phase that was not needed (HAR 1.2)."""

    dns: float | None = None
    connect: float | None = None
    ssl: float | None = None


def _with_time_zone(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("a time must be text such as 2026-05-04T12:00:00.000Z")
    moment = datetime.fromisoformat(value)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class _Row(BaseModel, frozen=True):
    started: Annotated[datetime, BeforeValidator(_with_time_zone)] = Field(alias="startedDateTime")
    milliseconds: float = Field(default=0.0, alias="time", allow_inf_nan=False)
    request: _Question
    response: _Answer | None = None
    resource: str = Field(default="", alias="_resourceType")
    cached: str | None = Field(default=None, alias="_fromCache")
    timings: _Phases | None = None


class _Log(BaseModel, frozen=True):
    entries: tuple[_Row, ...]


class _Har(BaseModel, frozen=True):
    log: _Log


def read_har(path: Path) -> tuple[HarEntry, ...]:
    """Return the exchanges over the network, in order of their requests.

    Answers from the browser's cache and local URLs (``data:``, ``blob:``) are left out. Raises
    TraceError, with the place, if the file is not a HAR.
    """
    try:
        har = _Har.model_validate(_parsed(path))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = "".join(
            f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"]
        )
        what = first["msg"].removeprefix("Value error, ")
        raise TraceError(f"{path} is not a HAR file: {where.lstrip('.') or 'it'}: {what}") from None
    rows = [
        row
        for row in sorted(har.log.entries, key=lambda row: row.started)
        if row.request.url.lower().startswith(_SCHEMES) and not row.cached
    ]
    return tuple(_entry(row, rows[0].started) for row in rows)


def _parsed(path: Path) -> Any:
    try:
        # The bodies of answers, most of the file, are dropped while parsing.
        return json.loads(read_regular_file(path), object_hook=_without_content)
    except FileNotFoundError:
        raise TraceError(
            f"{path} does not exist; give a HAR file, a trial's folder or its events.jsonl"
        ) from None
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise TraceError(f"{path} is not a HAR file: it is not JSON ({error})") from None


def _without_content(value: dict[str, Any]) -> dict[str, Any]:
    value.pop("content", None)
    return value


def _entry(row: _Row, start: datetime) -> HarEntry:
    resource = row.resource.lower()
    answer = row.response if row.response and row.response.status > 0 else None
    return HarEntry(
        at=(row.started - start).total_seconds(),
        seconds=max(row.milliseconds, 0.0) / 1000,
        request=Request(row.request.method.upper(), row.request.url, _headers(row.request.headers)),
        body=row.request.post.text if row.request.post else "",
        response=Response(answer.status, _headers(answer.headers)) if answer else None,
        resource=_RESOURCES.get(resource, resource),
        reached=_reached(row.timings),
    )


def _reached(phases: _Phases | None) -> tuple[ConnectionPhase, ...] | None:
    if phases is None or phases == _Phases():
        return None
    took: dict[ConnectionPhase, float | None] = {
        "name": phases.dns,
        "connect": phases.connect,
        "tls": phases.ssl,
    }
    return tuple(point for point, ms in took.items() if ms is not None and ms >= 0)


def _headers(pairs: tuple[_Pair, ...]) -> dict[str, str]:
    return {pair.name.lower(): pair.value for pair in pairs}
