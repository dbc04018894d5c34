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
    "fencedframe": "document",
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
    ".xhtml": "document",
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
    ".bmp": "image",
    ".woff": "font",
    ".woff2": "font",
    ".ttf": "font",
    ".otf": "font",
    ".eot": "font",
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
        """The URL, split; without a host where what stands in its place can be none."""
        try:
            return urlsplit(self.url)
        except ValueError:
            # A Host header may hold anything, such as half an IPv6 address.
            scheme, _, rest = self.url.partition("#")[0].partition("://")
            where, _, query = rest.partition("?")
            _, slash, path = where.partition("/")
            return SplitResult(scheme.lower(), "", slash + path, query, "")

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

    In this order: what the browser says itself (Fetch Metadata, ``X-Requested-With``), the
    answer's content type where there is an answer, the request's ``Accept``, the extension in the
    URL. A plain client such as curl accepts anything and names no page it comes from: it asks for a
    document.
    """
    headers = request.headers
    if found := _said_by_browser(headers):
        return found
    from_page = "referer" in headers or "origin" in headers or request.method not in ("GET", "HEAD")
    accept = headers.get("accept", "*/*")
    # Browsers accept HTML by name when they want a page. A page's own request that does not may
    # still be answered with HTML: a fragment, or an error page in a script's place.
    no_page = from_page and "html" not in accept
    if response is not None:
        found = _by_media_type(response.headers.get("content-type", ""))
        if found is not None and not (found == "document" and no_page):
            return found
    if found := _by_media_type(accept.partition(",")[0]):
        return found
    extension = posixpath.splitext(request.parts.path)[1].lower()
    found = _BY_EXTENSION.get(extension)
    if found is not None and not (found == "document" and no_page):
        return found
    if from_page:
        return "xhr"
    return "document" if not extension else "other"


def _said_by_browser(headers: Mapping[str, str]) -> Resource | None:
    if headers.get("upgrade", "").lower() == "websocket":
        return "websocket"
    if (destination := headers.get("sec-fetch-dest")) is not None:
        return _BY_DESTINATION.get(destination, "other")
    # Node's fetch says its mode and no destination.
    if (mode := headers.get("sec-fetch-mode")) is not None:
        return "document" if mode == "navigate" else "xhr"
    return "xhr" if "x-requested-with" in headers else None


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
    if kind == "font" or subtype.startswith(("font", "x-font")):
        return "font"
    if kind in ("audio", "video"):
        return "media"
    if subtype == "json" or subtype.endswith("+json") or media_type == "text/event-stream":
        return "xhr"
    return None
