"""A rule that can never match is named, and one that can is not."""

import pytest

from warex.scenarios.lint.unmatchable import exclusions_without_effect, unmatchable
from warex.scenarios.load import load_preset
from warex.scenarios.presets import preset_names
from warex.scenarios.scenario import Rule

SITES = ("https://shop.example", "http://127.0.0.1:8000")
SCRIPTS = {"kind": "javascript_failure"}
LOST = {"kind": "http_error", "stage": "response"}


MAY_MATCH: list[dict[str, object]] = [
    {},
    {"url": "*"},
    {"url": "*cart*"},
    {"url": "{sites}"},
    {"url": "{sites}/cart*"},
    {"url": "{sites}*.js"},
    {"url": "{sites}?q=*"},
    {"url": "*://*/cart"},
    {"url": "https://shop.example/*"},
    {"url": "HTTPS://Shop.Example:443/cart#top"},
    {"url": "https://*.example/*"},
    {"url": "https://sh*"},
    {"url": "wss://shop.example/*"},
    {"url": "wss://shop.example"},
    {"url": "wss://shop.example/*", "resource": ["websocket", "xhr"]},
    {"url": "https://shop.example", "resource": "websocket"},
    {"url": "http://127.0.0.1:8000/*", "method": "POST"},
    {"url": "*.css", "resource": ["stylesheet", "script"]},
    {"url": "*/data.json", "resource": "script"},
    {"url": "*.js", "resource": "document"},
    {"url": "*/list.php", "resource": "document"},
    {"method": "POST", "resource": ["document", "xhr"]},
    {"method": "DELETE"},
    {"url_exact": "https://shop.example", "resource": "document"},
    {"url_regex": "cart"},
    {"url_regex": "^https?://shop"},
    {"url_regex": "^http"},
    {"url_regex": "^.*://shop"},
    {"url_regex": "^https?://.*shop.example/"},
    {"url_regex": "^https://shop.+/"},
    {"url_regex": "^(https|wss)://shop"},
    {"url_regex": "(?i)^HTTPS://SHOP"},
    {"url_regex": "[#?]cart"},
    {"url_regex": "^https://shop\\.example/(cart|order)"},
    {"url_regex": r"\.(css|js)$", "resource": "script"},
]
"""Of rules that may match, and are about the sites or may be."""


def rule(
    match: dict[str, object], fault: object = None, trigger: dict[str, object] | None = None
) -> Rule:
    fault = fault or {"kind": "http_error"}
    trigger = trigger or {"always": True}
    return Rule.model_validate({"name": "r", "match": match, "trigger": trigger, "fault": fault})


@pytest.mark.parametrize(
    ("match", "why"),
    [
        ({"url": "shop.example/*"}, "write for instance `https://shop.example/*`"),
        ({"url": "/cart*"}, "write for instance `*://*/cart*`"),
        ({"url": "{sites}cart*"}, "what follows {sites} begins with / or *"),
        ({"url": "{sites}:8080/*"}, "what follows {sites} begins with / or *"),
        ({"url": "https://shop.example", "resource": "script"}, "a site's first page"),
        ({"url": "ftp://shop.example/*"}, "nothing is asked for over ftp://"),
        ({"url_exact": "https://me@shop.example/"}, "holds a user's name"),
        ({"url": "https://shop.example/gr\u00fcn"}, "percent-encoded ASCII"),
        ({"url": "https://shop.example/a b"}, "percent-encoded ASCII"),
        ({"url": "https://shop.example/.*cart"}, "looks like a regular expression"),
        ({"url": r"https://shop\.example/*"}, "looks like a regular expression"),
        ({"url_exact": "{sites}/cart"}, "url_exact takes {sites} literally"),
        ({"url_regex": "{sites}/cart"}, "url_regex takes {sites} literally"),
        ({"url_regex": "^shop"}, "no URL begins like `shop`"),
        ({"url_regex": "^wss://shop"}, "no URL begins like `wss://shop`"),
        ({"url": r"https://shop\.example/.*"}, r"`https://shop\.example/.*` looks like a regular"),
        ({"url_regex": "^https://Shop\\.example/"}, "compared in lower case"),
        ({"url_regex": "^https://shop\\.example:443/"}, "without the default port"),
        ({"url_regex": "/app#/cart"}, "without their fragment"),
        ({"url_regex": "/my cart"}, "percent-encoded"),
        ({"url": "*://*/favicon.ico"}, "excluded by `never`, `*://*/favicon.ico`, that is built"),
        ({"url": "{sites}/favicon.ico"}, "that is built in"),
        ({"url_exact": "https://plausible.io/api"}, "that is built in"),
        ({"url": "https://shop.example/health/*"}, "`https://shop.example/health*`, of the scen"),
        ({"method": "CONNECT"}, "opens a tunnel"),
        ({"method": "POST", "resource": "script"}, "whose resource is script are GET"),
        ({"method": ["PUT", "DELETE"], "resource": "document"}, "by GET or POST"),
        ({"url": "*.css", "resource": "script"}, "name stylesheet under `resource`"),
        ({"url": "{sites}/*.png", "resource": "font"}, "name image under `resource`"),
        ({"url_exact": "https://shop.example", "resource": "script"}, "a site's first page"),
        ({"url_regex": r"\.css$", "resource": "script"}, "name stylesheet under `resource`"),
        (
            {"url": "wss://shop.example/*", "resource": ["document", "xhr"]},
            "`wss://shop.example/*` is about WebSockets only, and the rule about document or xhr",
        ),
        ({"url_exact": "WS://shop.example/live", "resource": "xhr"}, "about WebSockets only"),
        ({"url": "https://{sites}/cart"}, "`https://{sites}/cart` has it elsewhere"),
        ({"url_regex": "^https://Shop.example/"}, "its regular expression says `Shop.example`"),
        ({"url_regex": "^https://shop.example:443/"}, "and it says `shop.example:443`"),
        ({"url": "*://shop.example:443/*"}, "`*://shop.example:443/*` says :443"),
        ({"url": "ws*://shop.example/*"}, "there are http, https, ws and wss"),
        ({"url_regex": "wss?://shop"}, "a WebSocket's URL is that of its handshake"),
        ({"url": "wss://shop.example/*", "method": "POST"}, "resource is websocket are GET"),
        ({"url": "*.png", "resource": "websocket"}, "about .png files, an image, and the rule"),
    ],
)
def test_a_match_that_no_request_fits_is_reported_with_the_reason(
    match: dict[str, object], why: str
) -> None:
    (messages,) = unmatchable(rule(match), never=("https://shop.example/health*",))

    assert messages.startswith("can never apply: ")
    assert why in messages


@pytest.mark.parametrize(
    ("match", "why"),
    [
        ({"status": [100, 103]}, "a status of 200 or above"),
        ({"content_type": "json"}, "`json` is not a media type"),
        ({"content_type": "text/html; charset=utf-8"}, "is not a media type"),
    ],
)
def test_an_answer_that_no_site_gives_is_reported(match: dict[str, object], why: str) -> None:
    (messages,) = unmatchable(rule(match, LOST))

    assert why in messages


@pytest.mark.parametrize("resource", ["script", ["image", "font"]])
def test_a_page_fault_on_other_resources_gives_a_warning(resource: object) -> None:
    (messages,) = unmatchable(rule({"resource": resource}, {"kind": "popup"}))

    assert "popup changes pages, and the rule is about" in messages
    assert messages.endswith("name document under `resource`.")
    assert not list(unmatchable(rule({"resource": ["script", "document"]}, {"kind": "popup"})))


@pytest.mark.parametrize(
    ("url", "possible"),
    [
        ("http://shop.example/*", False),
        ("http://shop.example:8080", False),
        ("http://[2001:db8::1]/*", False),
        ("https://shop.example/*", True),
        ("*://shop.example/*", True),
        ("http://*/cart", True),
        ("http://localhost:8000/*", True),
        ("http://app.localhost/*", True),
        ("http://127.0.0.1:8000/*", True),
        ("http://[::1]:8000/*", True),
        ("{sites}", True),
    ],
)
def test_a_worker_on_pages_of_plain_http_is_reported(url: str, possible: bool) -> None:
    reasons = list(unmatchable(rule({"url": url}, {"kind": "stale_service_worker"})))

    assert (not reasons) == possible
    assert possible or "needs a page over HTTPS or of localhost" in reasons[0]


def test_a_faults_own_default_is_named_where_it_is_what_excludes() -> None:
    (messages,) = unmatchable(rule({"url": "https://shop.example/style.css"}, SCRIPTS))

    assert messages == (
        "can never apply: its pattern is about .css files, a stylesheet, and the rule"
        " about script, the default of javascript_failure, only; name stylesheet under `resource`."
    )


@pytest.mark.parametrize(
    "trigger", [{"probability": 0.0}, {"random": {"times": 3, "probability": 0.0}}]
)
def test_a_probability_of_0_is_reported(trigger: dict[str, object]) -> None:
    assert list(unmatchable(rule({}, trigger=trigger))) == [
        "can never apply: its probability is 0."
    ]


def test_a_connection_fault_on_an_excluded_host_is_reported() -> None:
    (skipped,) = unmatchable(rule({"url": "https://plausible.io"}, {"kind": "connection_refused"}))

    assert "`never`" in skipped


@pytest.mark.parametrize("match", MAY_MATCH)
def test_a_rule_that_may_match_gives_no_warning(match: dict[str, object]) -> None:
    assert list(unmatchable(rule(match), sites=SITES)) == []


def test_a_glob_of_never_that_excludes_nothing_is_reported() -> None:
    (regex, scheme) = exclusions_without_effect(
        (r"^https://shop\.example/", "ftp://shop.example/*")
    )
    assert r"`^https://shop\.example/`: nothing is asked for over ^https://" in regex
    assert "nothing is asked for over ftp://" in scheme
    assert "looks like a regular" in next(
        iter(exclusions_without_effect((r"https://shop\.example/*",)))
    )
    assert list(exclusions_without_effect(("*", "*/health", "https://shop.example/health"))) == []
    assert list(exclusions_without_effect(("{sites}/health", "shop.example/*"))) == [
        "`never` takes {sites} literally, so `{sites}/health` excludes nothing.",
        "`never` excludes nothing by `shop.example/*`: no URL begins like `shop.example/*`; write"
        " for instance `https://shop.example/*`, or begin with *.",
    ]


@pytest.mark.parametrize("name", preset_names())
def test_no_preset_can_never_match(name: str) -> None:
    for each in load_preset(name).rules:
        assert list(unmatchable(each, sites=SITES)) == []


def test_a_fault_of_writes_that_is_about_reading_only_is_reported() -> None:
    def reasons(*methods: str) -> list[str]:
        match: dict[str, object] = {"method": list(methods)} if methods else {}
        return list(unmatchable(rule(match, {"kind": "write_conflict"})))

    assert reasons("GET") == [
        "can never apply: write_conflict is about writes, and the rule about GET only."
    ]
    assert reasons() == reasons("GET", "POST") == reasons("DELETE") == []
