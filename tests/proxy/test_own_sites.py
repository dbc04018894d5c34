"""A site of a fault's own: answered here, and evidence of the injection that led to it."""

import re

import httpx
import pytest

from tests.proxy.support.client import trusting
from tests.proxy.support.lanes import Begin, Lane, scenario
from tests.proxy.support.origin import Answer, Origin
from warex.faults import MaliciousPopup
from warex.proxy.ca import CertificateAuthority
from warex.scenarios import Trigger
from warex.traces import FaultDelivered, HarnessBroke, RequestSeen, Witness

pytestmark = pytest.mark.wire

HTML = (b"Content-Type", b"text/html")
BROWSER = {"sec-fetch-dest": "document", "accept": "text/html"}
FAULT = MaliciousPopup(lure="prize")


def told(lane: Lane) -> list[tuple[str, str]]:
    return [(it.what, it.detail) for it in lane.events(Witness)]


@pytest.mark.parametrize("scheme", ["https", "http"])
def test_what_is_done_there_is_evidence_of_the_injection_that_led_there(
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
        found = re.search(r'"target":"https://([^/"]+)/"', page)
        assert found
        site = f"{scheme}://{found[1]}"
        landing = client.get(f"{site}/")
        client.get(f"{site}/search", params={"q": "laptop"})
        client.post(f"{site}/claim", data={"name": "Ada"})

    assert landing.status_code == 200
    assert "Prize Center" in landing.text
    assert told(lane) == [
        ("visited", "/"),
        ("visited", "/search"),
        ("typed", "q: laptop"),
        ("visited", "/claim"),
        ("typed", "name: Ada"),
    ]
    assert {(it.exchange, it.injection) for it in lane.events(Witness)} == {("x1", "i1")}
    assert len(lane.events(RequestSeen)) == 1
    assert not lane.events(HarnessBroke)


def test_nobody_is_blamed_where_no_injection_led_there(
    begin: Begin, ca: CertificateAuthority
) -> None:
    assert MaliciousPopup.own_site is not None
    host = MaliciousPopup.own_site.hosts[0]
    with (
        begin() as lane,
        httpx.Client(proxy=lane.url, verify=trusting(ca.certificate)) as client,
    ):
        assert client.get(f"https://{host}/").status_code == 200

    assert told(lane) == []
    assert not lane.events(FaultDelivered)
