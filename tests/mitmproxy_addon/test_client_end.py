import pytest
from mitmproxy.test import taddons, tflow

from warex.mitmproxy_addon.client_end import ClientEnd


def test_a_client_that_mitmproxy_no_longer_serves_is_not_there() -> None:
    with taddons.context():
        flow = tflow.tflow()
        flow.client_conn.state = flow.client_conn.state.CLOSED
        end = ClientEnd(flow.client_conn)
        assert not end.is_connected()
        assert end.stream_of(flow) is None
        end.reset()
        end.close()
        assert not end.has_arrived()


@pytest.mark.parametrize("is_open", [True, False])
def test_a_client_without_a_socket_is_there_while_mitmproxy_says_so(is_open: bool) -> None:
    with taddons.context():
        client = tflow.tflow().client_conn
        client.state = client.state.OPEN if is_open else client.state.CLOSED
        assert ClientEnd(client).is_connected() == is_open
