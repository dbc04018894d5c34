"""Of a site's traffic nothing is read."""

from tests.lane.support.traffic import exchange_of, injected, request_head, response_head
from warex.effects import EditToolResponse
from warex.lane.traffic.base import Ending, Traffic
from warex.lane.whole_response import WholeResponse


def test_a_sites_exchange_passes_as_it_is() -> None:
    head, response = request_head("POST"), WholeResponse(response_head(), b"page")
    traffic = Traffic(exchange_of(head))
    edit = injected(EditToolResponse(None))

    assert traffic.prepare(head, b"a=b") == b"a=b"
    assert traffic.replay(head, b"") is None
    traffic.answered(response.head)
    assert not traffic.needs_whole_response
    assert traffic.feed(b"page") == b"page"
    assert traffic.amend(response) is response
    assert (traffic.can_apply(edit), traffic.apply(edit, lambda met: None)) == (True, None)
    assert not traffic.client_message(b"{}")
    assert not traffic.server_message(b"{}")
    assert not traffic.end(Ending(head=response.head))
    assert (traffic.exchange.server, traffic.may_be_form) == ("site", True)
