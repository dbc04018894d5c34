import pytest

from warex.exchange import Request, Resource, Response, resource_of


@pytest.mark.parametrize(
    ("url", "headers", "third"),
    [
        ("https://cdn.test/a.js", {"sec-fetch-site": "cross-site"}, True),
        ("https://cdn.shop.test/a.js", {"sec-fetch-site": "same-site"}, False),
        ("https://shop.test/a.js", {"sec-fetch-site": "same-origin"}, False),
        ("https://shop.test/a.js", {"sec-fetch-site": "none"}, False),
        # A script of another origin that asks for one of its own still does so for the page.
        (
            "https://cdn.test/b.js",
            {"sec-fetch-site": "cross-site", "referer": "https://cdn.test/a.js"},
            True,
        ),
        # To a browser this is another site, since the scheme is another one.
        (
            "https://cdn.shop.test/a.js",
            {"sec-fetch-site": "cross-site", "referer": "http://www.shop.test/"},
            False,
        ),
        ("http://a.example.co.uk/a.js", {"referer": "http://b.example.co.uk/"}, False),
        ("http://one.co.uk/a.js", {"referer": "http://two.co.uk/"}, True),
        ("http://a.github.io/a.js", {"referer": "http://b.github.io/"}, True),
        ("http://cdn.shop.test/a.js", {"referer": "http://www.shop.test/"}, False),
        ("http://localhost:8001/a.js", {"referer": "http://localhost:8002/"}, False),
        ("http://127.0.0.1/a.js", {"referer": "http://127.0.0.2/"}, True),
        ("http://cdn.test/a.js", {"origin": "http://shop.test"}, True),
        ("http://cdn.test/a.js", {"origin": "null"}, False),
        ("http://cdn.test/a.js", {"referer": "http://[half"}, False),
        ("http://cdn.test/a.js", {}, False),
    ],
)
def test_a_third_party_has_another_registrable_domain_than_the_page(
    url: str, headers: dict[str, str], third: bool
) -> None:
    assert Request("GET", url, headers).is_third_party is third


AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"
# What Chromium sends. Over plain HTTP it says no Fetch Metadata, unless the host is this machine.
NAVIGATION = {
    "upgrade-insecure-requests": "1",
    "user-agent": f"{AGENT} HeadlessChrome/140.0.0.0 Safari/537.36",
    "accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8",
}
CHROMIUM_HTTPS: list[tuple[str, dict[str, str], Resource]] = [
    ("/", {**NAVIGATION, "sec-fetch-dest": "document", "sec-fetch-mode": "navigate"}, "document"),
    ("/ad", {**NAVIGATION, "sec-fetch-dest": "iframe", "sec-fetch-mode": "navigate"}, "document"),
    ("/app", {"accept": "*/*", "sec-fetch-dest": "script"}, "script"),
    ("/sw.js", {"accept": "*/*", "sec-fetch-dest": "serviceworker"}, "script"),
    ("/w.js", {"accept": "*/*", "sec-fetch-dest": "worker"}, "script"),
    ("/look", {"accept": "text/css,*/*;q=0.1", "sec-fetch-dest": "style"}, "stylesheet"),
    ("/logo", {"accept": "image/avif,*/*;q=0.8", "sec-fetch-dest": "image"}, "image"),
    ("/f", {"accept": "*/*", "origin": "https://shop.test", "sec-fetch-dest": "font"}, "font"),
    ("/film", {"accept": "*/*", "range": "bytes=0-", "sec-fetch-dest": "video"}, "media"),
    ("/api.php", {"accept": "*/*", "sec-fetch-dest": "empty"}, "xhr"),
    ("/index.html", {"accept": "*/*", "sec-fetch-dest": "empty"}, "xhr"),
    ("/app.webmanifest", {"accept": "*/*", "sec-fetch-dest": "manifest"}, "other"),
    ("/x", {"accept": "*/*", "sec-fetch-dest": "something-new"}, "other"),
    ("/ws", {"connection": "Upgrade", "upgrade": "websocket"}, "websocket"),
    ("/ws", {"upgrade": "WebSocket", "sec-fetch-dest": "empty"}, "websocket"),
]
FROM = {"referer": "http://shop.test/"}
CHROMIUM_HTTP: list[tuple[str, dict[str, str], Resource]] = [
    ("/", NAVIGATION, "document"),
    ("/cart.php?id=1", {**NAVIGATION, **FROM}, "document"),
    ("/download.pdf", {**NAVIGATION, **FROM}, "document"),
    ("/app.js?v=3", {"accept": "*/*", **FROM}, "script"),
    ("/look.css", {"accept": "text/css,*/*;q=0.1", **FROM}, "stylesheet"),
    ("/bundle", {"accept": "text/css,*/*;q=0.1", **FROM}, "stylesheet"),
    ("/logo", {"accept": "image/avif,image/webp,*/*;q=0.8", **FROM}, "image"),
    ("/f.WOFF2", {"accept": "*/*", "origin": "http://shop.test", **FROM}, "font"),
    ("/film.mp4", {"accept": "*/*", "range": "bytes=0-", **FROM}, "media"),
    ("/api/cart", {"accept": "*/*", **FROM}, "xhr"),
    ("/api/cart", {"accept": "application/json, text/plain, */*", **FROM}, "xhr"),
    ("/cart.php", {"accept": "*/*", **FROM}, "xhr"),
    ("/part.html", {"accept": "*/*", "x-requested-with": "XMLHttpRequest", **FROM}, "xhr"),
    ("/part", {"accept": "text/html, */*; q=0.01", "x-requested-with": "XMLHttpRequest"}, "xhr"),
    ("/news", {"accept": "text/event-stream", **FROM}, "xhr"),
    ("/data.json", {"accept": "*/*", **FROM}, "xhr"),
]
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
HTML = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
OTHER_BROWSERS_HTTP: list[tuple[str, dict[str, str], Resource]] = [
    ("/", {"user-agent": FIREFOX, "accept": HTML}, "document"),
    ("/", {"user-agent": f"{AGENT} Version/18.0 Safari/605.1.15", "accept": HTML}, "document"),
    # A browser whose name was changed.
    ("/", {"upgrade-insecure-requests": "1", "user-agent": "x/1", "accept": HTML}, "document"),
    # A page's own request without a Referer; Playwright's ``page.request``.
    ("/api/cart", {"user-agent": FIREFOX, "accept": "*/*"}, "other"),
    ("/api/cart.html", {"user-agent": FIREFOX, "accept": "*/*"}, "other"),
]
PROGRAMS: list[tuple[str, dict[str, str], Resource]] = [
    ("/", {"user-agent": "curl/8.5.0", "accept": "*/*"}, "other"),
    ("/cart", {"user-agent": "python-requests/2.32", "accept": "*/*"}, "other"),
    ("/simple/", {"user-agent": "Python-urllib/3.12"}, "other"),
    ("/simple/", {"user-agent": "python-httpx/0.28.1", "accept": "text/html"}, "other"),
    ("/simple/", {"user-agent": "pip/25.0", "accept": HTML}, "other"),
    ("/pypi/warex/json", {"user-agent": "python-httpx/0.28.1", "accept": "*/*"}, "other"),
    ("/pypi.json", {"user-agent": "Python-urllib/3.12"}, "other"),
    ("/s1.js", {"user-agent": "Python-urllib/3.12"}, "other"),
    ("/api", {"user-agent": "node-fetch", "accept": "application/json"}, "other"),
    ("/", {"user-agent": "Mozilla/5.0", "accept": "*/*"}, "other"),
    ("/cart.html", {"accept": "*/*"}, "other"),
    ("/cart", {}, "other"),
    ("/order", {"accept": HTML, "referer": "http://shop.test/"}, "xhr"),
    ("/app.js", {"accept": "*/*"}, "script"),
    ("/archive.zip", {"accept": "*/*"}, "other"),
    ("/api", {"accept": "application/json"}, "xhr"),
    ("/api", {"accept": "application/vnd.api+json"}, "xhr"),
    ("/api", {"user-agent": "node", "accept": "*/*", "sec-fetch-mode": "cors"}, "xhr"),
    # Somebody says so.
    ("/", {"user-agent": "curl/8.5.0", "accept": "*/*", "sec-fetch-dest": "document"}, "document"),
]


@pytest.mark.parametrize(
    ("path", "headers", "expected"), CHROMIUM_HTTPS + CHROMIUM_HTTP + OTHER_BROWSERS_HTTP + PROGRAMS
)
def test_what_a_request_is_for(path: str, headers: dict[str, str], expected: Resource) -> None:
    assert resource_of(Request("GET", f"http://shop.test{path}", headers)) == expected


@pytest.mark.parametrize(
    ("headers", "content_type", "expected"),
    [
        ({"accept": "*/*", **FROM}, "application/javascript; charset=utf-8", "script"),
        ({"accept": "*/*", **FROM}, "text/javascript", "script"),
        ({"accept": "*/*", **FROM}, "application/font-woff", "font"),
        ({"accept": "*/*", **FROM}, "font/woff2", "font"),
        ({"accept": "*/*", **FROM}, "VIDEO/mp4", "media"),
        ({"accept": "*/*", **FROM}, "application/problem+json", "xhr"),
        ({"accept": "*/*", **FROM}, "image/svg+xml", "image"),
        ({"accept": "*/*"}, "text/html", "other"),
        ({"user-agent": "pip/25.0", "accept": HTML}, "text/html", "other"),
        (NAVIGATION, "application/xhtml+xml", "document"),
        ({"accept": "*/*", **FROM}, "", "xhr"),
        ({"accept": "*/*", **FROM}, "application/octet-stream", "xhr"),
    ],
)
def test_the_answer_says_more_than_what_was_accepted(
    headers: dict[str, str], content_type: str, expected: Resource
) -> None:
    request = Request("GET", "http://shop.test/thing", headers)

    assert resource_of(request, Response(200, {"content-type": content_type})) == expected


def test_the_browsers_own_word_is_above_the_answer() -> None:
    script = Request("GET", "https://shop.test/app", {"sec-fetch-dest": "script"})

    assert resource_of(script, Response(404, {"content-type": "text/html"})) == "script"


def test_an_error_page_does_not_make_a_script_a_page() -> None:
    script = Request("GET", "http://shop.test/app.js", {"accept": "*/*", **FROM})

    assert resource_of(script, Response(404, {"content-type": "text/html"})) == "script"


def test_a_fragment_of_html_does_not_make_a_fetch_a_page() -> None:
    fetch = Request("GET", "http://shop.test/row/7", {"accept": "*/*", **FROM})

    assert resource_of(fetch, Response(200, {"content-type": "text/html"})) == "xhr"


def test_a_program_that_posts_asks_for_no_page_but_a_form_does() -> None:
    assert resource_of(Request("POST", "http://shop.test/v1/chat", {"accept": "*/*"})) == "xhr"
    assert resource_of(Request("POST", "http://shop.test/order", NAVIGATION)) == "document"


def test_a_programs_request_is_not_a_page_of_its_own() -> None:
    program = {"user-agent": "python-requests/2.32", "accept": HTML}

    assert not Request("GET", "https://index.test/simple/", program).is_top_level


def test_a_preflight_is_an_options_request_that_asks_for_a_method() -> None:
    asking = {"access-control-request-method": "POST"}

    assert Request("OPTIONS", "https://api.test/", asking).is_preflight
    assert not Request("OPTIONS", "https://api.test/").is_preflight
    assert not Request("GET", "https://api.test/", asking).is_preflight


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-purpose": "prefetch"},
        {"sec-purpose": "prefetch;prerender"},
        {"sec-purpose": "prefetch;anonymous-client-ip"},
        {"purpose": "prefetch"},
    ],
)
def test_a_request_ahead_of_need_is_a_prefetch(headers: dict[str, str]) -> None:
    assert Request("GET", "https://shop.test/", headers).is_prefetch
    assert not Request("GET", "https://shop.test/", {"purpose": "other"}).is_prefetch


def test_a_page_that_a_service_worker_fetches_is_a_page() -> None:
    asked = {"sec-fetch-dest": "empty", "sec-fetch-mode": "navigate"}
    request = Request("GET", "https://shop.test/", asked)
    assert resource_of(request) == "document"
    assert request.is_top_level
    by_script = Request("GET", "https://shop.test/", {**asked, "sec-fetch-mode": "cors"})
    assert resource_of(by_script) == "xhr"
    assert not by_script.is_top_level


def test_only_a_page_of_its_own_is_top_level() -> None:
    def is_top_level(headers: dict[str, str]) -> bool:
        return Request("GET", "http://shop.test/", headers).is_top_level

    assert is_top_level({**NAVIGATION, "sec-fetch-dest": "document"})
    assert is_top_level(NAVIGATION)
    assert not is_top_level({**NAVIGATION, "sec-fetch-dest": "iframe"})
    assert not is_top_level({"sec-fetch-dest": "empty"})
    assert not is_top_level({"accept": "*/*", **FROM})


@pytest.mark.parametrize(
    "url", ["http://[::1/a.js?b", "http://a]b/a.js?b#c", "HTTP://[x]:1/a.js?b"]
)
def test_a_host_that_can_be_none_breaks_nothing(url: str) -> None:
    request = Request("GET", url, {"accept": "*/*", **FROM})

    assert request.parts.hostname is None
    assert (request.parts.scheme, request.parts.path, request.parts.query) == ("http", "/a.js", "b")
    assert resource_of(request) == "script"


@pytest.mark.parametrize(
    ("headers", "by"),
    [
        ({}, ""),
        ({"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}, "script"),
        ({"sec-fetch-dest": "document", "sec-fetch-user": "?1"}, "user"),
        ({"sec-fetch-dest": "document", "sec-fetch-site": "none"}, "user"),
        ({"sec-fetch-dest": "iframe", "sec-fetch-user": "?1"}, "script"),
        ({"sec-fetch-dest": "empty", "sec-fetch-mode": "cors"}, "script"),
        ({"sec-fetch-dest": "document", "sec-purpose": "prefetch"}, None),
    ],
)
def test_a_browser_says_whether_its_user_opens_a_page(
    headers: dict[str, str], by: str | None
) -> None:
    assert Request("GET", "https://shop.test/", headers).asked_by == by


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("https://Shop.Example/a", "shop.example", 443),
        ("http://shop.example/a", "shop.example", 80),
        ("https://shop.example:8443/a", "shop.example", 8443),
        ("http://[::1]:81/a", "::1", 81),
        ("http://shop.example:99999/a", "shop.example", 80),
        ("http:///a", "", 80),
    ],
)
def test_a_request_has_its_host_and_its_port_or_its_schemes_own(
    url: str, host: str, port: int
) -> None:
    request = Request("GET", url)
    assert (request.host, request.port) == (host, port)
