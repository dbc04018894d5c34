"""A world that changes under its visitor, on the wire: what client and site meet."""

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import httpx
import pytest

from tests.proxy.support.client import trusting
from tests.proxy.support.lanes import Begin, Lane, scenario
from tests.proxy.support.origin import Answer, Origin, Seen
from tests.proxy.support.page_reports import PageScript
from warex.faults import Fault
from warex.faults.world.cookie_loss import CookieLoss
from warex.faults.world.item_gone import ItemGone
from warex.faults.world.price_change import PriceChange
from warex.faults.world.two_factor import TwoFactor
from warex.faults.world.write_conflict import WriteConflict
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Trigger
from warex.traces import (
    ChangedValue,
    FaultDelivered,
    FaultMissed,
    FaultPlanned,
    HarnessBroke,
    Witness,
)
from warex_testbed.server import Testbed

pytestmark = pytest.mark.wire

HTML = (b"Content-Type", b"text/html; charset=utf-8")
PAGE = {"sec-fetch-dest": "document", "sec-fetch-mode": "navigate", "user-agent": "Mozilla/5.0"}
DATA = {"sec-fetch-dest": "empty", "sec-fetch-mode": "cors", "user-agent": "Mozilla/5.0"}
FIRST = Trigger(first=1)
NUMBERS = count()


@contextmanager
def visiting(
    begin: Begin, fault: Fault, trigger: Trigger = FIRST, **config: Any
) -> Iterator[tuple[Lane, httpx.Client]]:
    with (
        begin(scenario=scenario(fault, trigger, **config.pop("rule", {})), **config) as lane,
        httpx.Client(proxy=lane.url, timeout=10) as client,
    ):
        yield lane, client
    assert not lane.events(HarnessBroke)


def occurrences(lane: Lane) -> int:
    return len({it.repeat_of or it.injection for it in lane.events(FaultPlanned)})


# ---- write_conflict


def test_a_form_is_saved_once_its_page_was_loaded_again(begin: Begin, plain: Origin) -> None:
    url = f"http://127.0.0.1:{plain.port}"
    form = PAGE | {"referer": f"{url}/notes/3/edit", "content-type": "text/plain"}
    with visiting(begin, WriteConflict()) as (lane, client):
        first = client.post(f"{url}/notes/3", headers=form, content=b"a=1")
        again = client.post(f"{url}/notes/3", headers=form, content=b"a=1")
        assert (first.status_code, again.status_code) == (409, 409)
        assert 'href="/notes/3/edit"' in first.text
        assert plain.seen == []
        client.get(f"{url}/notes/3/edit", headers=PAGE)
        assert client.post(f"{url}/notes/3", headers=form, content=b"a=2").status_code == 200
        assert client.post(f"{url}/notes/4", headers=form, content=b"a=2").status_code == 200
    assert [(it.method, it.body) for it in plain.seen] == [
        ("GET", b""), ("POST", b"a=2"), ("POST", b"a=2"),
    ]  # fmt: skip
    assert len(lane.events(FaultDelivered)) == 2
    assert occurrences(lane) == 1


@pytest.mark.parametrize("method", ["PUT", "PATCH", "POST"])
def test_data_is_saved_once_it_was_fetched_again(begin: Begin, plain: Origin, method: str) -> None:
    place = f"http://127.0.0.1:{plain.port}/api/notes/3"
    with visiting(begin, WriteConflict()) as (_, client):
        refused = client.request(method, place, headers=DATA | {"if-match": '"1"'}, json={"a": 1})
        assert refused.status_code == 412
        assert isinstance(refused.json(), dict)
        client.get(place, headers=DATA)
        assert client.request(method, place, headers=DATA, json={"a": 1}).status_code == 200
    assert [it.method for it in plain.seen] == ["GET", method]


def test_a_site_of_the_testbed_never_sees_the_save_that_is_refused(begin: Begin) -> None:
    with Testbed() as bed, visiting(
        begin, WriteConflict(until="retry"),
        maps=(f"http://market.warex.test=http://127.0.0.1:{bed.port}",),
    ) as (_, client):  # fmt: skip
        cart = "http://market.warex.test/api/cart"
        wanted = {"product": 1, "quantity": 1}
        assert client.post(cart, headers=DATA, json=wanted).status_code == 409
        saved = client.post(cart, headers=DATA, json=wanted)
        assert (saved.status_code, saved.json()["pieces"]) == (201, 4)


# ---- cookie_loss


async def with_session(
    seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Answer with the cookies that came; a visitor without a session gets a new one."""
    cookie = seen.header("cookie") or ""
    name = f"sid=new{next(NUMBERS)}"
    fresh = "" if "sid=" in cookie else f"Set-Cookie: {name}; Path=/; HttpOnly\r\n"
    body = json.dumps(cookie).encode()
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{fresh}Content-Length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body)


def test_cookie_loss_drops_session_cookies_on_both_sides(begin: Begin, plain: Origin) -> None:
    plain.routes |= {"/": with_session, "/plain": Answer(headers=[HTML]), "/shop/cart": Answer()}
    url = f"http://127.0.0.1:{plain.port}"
    with visiting(begin, CookieLoss(), Trigger(nth=(2,))) as (lane, client):
        client.cookies.set("sid", "old", domain="127.0.0.1", path="/")
        client.cookies.set("cart", "7", domain="127.0.0.1", path="/shop")
        client.cookies.set("theme", "dark", domain="127.0.0.1", path="/")
        assert client.get(f"{url}/", headers=PAGE).json() == "sid=old; theme=dark"
        client.get(f"{url}/shop/cart", headers=PAGE)
        assert [*client.cookies] == ["theme"]
        assert client.get(f"{url}/", headers=PAGE).json() == "theme=dark"
        assert "sid=new" in client.get(f"{url}/", headers=PAGE).json()
    assert [it.header("cookie") for it in plain.seen][1] == "theme=dark"
    (done,) = lane.events(FaultDelivered)
    assert done.changes == [
        ChangedValue(where="cookie", before="cart", after=None),
        ChangedValue(where="cookie", before="sid", after=None),
    ]


def test_a_session_that_begins_later_is_lost_then(begin: Begin, plain: Origin) -> None:
    plain.routes["/"] = with_session
    url = f"http://127.0.0.1:{plain.port}/"
    with visiting(begin, CookieLoss()) as (lane, client):
        first, second, third, fourth = (client.get(url, headers=PAGE).json() for _ in range(4))
        assert (first, second) == ("", "")
        assert third == fourth
        assert third.startswith("sid=new")
    assert [it.reason for it in lane.events(FaultMissed)] == ["nothing_to_rewrite"]
    assert len(lane.events(FaultDelivered)) == 1
    assert occurrences(lane) == 1


def test_cookies_that_http2_divides_are_lost_too(
    begin: Begin, secure_h2: Origin, ca: CertificateAuthority
) -> None:
    rule = scenario(CookieLoss(), FIRST)
    cookies = [("cookie", "sid=a"), ("cookie", "theme=b"), ("cookie", "user=c")]
    with (
        begin(scenario=rule) as lane,
        httpx.Client(
            proxy=lane.url, http2=True, verify=trusting(ca.certificate), timeout=10
        ) as client,
    ):
        answer = client.get(
            f"https://localhost:{secure_h2.port}/", headers=[*PAGE.items(), *cookies]
        )
        assert answer.http_version == "HTTP/2"
        expired = answer.headers.get_list("set-cookie")
        assert {it.partition("=")[0] for it in expired} == {"sid", "user"}
        assert all("Secure" in it for it in expired)
    assert [it.header("cookie") for it in secure_h2.seen] == ["theme=b"]


def test_on_a_site_without_cookies_it_is_missed(begin: Begin) -> None:
    with Testbed() as bed, visiting(
        begin, CookieLoss(), Trigger(always=True),
        maps=(f"http://mail.warex.test=http://127.0.0.1:{bed.port}",),
    ) as (lane, client):  # fmt: skip
        assert client.get("http://mail.warex.test/", headers=PAGE).status_code == 200
    assert {it.reason for it in lane.events(FaultMissed)} == {"nothing_to_rewrite"}
    assert not lane.events(Witness)


# ---- two_factor


def form_in(text: str) -> str:
    match = re.search(r'action="(/[0-9a-f]{16})"', text)
    assert match
    return match[1]


def test_a_code_that_a_page_of_the_site_shows_passes_and_stays_passed(
    begin: Begin, plain: Origin
) -> None:
    plain.routes |= {"/": Answer(headers=[HTML], body=b"<h1>Start</h1>")}
    url = f"http://127.0.0.1:{plain.port}"
    with visiting(begin, TwoFactor(), Trigger(always=True)) as (lane, client):
        path = form_in(client.get(f"{url}/", headers=PAGE).text)
        refused = client.post(url + path, data={"code": "000000"}, headers=PAGE)
        assert 'role="alert"' in refused.text
        assert plain.seen == []
        messages = client.get(f"{url}{path}/messages", headers=PAGE).text
        code = re.search(r"code is ([0-9]{6})", messages)
        assert code
        passed = client.post(url + path, data={"code": code[1]}, headers=PAGE)
        assert (passed.status_code, passed.headers["location"]) == (303, "/")
        assert "Start" in client.get(f"{url}/", headers=PAGE).text
        client.cookies.clear()
        assert "Start" in client.get(f"{url}/", headers=PAGE).text
    assert [it.what for it in lane.events(Witness)] == ["wrong_code", "cleared"]
    assert [it.target for it in plain.seen] == ["/", "/"]


@pytest.mark.parametrize(("wait", "passes"), [(3600, False), (0, True)])
def test_a_confirmation_elsewhere_takes_its_time(begin: Begin, wait: float, passes: bool) -> None:
    url = "http://inbox.warex.test"
    with Testbed() as bed, visiting(
        begin, TwoFactor(way="wait", wait=wait), maps=(f"{url}=http://127.0.0.1:{bed.port}",),
    ) as (lane, client):  # fmt: skip
        path = form_in(client.get(f"{url}/", headers=PAGE).text)
        assert (client.post(url + path, headers=PAGE).status_code == 303) is passes
        assert ("Clearwell" in client.get(f"{url}/", headers=PAGE).text) is passes
    assert [it.what for it in lane.events(Witness)] == ["cleared" if passes else "too_early"]


# ---- item_gone


def test_an_item_of_a_shop_is_gone_and_its_others_stay(begin: Begin) -> None:
    shop = "http://market.warex.test"
    with Testbed() as bed, visiting(
        begin, ItemGone(), maps=(f"{shop}=http://127.0.0.1:{bed.port}",),
    ) as (lane, client):  # fmt: skip
        listed = client.get(f"{shop}/offers", headers=PAGE).text
        assert client.get(f"{shop}/products/2", headers=PAGE).status_code == 404
        assert client.get(f"{shop}/products/2/reviews", headers=DATA).status_code == 404
        assert client.get(f"{shop}/products/2", headers=PAGE).status_code == 404
        assert client.get(f"{shop}/products/3", headers=PAGE).status_code == 200
        again = client.get(f"{shop}/offers", headers=PAGE).text
        assert re.sub(r"<script>.*?</script>", "", again, flags=re.DOTALL) == listed
        assert client.post(f"{shop}/products/2/wish", headers=PAGE).status_code == 404
    delivered = lane.events(FaultDelivered)
    assert {it.changes[0].where for it in delivered} == {"item"}
    assert occurrences(lane) == 1
    assert "nothing_to_rewrite" in {it.reason for it in lane.events(FaultMissed)}


def test_the_basket_of_an_api_no_longer_counts_what_is_gone(begin: Begin, plain: Origin) -> None:
    lamp = {"id": 1, "product_id": 7, "name": "Lamp", "price": 20.5, "quantity": 2}
    desk = {"id": 2, "product_id": 8, "name": "Desk", "price": 100.0, "quantity": 1}
    cart = json.dumps({"items": [lamp, desk], "total": 141.0}).encode()
    kind = [(b"Content-Type", b"application/json")]
    plain.routes |= {"/api/cart": Answer(headers=kind, body=cart)}
    url = f"http://127.0.0.1:{plain.port}"
    with visiting(begin, ItemGone(status=410)) as (lane, client):
        missing = client.get(f"{url}/api/products/7", headers=DATA)
        assert (missing.status_code, type(missing.json())) == (410, dict)
        assert client.get(f"{url}/api/cart", headers=DATA).json() == {
            "items": [desk], "total": 100.0,
        }  # fmt: skip
        assert client.get(f"{url}/api/products/8", headers=DATA).status_code == 200
    assert [it.before for it in lane.events(FaultDelivered)[1].changes] == ["Lamp", "141.0"]
    assert plain.paths == ["/api/cart", "/api/products/8"]


# ---- price_change


def test_data_has_the_new_prices_and_the_page_gets_the_list(begin: Begin, plain: Origin) -> None:
    cart = {"items": [{"name": "Lamp", "price": 20.5, "quantity": 2}], "total": 41.0}
    kind = [(b"Content-Type", b"application/json")]
    plain.routes |= {
        "/": Answer(headers=[HTML], body=b"<h1>Start</h1>"),
        "/api/cart": Answer(headers=kind, body=json.dumps(cart).encode()),
        "/api/lamps": Answer(headers=kind, body=json.dumps(cart["items"]).encode()),
    }
    url = f"http://127.0.0.1:{plain.port}"
    with visiting(begin, PriceChange(factor=1.5)) as (lane, client):
        script = PageScript(client.get(f"{url}/", headers=PAGE).content)
        assert client.get(f"{url}/api/cart", headers=DATA).json()["total"] == 61.5
        assert client.get(f"{url}/api/lamps", headers=DATA).json() == cart["items"]
        asked = client.post(url + script.path, content=script.query("data", ""))
        assert asked.json() == [["20.5", "30.75"], ["41.0", "61.5"]]
        client.post(url + script.path, content=script.report("nothing", detail="no_price"))
    (done,) = lane.events(FaultDelivered)
    assert [(it.where, it.before, it.after) for it in done.changes] == [
        ("/items/0/price", "20.5", "30.75"), ("/total", "41.0", "61.5"),
    ]  # fmt: skip
    assert [it.detail for it in lane.events(Witness)] == [
        "the page has neither the price of one item nor a basket that adds up"
    ]
    assert occurrences(lane) == 1
