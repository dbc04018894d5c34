import pytest

from tests.proxy.support.lanes import scenario
from warex.clock import Clock
from warex.engine.handler import (
    AbortConnection,
    Address,
    ClientHello,
    Connection,
    Handshake,
    Intercept,
)
from warex.faults.connection.protocol_downgrade import ProtocolDowngrade
from warex.faults.connection.tls_error import TlsError
from warex.lane.connection_faults.handshakes import HandshakeFaults
from warex.lane.connection_faults.tries import ConnectionTries
from warex.lane.record.recorder import Recorder
from warex.scenarios import Injector, Scenario
from warex.traces import FaultDelivered, FaultMissed


def begun(of: Scenario) -> tuple[HandshakeFaults, Recorder]:
    recorder = Recorder(Clock())
    return HandshakeFaults(ConnectionTries(Injector(of, 0).connections, recorder)), recorder


@pytest.fixture
def connection() -> Connection:
    return Connection(1, Address("127.0.0.1", 50_000))


def outcomes(recorder: Recorder) -> list[type]:
    return [type(it) for it in recorder.ledger if isinstance(it, FaultDelivered | FaultMissed)]


@pytest.mark.parametrize(("sent", "outcome"), [(True, FaultDelivered), (False, FaultMissed)])
@pytest.mark.parametrize("ended", ["established", "rejected", "left"])
def test_a_certificate_is_delivered_to_a_client_that_was_there(
    connection: Connection, ended: Handshake, sent: bool, outcome: type
) -> None:
    faults, recorder = begun(scenario(TlsError(how="expired")))

    plan = faults.plan(connection, "shop.test", 443)
    connection.certificate_sent = sent

    assert plan == Intercept(defect="expired", site_first=False)
    assert faults.ended(connection, ended)
    assert outcomes(recorder) == [outcome]


@pytest.mark.parametrize(("ended", "outcome"), [("aborted", FaultDelivered), ("left", FaultMissed)])
def test_a_closed_handshake_is_delivered_if_we_closed_it(
    connection: Connection, ended: Handshake, outcome: type
) -> None:
    faults, recorder = begun(scenario(TlsError(how="cut")))

    assert faults.plan(connection, "shop.test", 443) == AbortConnection("close")
    assert faults.ended(connection, ended)
    assert not faults.ended(connection, "left")
    assert outcomes(recorder) == [outcome]


def test_a_handshake_without_a_fault_is_let_alone(connection: Connection) -> None:
    faults, recorder = begun(Scenario(name="clean"))

    assert faults.plan(connection, "shop.test", 443) is None
    assert not faults.ended(connection, "established")
    assert not recorder.ledger


@pytest.mark.parametrize(
    ("alpn", "ended", "missed"),
    [
        ((b"h2", b"http/1.1"), "established", ""),
        ((b"http/1.1",), "established", "nothing_to_rewrite"),
        ((b"h2",), "left", "client_gone"),
    ],
)
def test_refused_http2_is_delivered_to_a_client_that_offered_it(
    connection: Connection, alpn: tuple[bytes, ...], ended: Handshake, missed: str
) -> None:
    faults, recorder = begun(scenario(ProtocolDowngrade()))
    connection.hello = ClientHello("shop.test", alpn)

    assert faults.plan(connection, "shop.test", 443) is None
    assert not faults.allows_http2(connection)
    assert not faults.ended(connection, ended)
    assert faults.allows_http2(connection)
    (outcome,) = (it for it in recorder.ledger if isinstance(it, FaultDelivered | FaultMissed))
    assert getattr(outcome, "reason", "") == missed
