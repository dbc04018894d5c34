"""A site of a fault's own: answered here, and evidence of the injection that led to it."""

import re
import socket

import httpx
import pytest

from tests.proxy.support.client import trusting
from tests.proxy.support.lanes import Begin, Lane, scenario
from tests.proxy.support.origin import Answer, Origin
from warex.faults.popups.malicious_popup import MaliciousPopup
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Trigger
from warex.traces import FaultDelivered, HarnessBroke, RequestSeen, ResponseSeen, Witness

pytestmark = pytest.mark.wire

HTML = (b"Content-Type", b"text/html")
BROWSER = {"sec-fetch-dest": "document", "accept": "text/html"}
FAULT = MaliciousPopup(lure="prize")
assert MaliciousPopup.own_site is not None
HOST = MaliciousPopup.own_site.hosts[0]


def witnessed(lane: Lane) -> list[tuple[str, str]]:
    return [(it.what, it.detail) for it in lane.events(Witness)]


@pytest.mark.parametrize("scheme", ["https", "http"])
def test_a_visit_is_evidence_of_its_injection(
    begin: Begin, plain: Origin, ca: CertificateAuthority, scheme: str
) -> None:
    plain.routes["/"] = Answer(headers=[HTML], body=b"<head></head><p>Shop")
    with (
        begin(scenario=scenario(FAULT, Trigger(first=1))) as lane,
        httpx.Client(
            proxy=lane.url, verify=trusting(ca.certificate), headers=BROWSER, http2=True
        ) as client,
    ):
        page = client.get(f"http://127.0.0.1:{plain.port}/").text
        match = re.search(r'"target":"https://([^/"]+)/"', page)
        assert match
        site = f"{scheme}://{match[1]}"
        landing = client.get(f"{site}/")
        client.get(f"{site}/search", params={"q": "laptop"})
        client.post(f"{site}/claim", data={"name": "Ada"})

    assert landing.status_code == 200
    assert "Prize Center" in landing.text
    assert witnessed(lane) == [
        ("visited", "/"),
        ("visited", "/search"),
        ("typed", "q: laptop"),
        ("visited", "/claim"),
        ("typed", "name: Ada"),
    ]
    assert {(it.exchange, it.injection) for it in lane.events(Witness)} == {("x1", "i1")}
    assert len(lane.events(RequestSeen)) == 1
    assert not lane.events(HarnessBroke)


def test_a_page_that_is_not_changed_leads_nowhere(begin: Begin, plain: Origin) -> None:
    plain.routes["/"] = Answer(headers=[HTML], body=b"<head></head><p>Shop")
    plain.routes["/plain"] = Answer(headers=[(b"Content-Type", b"text/plain")], body=b"Shop")
    with (
        begin(scenario=scenario(FAULT, Trigger(always=True))) as lane,
        httpx.Client(proxy=lane.url, headers=BROWSER) as client,
    ):
        client.get(f"http://127.0.0.1:{plain.port}/")
        client.get(f"http://127.0.0.1:{plain.port}/plain")
        client.get(f"http://{HOST}/")

    assert {it.injection for it in lane.events(Witness)} == {"i1"}


@pytest.mark.parametrize(
    ("headers", "fields"),
    [({"content-type": "text/plain; charset=rot13"}, "name=Ada"), ({}, "name=" + "a" * 300_000)],
    ids=["charset of bytes", "large"],
)
def test_a_fault_site_answers_every_request(
    begin: Begin, headers: dict[str, str], fields: str
) -> None:
    with begin() as lane:
        answer = httpx.post(f"http://{HOST}/claim", content=fields, headers=headers, proxy=lane.url)

    assert answer.status_code == 303
    assert not lane.events(HarnessBroke)


def test_the_answer_to_head_has_no_body(begin: Begin) -> None:
    with begin() as lane, socket.create_connection(("127.0.0.1", lane.port), 5) as client:
        client.sendall(f"HEAD http://{HOST}/ HTTP/1.1\r\nConnection: close\r\n\r\n".encode())
        answer = client.makefile("rb").read()

    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"\r\n\r\n")


@pytest.mark.parametrize("host", [f"{HOST}.", f"www.{HOST}"])
def test_nothing_below_its_host_leaves_the_machine(begin: Begin, host: str) -> None:
    with begin() as lane, pytest.raises(httpx.RemoteProtocolError):
        httpx.get(f"http://{host}/", proxy=lane.url)

    (answer,) = lane.events(ResponseSeen)
    assert (answer.error or "").endswith("there is no such host")


def test_a_visit_without_an_injection_is_not_attributed(
    begin: Begin, ca: CertificateAuthority
) -> None:
    with (
        begin() as lane,
        httpx.Client(proxy=lane.url, verify=trusting(ca.certificate)) as client,
    ):
        assert client.get(f"https://{HOST}/").status_code == 200

    assert witnessed(lane) == []
    assert not lane.events(FaultDelivered)
