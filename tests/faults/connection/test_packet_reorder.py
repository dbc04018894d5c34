from warex.effects import ReorderPackets
from warex.exchange import Exchange, Request
from warex.faults.connection.packet_reorder import PacketReorder
from warex.seeds import KeyedRng

TRY = Exchange("a1", Request("CONNECT", "https://shop.test:443/"))


def test_each_connection_has_a_draw_of_its_own_that_the_seed_repeats() -> None:
    fault, rng = PacketReorder(share=0.2, late=0.1), KeyedRng(1, "paths")
    [first], state = fault.effects(TRY, {}, rng)
    [second], _ = fault.effects(TRY, state, rng)

    assert isinstance(first, ReorderPackets)
    assert isinstance(second, ReorderPackets)
    assert (first.share, first.seconds) == (0.2, 0.1)
    assert first.seed != second.seed
    assert fault.effects(TRY, {}, rng)[0] == (first,)


def test_the_explanation_has_the_faults_values() -> None:
    assert PacketReorder(share=0.2, hold=10).explain() == (
        "is made to bring 20 % of its packets 0.05 s late each way, after packets that were sent"
        " later; so is every connection try at that host within 10 s of the first"
    )
