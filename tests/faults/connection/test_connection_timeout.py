from warex.effects import DropPackets
from warex.exchange import Exchange, Request
from warex.faults.connection.connection_timeout import ConnectionTimeout
from warex.seeds import KeyedRng

ATTEMPT = Exchange("a1", Request("CONNECT", "https://shop.test:443/"))
LUCK = KeyedRng(1, "gone")


def test_the_connection_is_left_unanswered() -> None:
    assert ConnectionTimeout().effects(ATTEMPT, {}, LUCK) == ((DropPackets(),), {})


def test_the_fault_is_about_connections_and_needs_a_namespace() -> None:
    assert ConnectionTimeout.point == "connect"
    assert ConnectionTimeout.needs_namespace


def test_the_explanation_has_the_faults_values() -> None:
    assert ConnectionTimeout(hold=10).explain() == (
        "is left unanswered until the client's system gives up, after 3 s;"
        " so is every connection try at that host within 11.9 s of the first"
    )
