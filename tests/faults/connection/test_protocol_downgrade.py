from warex.effects import RefuseHttp2
from warex.exchange import Exchange, Request
from warex.faults.connection.protocol_downgrade import ProtocolDowngrade
from warex.seeds import KeyedRng

TRY = Exchange("a1", Request("CONNECT", "https://shop.test:443/"))


def test_http2_is_refused_in_tls_without_a_failure() -> None:
    fault = ProtocolDowngrade(hold=0)

    assert fault.effects(TRY, {}, KeyedRng(1, "r")) == ((RefuseHttp2(),), {})
    assert (fault.point, fault.needs_namespace, fault.category) == ("tls", False, "variation")
    assert fault.explain() == "is refused HTTP/2 and goes on by HTTP/1.1"


def test_an_add_on_that_does_not_choose_protocols_refuses_it() -> None:
    assert ProtocolDowngrade().needs_own_proxy == "chooses the protocol of a connection"
