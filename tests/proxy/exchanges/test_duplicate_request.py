"""A write that the site gets twice, on the wire."""

import httpx
import pytest

from tests.proxy.support.client import trusting
from tests.proxy.support.lanes import Begin, scenario
from tests.proxy.support.origin import Answer, Origin
from tests.proxy.support.upstream import UpstreamProxy
from warex.faults.lies.duplicate_write import DuplicateWrite
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Trigger
from warex.traces import FaultDelivered, FaultMissed, HarnessBroke, RequestSeen

pytestmark = pytest.mark.wire

ONCE = Trigger(first=1)


def test_the_site_gets_a_write_twice_and_the_trace_has_one_request(
    begin: Begin, plain: Origin
) -> None:
    plain.routes["/order"] = Answer(status=201, body=b"made")
    maps = (f"http://shop.example=http://127.0.0.1:{plain.port}",)
    with (
        begin(scenario=scenario(DuplicateWrite(), ONCE), maps=maps) as lane,
        httpx.Client(proxy=lane.url, timeout=10) as client,
    ):
        for _ in range(2):
            answer = client.post("http://shop.example/order", json={"a": 1})
            assert (answer.status_code, answer.text) == (201, "made")

    sent = [(it.method, it.body, it.header("host")) for it in plain.seen]
    assert sent == [("POST", b'{"a":1}', "shop.example")] * 3
    assert len(lane.events(RequestSeen)) == 2
    (met,) = lane.events(FaultDelivered)
    assert [(it.before, it.after) for it in met.changes] == [("once", "twice")]
    assert not lane.events(HarnessBroke)


@pytest.mark.parametrize("speaks", ["secure_h1", "secure_h2"])
def test_a_site_with_tls_gets_a_write_twice(
    begin: Begin, ca: CertificateAuthority, request: pytest.FixtureRequest, speaks: str
) -> None:
    site: Origin = request.getfixturevalue(speaks)
    with (
        begin(scenario=scenario(DuplicateWrite(), ONCE)) as lane,
        httpx.Client(
            proxy=lane.url, timeout=10, verify=trusting(ca.certificate), http2=speaks == "secure_h2"
        ) as client,
    ):
        assert client.post(f"https://localhost:{site.port}/order", content=b"a").text == "hello"

    assert [it.body for it in site.seen] == [b"a", b"a"]
    assert lane.events(FaultDelivered)
    assert not lane.events(HarnessBroke)


@pytest.mark.parametrize("speaks", ["plain", "secure_h1"])
def test_both_go_through_an_upstream_proxy(
    begin: Begin, request: pytest.FixtureRequest, ca: CertificateAuthority, speaks: str
) -> None:
    site: Origin = request.getfixturevalue(speaks)
    where = f"localhost:{site.port}"
    with (
        UpstreamProxy(password="me:pass") as upstream,
        begin(
            scenario=scenario(DuplicateWrite(), ONCE),
            upstream=f"http://me:pass@127.0.0.1:{upstream.port}",
        ) as lane,
        httpx.Client(proxy=lane.url, timeout=10, verify=trusting(ca.certificate)) as client,
    ):
        scheme = "http" if speaks == "plain" else "https"
        assert client.post(f"{scheme}://{where}/order", content=b"a").text == "hello"

    through = f"POST http://{where}/order" if speaks == "plain" else f"CONNECT {where}"
    assert upstream.asked == [through] * 2
    assert [it.body for it in site.seen] == [b"a", b"a"]
    assert lane.events(FaultDelivered)


def test_a_write_that_could_not_be_sent_at_all_is_missed(begin: Begin) -> None:
    with (
        begin(scenario=scenario(DuplicateWrite(), ONCE)) as lane,
        httpx.Client(proxy=lane.url, timeout=10) as client,
        pytest.raises(httpx.RemoteProtocolError),
    ):
        client.post("http://127.0.0.1:9/order")

    assert not lane.events(FaultDelivered)
    assert [it.reason for it in lane.events(FaultMissed)] == ["nothing_to_rewrite"]
    assert not lane.events(HarnessBroke)
