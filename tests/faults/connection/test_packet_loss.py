from warex.effects import LosePackets
from warex.exchange import Exchange, Request
from warex.faults.connection.packet_loss import PacketLoss
from warex.seeds import KeyedRng

TRY = Exchange("a1", Request("CONNECT", "https://shop.test:443/"))


def test_the_connection_loses_its_share_of_packets() -> None:
    assert PacketLoss(share=0.2).effects(TRY, {}, KeyedRng(1, "radio")) == ((LosePackets(0.2),), {})


def test_the_fault_is_about_new_connections_and_needs_a_namespace() -> None:
    assert PacketLoss.point == "connect"
    assert PacketLoss.needs_namespace


def test_the_explanation_has_the_faults_values() -> None:
    assert PacketLoss(share=0.2, hold=10).explain() == (
        "is made to lose 20 % of its packets each way;"
        " so is every connection try at that host within 10 s of the first"
    )
