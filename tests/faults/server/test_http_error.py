import json

import pytest
from pydantic import ValidationError

from warex.effects import Delay, Reply
from warex.exchange import Exchange, Request
from warex.faults.server.http_error import HttpError
from warex.seeds import KeyedRng

LUCK = KeyedRng(1, "shop-down")
PAGE = Request("GET", "https://shop.test/cart", {"sec-fetch-dest": "document"})
CALL = Request(
    "GET", "https://shop.test/api/cart", {"sec-fetch-dest": "empty", "accept": "application/json"}
)


def reply_of(fault: HttpError, request: Request = PAGE, rng: KeyedRng = LUCK) -> Reply:
    effects, _ = fault.effects(Exchange("1", request), {}, rng)
    reply = effects[-1]
    assert isinstance(reply, Reply)
    return reply


def test_answers_500_at_once_with_a_page() -> None:
    effects, _ = HttpError().effects(Exchange("1", PAGE), {}, LUCK)

    [reply] = effects
    assert isinstance(reply, Reply)
    assert reply.status == 500
    assert b"500" in reply.body


def test_a_wait_comes_before_the_answer() -> None:
    effects, _ = HttpError(delay=2).effects(Exchange("1", PAGE), {}, LUCK)

    assert effects[0] == Delay(2.0)
    assert isinstance(effects[1], Reply)


def test_no_cache_may_keep_it() -> None:
    assert reply_of(HttpError(status=404)).headers["cache-control"] == "no-store"
    assert reply_of(HttpError(body="gone")).headers["cache-control"] == "no-store"


@pytest.mark.parametrize("status", [429, 503])
def test_a_status_that_usually_says_when_to_come_back_does_so(status: int) -> None:
    assert reply_of(HttpError(status=status)).headers["retry-after"] == "5"
    assert reply_of(HttpError(status=status, retry_after=30)).headers["retry-after"] == "30"
    assert "retry-after" not in reply_of(HttpError(status=status, retry_after=None)).headers


@pytest.mark.parametrize("status", [400, 404, 408, 413, 500, 502, 504])
def test_no_other_status_says_when_to_come_back_unasked(status: int) -> None:
    assert "retry-after" not in reply_of(HttpError(status=status)).headers


@pytest.mark.parametrize("status", [408, 413])
def test_where_coming_back_later_has_a_meaning_it_may_be_asked_for(status: int) -> None:
    assert reply_of(HttpError(status=status, retry_after=0)).headers["retry-after"] == "0"


@pytest.mark.parametrize("status", [400, 404, 500, 502])
def test_where_coming_back_later_means_nothing_it_is_refused(status: int) -> None:
    with pytest.raises(ValidationError, match=rf"status {status}; it goes with 408, 413, 429, 503"):
        HttpError(status=status, retry_after=3)


@pytest.mark.parametrize("wait", [-1, 86_401, 1.5, True, "soon", float("nan")])
def test_a_retry_after_that_is_not_a_number_of_seconds_is_refused_by_name(wait: object) -> None:
    with pytest.raises(ValidationError, match="retry_after"):
        HttpError.model_validate({"status": 503, "retry_after": wait})


@pytest.mark.parametrize("retry_after", [None, 5, 30])
def test_the_wait_survives_being_written_down(retry_after: int | None) -> None:
    fault = HttpError(status=503, retry_after=retry_after)

    assert HttpError.model_validate_json(fault.model_dump_json()) == fault


def test_a_given_body_replaces_the_page() -> None:
    html = reply_of(HttpError(body=" <h1>Büro zu</h1>", page="nginx"))
    text = reply_of(HttpError(body="closed"))

    assert html.body == " <h1>Büro zu</h1>".encode()
    assert html.headers["content-type"] == "text/html; charset=utf-8"
    assert text.headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize("body", ["", "\ud800", 5])
def test_a_body_that_cannot_be_sent_or_is_empty_is_refused_by_name(body: object) -> None:
    with pytest.raises(ValidationError, match="body"):
        HttpError.model_validate({"body": body})


@pytest.mark.parametrize(
    ("status", "method", "name", "value"),
    [
        (401, "GET", "www-authenticate", "Bearer"),
        (407, "GET", "proxy-authenticate", "Bearer"),
        (405, "GET", "allow", "POST"),
        (405, "POST", "allow", "GET, HEAD"),
    ],
)
def test_headers_that_the_rfc_demands_are_there(
    status: int, method: str, name: str, value: str
) -> None:
    request = Request(method, PAGE.url)

    assert reply_of(HttpError(status=status), request).headers[name] == value


def test_a_program_that_asks_for_json_gets_json_and_a_person_never_does() -> None:
    problem = reply_of(HttpError(status=503), CALL)

    assert problem.headers["content-type"] == "application/problem+json"
    assert json.loads(problem.body)["status"] == 503
    for seed in range(60):
        kind = reply_of(HttpError(), PAGE, KeyedRng(seed, "r")).headers["content-type"]
        assert kind in ("text/html; charset=utf-8", "text/plain; charset=utf-8")


@pytest.mark.parametrize("accept", ["*/*", "text/html, application/json", ""])
def test_a_program_that_does_not_ask_for_json_gets_a_page(accept: str) -> None:
    request = Request("GET", CALL.url, {"sec-fetch-dest": "empty", "accept": accept})

    assert not reply_of(HttpError(), request).headers["content-type"].endswith("json")


def test_a_named_page_is_used_whoever_asks() -> None:
    assert b"Whitelabel" in reply_of(HttpError(page="spring"), CALL).body
    assert reply_of(HttpError(page="api"), PAGE).body.startswith(b"{")


def test_a_framework_never_claims_to_be_a_gateway() -> None:
    bodies = {reply_of(HttpError(status=502), PAGE, KeyedRng(seed, "r")).body for seed in range(80)}

    assert not [body for body in bodies if b"Whitelabel" in body or b"__next" in body]


def test_the_explanation_has_the_faults_values() -> None:
    assert HttpError().explain() == (
        "is answered 500 with a server's error page (a family chosen by seed)"
    )
    assert HttpError(status=503, page="nginx", delay=1, stage="response").explain() == (
        "is handled by the site, held for 1 s and then answered 503 with a server's error page"
        " (family nginx) and Retry-After: 5"
    )
    assert HttpError(body="x").explain() == "is answered 500 with a body of its own"
