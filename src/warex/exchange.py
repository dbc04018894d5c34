"""One HTTP request and its response, independent of any proxy library."""

import posixpath
from collections.abc import Mapping
from functools import cached_property
from typing import Final, Literal
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct, field

from warex.text.short_cache import cached_if_short

type Resource = Literal[
    "document", "script", "stylesheet", "image", "font", "xhr", "websocket", "media", "other"
]
"""What the browser requests a resource as."""

type SiteFailure = Literal[
    "dns_error",
    "connection_refused",
    "connection_timeout",
    "connection_terminated",
    "destination_ip_unroutable",
    "destination_unavailable",
    "proxy_loop_detected",
    "tls_certificate_error",
    "tls_protocol_error",
]
"""Why a site cannot be reached, in the words of RFC 9209 §2.3; ``destination_unavailable``: an
upstream proxy did not reach it, or for any other reason."""

type Server = Literal["site", "llm", "mcp"]
"""What a request goes to: a site, a model, or an MCP server."""

SUBRESOURCES: Final[frozenset[Resource]] = frozenset(
    ("script", "stylesheet", "image", "font", "media", "websocket")
)
"""Resources that browsers request only by GET."""

BROWSER: Final = "Mozilla/5.0"
"""Start of every browser's User-Agent."""


def _by_name(kinds: Mapping[Resource, str]) -> Mapping[str, Resource]:
    return {name: kind for kind, names in kinds.items() for name in names.split()}


# Fetch Metadata (W3C): the request's purpose, sent by the browser on HTTPS.
_BY_DESTINATION: Final = _by_name(
    {
        "document": "document iframe frame fencedframe",
        "script": "script worker sharedworker serviceworker audioworklet paintworklet",
        "stylesheet": "style",
        "image": "image",
        "font": "font",
        "xhr": "empty",
        "websocket": "websocket",
        "media": "audio video track",
    }
)
_BY_EXTENSION: Final = _by_name(
    {
        "document": ".html .htm .php .asp .aspx .jsp .xhtml",
        "script": ".js .mjs .cjs",
        "stylesheet": ".css",
        "image": ".png .jpg .jpeg .gif .svg .webp .avif .ico .bmp",
        "font": ".woff .woff2 .ttf .otf .eot",
        "media": ".mp4 .webm .mp3 .ogg .wav",
        "xhr": ".json",
    }
)


class Request(Struct, frozen=True, dict=True):
    """The browser's request. Header names are in lower case.

    What follows from it is computed once, when it is first asked for.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body_digest: str = ""
    """Distinguishes bodies; empty without a body."""

    @cached_property
    def parts(self) -> SplitResult:
        """The split URL; without a host if the URL's host is invalid."""
        try:
            return urlsplit(self.url)
        except ValueError:
            # A Host header may hold anything, such as half an IPv6 address.
            scheme, _, rest = self.url.partition("#")[0].partition("://")
            where, _, query = rest.partition("?")
            _, slash, path = where.partition("/")
            return SplitResult(scheme.lower(), "", slash + path, query, "")

    @cached_property
    def host(self) -> str:
        """The URL's host in lower case, an IPv6 address without brackets; empty if invalid."""
        return _place(self.parts.netloc)[0]

    @cached_property
    def port(self) -> int:
        """The URL's port, or its scheme's own."""
        return _place(self.parts.netloc)[1] or (443 if self.parts.scheme == "https" else 80)

    @cached_property
    def resource(self) -> Resource:
        """The kind of resource, as far as the request tells."""
        return _resource_of(self)

    @property
    def is_third_party(self) -> bool:
        """Whether the requesting page's host has another registrable domain.

        The browser's Fetch Metadata decides; without it, as over plain HTTP, the page's address.
        False without either.
        """
        site = self.headers.get("sec-fetch-site")
        page = self.headers.get("referer") or self.headers.get("origin") or ""
        # A browser treats a page over plain HTTP as cross-site to its own host over HTTPS.
        upgraded = page.startswith("http:") and self.url.startswith("https:")
        if site is not None and not (site == "cross-site" and upgraded):
            return site == "cross-site"
        own, whose = _host(self.url), _host(page)
        if not own or not whose or own == whose:
            return False
        return registrable_domain(own) != registrable_domain(whose)

    @property
    def is_preflight(self) -> bool:
        """Whether this is a CORS preflight (Fetch standard), which pages never see."""
        return self.method == "OPTIONS" and "access-control-request-method" in self.headers

    @property
    def is_prefetch(self) -> bool:
        """Whether the browser prefetches or prerenders."""
        purpose = self.headers.get("sec-purpose") or self.headers.get("purpose", "")
        return purpose.startswith(("prefetch", "prerender"))

    @property
    def asked_by(self) -> Literal["", "user", "script"] | None:
        """Who opens this page by Fetch Metadata; empty without it, None for a prefetch.

        A browser says so of a click, a key or its own address bar, and no script of a page can.
        """
        if self.is_prefetch:
            return None
        headers = self.headers
        if "sec-fetch-mode" not in headers and "sec-fetch-dest" not in headers:
            return ""
        is_opened = headers.get("sec-fetch-dest") == "document"
        by_user = headers.get("sec-fetch-user") == "?1" or headers.get("sec-fetch-site") == "none"
        return "user" if is_opened and by_user else "script"

    @cached_property
    def is_top_level(self) -> bool:
        """Whether this is a page and not a frame, also when a service worker fetches the page."""
        if self.resource != "document":
            return False
        return self.headers.get("sec-fetch-dest", "document") in ("document", "empty")

    @cached_property
    def stated_resource(self) -> Resource | None:
        """The kind of resource that the client states, whatever the site answers."""
        headers = self.headers
        return _by_browser_headers(headers) or ("other" if _names_a_program(headers) else None)


class Response(Struct, frozen=True):
    """The response to the browser. Header names are in lower case."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)


class SiteLook(Struct, frozen=True):
    """How a site looks, as far as its answers have shown; an empty value is unknown.

    A colour is ``#rrggbb``. No value can end an attribute or a style sheet's value.
    """

    name: str = ""
    language: str = ""
    """Of its pages, as in HTML's ``lang``."""
    logo: str = ""
    """An address on the site's own origin, or a ``data:`` URL of an image."""
    ground: str = ""
    """The colour behind its text."""
    ink: str = ""
    """The colour of its text."""
    accent: str = ""
    """The colour of its buttons, or else of its links."""
    on_accent: str = ""
    """The colour of the text on it."""
    bar: str = ""
    """The colour of the bar at the top."""
    on_bar: str = ""
    """The colour of the text on it."""
    font: str = ""
    """A list of font families without quotes."""
    corner: str = ""
    """The radius of its buttons' corners."""


UNKNOWN_LOOK: Final = SiteLook()
"""The look of a site that has shown nothing."""


class Exchange(Struct, frozen=True):
    """One request and, once the site has answered, its response."""

    id: str
    request: Request
    response: Response | None = None
    at: float = 0.0
    """Second of the trial at which the rules are evaluated."""
    look: SiteLook = UNKNOWN_LOOK
    """How the site looks, if a rule's fault needs to know."""
    begins_connection: bool = True
    """Whether it is the first on its client's connection."""
    server: Server = "site"
    """What it goes to."""


def registrable_domain(host: str) -> str:
    """Return the registrable domain of a host: a public suffix and one more label.

    An IP address or a single label is returned as is. Source: the Public Suffix List.
    """
    labels = host.split(".")
    if len(labels) < 3 or labels[-1].isdigit():
        return host
    # Imported here: loading the list takes 50 ms.
    from publicsuffix2 import get_sld

    return get_sld(host, strict=True) or ".".join(labels[-2:])


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def resource_of(request: Request, response: Response | None = None) -> Resource:
    """Return the kind of resource that is requested.

    The first that is known decides: the browser's own headers (Fetch Metadata,
    ``X-Requested-With``), the response's content type, the request's ``Accept``, the URL's
    extension. Requests of programs that name themselves, such as curl, are ``other``.
    """
    if response is not None and request.stated_resource is None:
        answered = _by_media_type(response.headers.get("content-type", ""))
        # Only a navigation is a document: a page's own request may return a fragment of HTML, and
        # a script's may return an error page.
        if answered is not None and (answered != "document" or _navigates(request.headers)):
            return answered
    return request.resource


@cached_if_short(maxsize=1024)
def _place(authority: str) -> tuple[str, int | None]:
    """Return the host and the port of a URL's authority."""
    parts = SplitResult("", authority, "", "", "")
    try:
        return parts.hostname or "", parts.port
    except ValueError:
        return parts.hostname or "", None


def _resource_of(request: Request) -> Resource:
    """Return the kind of resource that a request asks for, as far as it tells."""
    if (stated := request.stated_resource) is not None:
        return stated
    headers = request.headers
    from_page = "referer" in headers or "origin" in headers or request.method not in ("GET", "HEAD")
    is_page = _navigates(headers)
    guesses = (
        _by_media_type(headers.get("accept", "*/*").partition(",")[0]),
        resource_by_extension(posixpath.splitext(request.parts.path)[1]),
    )
    for guess in guesses:
        if guess is not None and (guess != "document" or is_page):
            return guess
    return "document" if is_page else "xhr" if from_page else "other"


def _names_a_program(headers: Mapping[str, str]) -> bool:
    """Whether the User-Agent names a program that is not a browser."""
    name = headers.get("user-agent", "")
    changed = headers.get("upgrade-insecure-requests") == "1" or "referer" in headers
    return bool(name) and not name.startswith(BROWSER) and not changed


def _navigates(headers: Mapping[str, str]) -> bool:
    """Whether a browser without Fetch Metadata, as over plain HTTP, requests a page.

    Chromium, Firefox and WebKit then list HTML in ``Accept``. Programs may do so too, or send a
    browser's name: Playwright's own requests do that without HTML. A browser with a changed
    ``User-Agent`` still asks for secure requests (W3C, Upgrade Insecure Requests).
    """
    by_browser = headers.get("user-agent", "").startswith(BROWSER) or (
        headers.get("upgrade-insecure-requests") == "1"
    )
    return by_browser and "html" in headers.get("accept", "")


def resource_by_extension(extension: str) -> Resource | None:
    """Return the resource of a file extension such as ``.css``, or None if ambiguous."""
    return _BY_EXTENSION.get(extension.lower())


def _by_browser_headers(headers: Mapping[str, str]) -> Resource | None:
    if headers.get("upgrade", "").lower() == "websocket":
        return "websocket"
    if (destination := headers.get("sec-fetch-dest")) is not None:
        # A service worker that fetches the opened page no longer names the destination.
        if destination == "empty" and headers.get("sec-fetch-mode") == "navigate":
            return "document"
        return _BY_DESTINATION.get(destination, "other")
    # Node's fetch sends a mode and no destination.
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
