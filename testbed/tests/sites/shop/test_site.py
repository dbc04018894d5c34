import re

import pytest

from tests.visit import get, post, visit
from warex_testbed.sites.shop import ShopSite, make
from warex_testbed.sites.shop.seed import FILES

PAGES = (
    "/", "/departments/1", "/departments/2?sort=price", "/offers", "/search?q=a", "/products/1",
    "/products/1/reviews", "/products/1/questions", "/products/1/reviews/new", "/wishlist", "/cart",
    "/account", "/orders", "/addresses", "/addresses/1", "/addresses/new",
)  # fmt: skip


@pytest.fixture(params=FILES)
def site(request: pytest.FixtureRequest) -> ShopSite:
    return make(request.param)


def test_every_page_loads_three_scripts_and_nothing_from_elsewhere(site: ShopSite) -> None:
    orders = [f"/orders/{order['number']}" for order in site.state()["orders"]]
    for target in (*PAGES, *orders):
        answer = visit(site.app, "GET", target)
        html = answer.body.decode()
        assert answer.status == 200, target
        assert html.count("<script ") == html.count("</script>") == 3
        links = re.findall(r'(?:href|src|action)="([^"]*)"', html)
        assert all(link.startswith(("/", "?")) for link in links), target
        assert len(answer.body) < 100_000


def test_every_static_file_a_page_names_is_there(site: ShopSite) -> None:
    for path in set(re.findall(r'"(/static/[^"]*)"', get(site, "/"))):
        assert visit(site.app, "GET", path).status == 200, path


def test_every_link_leads_somewhere(site: ShopSite) -> None:
    waiting, seen = ["/"], set[str]()
    while waiting:
        target = waiting.pop().replace("&amp;", "&")
        if target in seen or "?" in target:
            continue
        seen.add(target)
        answer = visit(site.app, "GET", target)
        assert answer.status in (200, 303), target
        waiting += re.findall(r'<a [^>]*?href="(/[^"]*)"', answer.body.decode())
    assert {"/orders", "/products/15", "/offers"} <= seen


def test_what_is_gone_is_a_page_without_the_rest_of_the_site(site: ShopSite) -> None:
    for path in ("/products/999", "/departments/99", "/orders/1", "/nowhere", "/addresses/9"):
        answer = visit(site.app, "GET", path)
        assert answer.status == 404
        assert b"There is nothing here" in answer.body
        assert b"<nav" not in answer.body
    assert visit(site.app, "DELETE", "/api/cart/99").content_type == "application/json"


def test_what_a_person_types_is_shown_as_text(site: ShopSite) -> None:
    nasty = '"><script>alert(1)</script>'
    post(site, "/products/1/questions", text=nasty)
    wrong = post(site, "/addresses", name=nasty).body.decode()
    for html in (wrong, get(site, "/products/1/questions"), get(site, "/search?q=%3Cscript%3E")):
        assert "<script>" not in html


def test_a_change_is_said_once_more_by_a_reload_and_unknown_ones_never(site: ShopSite) -> None:
    assert get(site, "/cart?done=added") == get(site, "/cart?done=added")
    assert 'role="status"' in get(site, "/account?done=added")
    assert 'role="status"' not in get(site, "/account?done=nonsense")


def test_two_shops_share_nothing(site: ShopSite) -> None:
    host = next(host for host in FILES if make(host).state() == site.state())
    post(site, "/products/2/wish")
    assert make(host).state() != site.state()
