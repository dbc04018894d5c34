"""What is read of a request before it is decided on; test_clients.py sends the rest."""

import pytest

from tests.engine.running import Scripted, running
from tests.proxy.support.client import read_answer, tunnelled
from tests.proxy.support.origin import Origin
from warex.engine.handler import Exchange, Forward, Plan, RequestPlan
from warex.proxy.certificates.ca import CertificateAuthority

pytestmark = pytest.mark.wire

HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
BODY = b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"


@pytest.mark.parametrize("need", ["whole", "stream"])
def test_a_body_that_comes_with_its_head_is_known(
    ca: CertificateAuthority, plain: Origin, need: str
) -> None:
    known: list[bytes | None] = []

    def plan(exchange: Exchange) -> RequestPlan:
        known.append(exchange.request_body)
        return Plan(Forward())

    handler = Scripted(need=need, request_plan=plan)  # type: ignore[arg-type]
    with running(handler, ca) as engine, tunnelled(engine.port, "127.0.0.1", plain.port) as client:
        client.sendall(HEAD + BODY)
        assert read_answer(client)[1] == b"hello"
    assert known == [b"abcde"]
    assert plain.seen[0].body == b"abcde"


def test_a_body_that_is_not_needed_is_not_waited_for(
    ca: CertificateAuthority, plain: Origin
) -> None:
    known: list[bytes | None] = []

    def plan(exchange: Exchange) -> RequestPlan:
        known.append(exchange.request_body)
        client.sendall(BODY)
        return Plan(Forward())

    handler = Scripted(request_plan=plan)
    with running(handler, ca) as engine, tunnelled(engine.port, "127.0.0.1", plain.port) as client:
        client.sendall(HEAD)
        assert read_answer(client)[1] == b"hello"
        assert handler.outcome().request_bytes == 5
    assert known == [None]
    assert plain.seen[0].body == b"abcde"


def test_a_changed_body_is_sent_with_its_length(ca: CertificateAuthority, plain: Origin) -> None:
    handler = Scripted(
        need="whole", request_plan=lambda exchange: Plan(Forward(body=b"x" * 100000))
    )
    with running(handler, ca) as engine, tunnelled(engine.port, "127.0.0.1", plain.port) as client:
        client.sendall(HEAD + BODY)
        assert read_answer(client)[1] == b"hello"
    (seen,) = plain.seen
    assert (seen.header("content-length"), seen.header("transfer-encoding")) == ("100000", None)
    assert seen.body == b"x" * 100000
