from warex.effects import DropPackets
from warex.exchange import Exchange, Request
from warex.faults.connection.connection_timeout import ConnectionTimeout
from warex.seeds import KeyedRng

ATTEMPT = Exchange("a1", Request("CONNECT", "https://shop.test:443/"))
LUCK = KeyedRng(1, "gone")


def test_the_connection_is_left_unanswered() -> None:
    assert ConnectionTimeout().effects(ATTEMPT, {}, LUCK) == ((DropPackets(),), {})


def test_it_strikes_where_clients_connect_and_shows_in_a_namespace_only() -> None:
    assert ConnectionTimeout.point == "connect"
    assert ConnectionTimeout.needs_namespace


def test_it_explains_itself_with_its_values() -> None:
    assert ConnectionTimeout(hold=10).explain() == (
        "is left unanswered until the client's system gives up, after 3 s;"
        " so is every connection try at that host within 11.9 s of the first"
    )
