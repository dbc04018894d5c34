"""One HTTP request and the answer to it, free of any proxy library."""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import SplitResult, urlsplit

type Resource = Literal[
    "document",
    "script",
    "stylesheet",
    "image",
    "font",
    "xhr",
    "websocket",
    "media",
    "other",
]
"""What a browser wants the answer for."""

# Fetch Metadata (W3C): what the request is for, said by the browser itself on HTTPS.
_BY_DESTINATION: Mapping[str, Resource] = {
    "document": "document",
    "iframe": "document",
    "frame": "document",
    "script": "script",
    "worker": "script",
    "sharedworker": "script",
    "serviceworker": "script",
    "audioworklet": "script",
    "paintworklet": "script",
    "style": "stylesheet",
    "image": "image",
    "font": "font",
    "empty": "xhr",
    "websocket": "websocket",
    "audio": "media",
    "video": "media",
    "track": "media",
}
_BY_EXTENSION: Mapping[str, Resource] = {
    ".html": "document",
    ".htm": "document",
    ".php": "document",
    ".asp": "document",
    ".aspx": "document",
    ".jsp": "document",
    ".js": "script",
    ".mjs": "script",
    ".cjs": "script",
    ".css": "stylesheet",
    ".png": "image",
    ".jpg": "image",
    ".jpeg": "image",
    ".gif": "image",
    ".svg": "image",
    ".webp": "image",
    ".avif": "image",
    ".ico": "image",
    ".woff": "font",
    ".woff2": "font",
    ".ttf": "font",
    ".otf": "font",
    ".mp4": "media",
    ".webm": "media",
    ".mp3": "media",
    ".ogg": "media",
    ".wav": "media",
    ".json": "xhr",
}


@dataclass(frozen=True, slots=True)
class Request:
    """What the browser asked for. Header names are in lower case."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body_digest: str = ""
    """Tells two bodies apart; empty for no body."""

    @property
    def parts(self) -> SplitResult:
        """The URL, split."""
        return urlsplit(self.url)

    @property
    def is_preflight(self) -> bool:
        """Whether this is a CORS preflight (Fetch standard), which a page never sees."""
        return self.method == "OPTIONS" and "access-control-request-method" in self.headers

    @property
    def is_prefetch(self) -> bool:
        """Whether the browser asks ahead of need."""
        purpose = self.headers.get("sec-purpose") or self.headers.get("purpose", "")
        return purpose.startswith(("prefetch", "prerender"))

    @property
    def is_top_level(self) -> bool:
        """Whether this is a page of its own and not a frame in one."""
        destination = self.headers.get("sec-fetch-dest", "document")
        return destination == "document" and resource_of(self) == "document"


@dataclass(frozen=True, slots=True)
class Response:
    """What the browser was answered. Header names are in lower case."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and, once the site has answered, the answer."""

    id: str
    request: Request
    response: Response | None = None


def resource_of(request: Request, response: Response | None = None) -> Resource:
    """Say what the browser wants the answer for.

    In this order: what the browser says itself (``Sec-Fetch-Dest``), the answer's content type
    where there is an answer, the request's ``Accept``, the extension in the URL. A plain client
    such as curl accepts anything and names no page it comes from: it asks for a document.
    """
    if request.headers.get("upgrade", "").lower() == "websocket":
        return "websocket"
    destination = request.headers.get("sec-fetch-dest")
    if destination is not None:
        return _BY_DESTINATION.get(destination, "other")
    if response is not None and (found := _by_media_type(response.headers.get("content-type", ""))):
        return found
    if "x-requested-with" in request.headers:
        return "xhr"
    accept = request.headers.get("accept", "*/*").partition(",")[0]
    if found := _by_media_type(accept):
        return found
    extension = posixpath.splitext(request.parts.path)[1].lower()
    if found := _BY_EXTENSION.get(extension):
        return found
    if request.headers.keys() & {"referer", "origin"} or request.method not in ("GET", "HEAD"):
        return "xhr"
    return "document" if not extension else "other"


def _by_media_type(value: str) -> Resource | None:
    media_type = value.partition(";")[0].strip().lower()
    kind, _, subtype = media_type.partition("/")
    if media_type in ("text/html", "application/xhtml+xml"):
        return "document"
    if subtype in ("javascript", "x-javascript", "ecmascript"):
        return "script"
    if media_type == "text/css":
        return "stylesheet"
    if kind == "image":
        return "image"
    if kind == "font" or subtype.startswith("font"):
        return "font"
    if kind in ("audio", "video"):
        return "media"
    if subtype == "json" or subtype.endswith("+json") or media_type == "text/event-stream":
        return "xhr"
    return None
