"""One HTTP request and the answer to it, free of any proxy library."""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal
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

SUBRESOURCES: Final[frozenset[Resource]] = frozenset(
    ("script", "stylesheet", "image", "font", "media", "websocket")
)
"""What browsers ask for by GET alone."""

BROWSER: Final = "Mozilla/5.0"
"""How the User-Agent of every browser begins."""

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
    def is_third_party(self) -> bool:
        """Whether a page asks for it from a host with another registrable domain than its own.

        The browser says so (Fetch Metadata); where it does not, as over plain HTTP, the page's
        address does. Without either it is not.
        """
        told = self.headers.get("sec-fetch-site")
        page = self.headers.get("referer") or self.headers.get("origin") or ""
        # To a browser a page over plain HTTP is of another site than its own host over HTTPS.
        upgraded = page.startswith("http:") and self.url.startswith("https:")
        if told is not None and not (told == "cross-site" and upgraded):
            return told == "cross-site"
        own, whose = _host(self.url), _host(page)
        if not own or not whose or own == whose:
            return False
        return registrable_domain(own) != registrable_domain(whose)

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
        """Whether this is a page of its own and not a frame in one.

        What a service worker fetches in order to open it counts as a page of its own.
        """
        destination = self.headers.get("sec-fetch-dest", "document")
        return destination in ("document", "empty") and resource_of(self) == "document"


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
    at: float = 0.0
    """Second of the trial at which it is judged."""


def registrable_domain(host: str) -> str:
    """Return the part of a host that somebody has registered: a public suffix and one label more.

    An IP address, or a name of one label, is its own. Source: the Public Suffix List.
    """
    labels = host.split(".")
    if len(labels) < 3 or labels[-1].isdigit():
        return host
    # Only here: the list takes 50 ms to be read.
    from publicsuffix2 import get_sld

    return get_sld(host, strict=True) or ".".join(labels[-2:])


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def resource_of(request: Request, response: Response | None = None) -> Resource:
    """Say what the browser wants the answer for.

    In this order: what the browser says itself (Fetch Metadata, ``X-Requested-With``), the
    answer's content type where there is an answer, the request's ``Accept``, the extension in the
    URL. Only a browser asks for a page and its parts: whatever a program such as curl, which names
    itself and no browser, asks for is ``other``.
    """
    headers = request.headers
    if found := _said_by_browser(headers):
        return found
    if _names_a_program(headers):
        return "other"
    from_page = "referer" in headers or "origin" in headers or request.method not in ("GET", "HEAD")
    accept = headers.get("accept", "*/*")
    # Whatever it is answered with: a page's own request may bring a fragment of HTML, or an error
    # page in a script's place.
    is_page = _navigates(headers)
    if response is not None:
        found = _by_media_type(response.headers.get("content-type", ""))
        if found is not None and (found != "document" or is_page):
            return found
    found = _by_media_type(accept.partition(",")[0])
    if found is not None and (found != "document" or is_page):
        return found
    extension = posixpath.splitext(request.parts.path)[1].lower()
    found = resource_by_extension(extension)
    if found is not None and (found != "document" or is_page):
        return found
    if is_page:
        return "document"
    return "xhr" if from_page else "other"


def _names_a_program(headers: Mapping[str, str]) -> bool:
    """Whether a client says its name, and it is no browser's."""
    name = headers.get("user-agent", "")
    changed = headers.get("upgrade-insecure-requests") == "1" or "referer" in headers
    return bool(name) and not name.startswith(BROWSER) and not changed


def _navigates(headers: Mapping[str, str]) -> bool:
    """Whether a browser without Fetch Metadata asks for a page, as over plain HTTP.

    Chromium, Firefox and WebKit then name HTML in ``Accept``. What programs send may do so too, and
    may bear a browser's name: Playwright's own requests do that, without HTML. A browser whose
    ``User-Agent`` was changed still asks for secure requests (W3C, Upgrade Insecure Requests).
    """
    by_browser = headers.get("user-agent", "").startswith(BROWSER) or (
        headers.get("upgrade-insecure-requests") == "1"
    )
    return by_browser and "html" in headers.get("accept", "")


def resource_by_extension(extension: str) -> Resource | None:
    """Say what a file with this extension, such as ``.css``, is for; None where that is open."""
    return _BY_EXTENSION.get(extension.lower())


def _said_by_browser(headers: Mapping[str, str]) -> Resource | None:
    if headers.get("upgrade", "").lower() == "websocket":
        return "websocket"
    if (destination := headers.get("sec-fetch-dest")) is not None:
        # A service worker that fetches the page which is opened: what for, it no longer says.
        if destination == "empty" and headers.get("sec-fetch-mode") == "navigate":
            return "document"
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
