from tests.faults.tools import over
from warex.effects import Amend, Delay
from warex.faults import McpSlow
from warex.seeds import Luck


def test_the_call_is_held_and_in_the_older_transport_its_answer() -> None:
    slow = McpSlow(delay=3.0)

    assert slow.effects(over("streamable_http"), {}, Luck(1, "r"))[0] == (Delay(3.0),)
    assert slow.effects(over("sse"), {}, Luck(1, "r"))[0] == (Amend(None, 3.0),)
