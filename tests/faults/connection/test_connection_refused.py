from warex.effects import RefuseConnection
from warex.exchange import Exchange, Request
from warex.faults.connection.connection_refused import ConnectionRefused
from warex.seeds import KeyedRng

ATTEMPT = Exchange("a1", Request("CONNECT", "https://shop.test:443/"))
LUCK = KeyedRng(1, "gone")


def test_the_connection_is_refused() -> None:
    assert ConnectionRefused().effects(ATTEMPT, {}, LUCK) == ((RefuseConnection(),), {})


def test_the_fault_is_about_connections_and_needs_a_namespace() -> None:
    assert ConnectionRefused.point == "connect"
    assert ConnectionRefused.needs_namespace


def test_the_explanation_has_the_faults_values() -> None:
    assert ConnectionRefused().explain() == (
        "is refused at once (a TCP reset), as where nobody listens;"
        " so is every connection try at that host within 3 s of the first"
    )
