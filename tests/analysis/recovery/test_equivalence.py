import pytest

from warex.analysis.recovery.equivalence import (
    is_idempotent,
    is_write,
    same_operation,
    same_page,
    seems_to_read,
)
from warex.traces.events import RequestSeen

CART = "https://shop.example/cart"


def _asked(method: str = "GET", url: str = CART, operation: str = "", body: int = 0) -> RequestSeen:
    return RequestSeen(
        exchange="x1",
        method=method,
        url=url,
        resource="xhr",
        http_version="HTTP/2",
        connection="c1",
        size=0,
        body=body,
        operation=operation,
    )


@pytest.mark.parametrize(
    "other",
    [
        "https://shop.example/cart#total",
        "https://shop.example/cart/",
        "https://shop.example/cart/index.html",
        "https://www.shop.example/cart",
        "http://shop.example/cart",
        "https://shop.example:443/cart",
        "https://shop.example/cart?_=1700000000",
        "https://shop.example/cart?nocache=1",
        "https://shop.example/cart?reload=true",
        "https://shop.example/cart?nocache=[redacted:26:0a1b2c3d]",
    ],
)
def test_what_changes_nothing_in_the_page_makes_no_other_page(other: str) -> None:
    assert same_page(CART, other)
    assert same_page(other, CART)


@pytest.mark.parametrize(
    "other",
    [
        "https://shop.example/",
        "https://shop.example/cart/2",
        "https://shop.example/Cart",
        "https://shop.example:8443/cart",
        "https://m.shop.example/cart",
        "https://shop.example/cart?page=2",
        "https://shop.example/cart?t=shoes",
        "https://shop.example/cart?q=",
        "https://shop.example/cart?v=[redacted:26:0a1b2c3d]",
        "",
    ],
)
def test_another_address_is_another_page(other: str) -> None:
    assert not same_page(CART, other)


def test_only_a_stamp_may_differ_where_both_have_the_parameter() -> None:
    assert same_page(f"{CART}?_=1", f"{CART}?_=2")
    assert not same_page(f"{CART}?v=1", f"{CART}?v=2")


@pytest.mark.parametrize("url", ["https://[::1/", "https://a:b/", "about:blank"])
def test_an_invalid_url_is_the_same_only_as_itself(url: str) -> None:
    assert same_page(url, url)
    assert not same_page(url, CART)


def test_operations_of_one_address_are_distinguished() -> None:
    url = "https://shop.example/graphql"
    cart = _asked("POST", url, "query Cart")

    assert same_operation(cart, _asked("POST", url, "query Cart", body=3))
    assert not same_operation(cart, _asked("POST", url, "mutation Order"))
    assert not same_operation(cart, _asked("POST", url))


def test_graphql_requests_without_operation_are_equal_by_their_body() -> None:
    url = "https://shop.example/graphql"

    assert same_operation(_asked("POST", url, body=1), _asked("POST", url, body=1))
    assert not same_operation(_asked("POST", url, body=1), _asked("POST", url, body=2))
    assert same_operation(_asked("POST", body=1), _asked("POST", body=2))


def test_a_query_writes_nothing_though_it_is_a_post() -> None:
    assert not is_write(_asked("POST", operation="query Cart"))
    assert is_write(_asked("POST", operation="mutation Order"))
    assert is_write(_asked("DELETE"))
    assert not is_write(_asked("HEAD"))


def test_idempotent_requests_may_be_repeated() -> None:
    assert is_idempotent(_asked("PUT"))
    assert not is_idempotent(_asked("POST"))


@pytest.mark.parametrize(
    ("operation", "reads"),
    [
        ("Entries", True),
        ("query Cart", True),
        ("orderHistory", True),
        ("AddEntry", False),
        ("mutation Cart", False),
        ("cartUpdate", False),
        ("", False),
    ],
)
def test_an_operation_of_unknown_kind_is_taken_by_its_name(operation: str, reads: bool) -> None:
    assert seems_to_read(_asked("POST", "https://shop.example/graphql", operation)) is reads
