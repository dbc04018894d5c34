"""HTTP/2: flow control without a wire, and how streams and connections end on one."""

import h2.events
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.settings import SettingCodes
from hyperframe.frame import DataFrame, WindowUpdateFrame

from warex.proxy.mitmproxy_patches.http2 import WarexH2Connection

# ---- flow control, without a wire


def connected(window: int) -> tuple[H2Connection, WarexH2Connection]:
    """A client that lets each stream bring so many bytes, has asked once, and its server."""
    client = H2Connection(H2Configuration(header_encoding=None))
    client.local_settings.initial_window_size = window
    client.local_settings.acknowledge()
    client.initiate_connection()
    client.send_headers(
        1, [(":method", "GET"), (":path", "/"), (":scheme", "https"), (":authority", "a")], True
    )
    server = WarexH2Connection(H2Configuration(client_side=False, header_encoding=False))
    server.initiate_connection()  # type: ignore[no-untyped-call]
    server.receive_data(client.data_to_send())
    server.send_headers(1, [(b":status", b"200")])
    return client, server


def arrived(client: H2Connection, server: WarexH2Connection) -> list[bytes | None]:
    """The data of each frame that came, and None for a stream's end."""
    found: list[bytes | None] = []
    for event in client.receive_data(server.data_to_send()):
        if isinstance(event, h2.events.DataReceived):
            found.append(event.data)
        elif isinstance(event, h2.events.StreamEnded):
            found.append(None)
    return found


def test_a_window_that_shrinks_below_nothing_holds_everything_back() -> None:
    client, server = connected(100)
    server.send_data(1, b"x" * 90)
    client.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: 10})
    server.receive_data(client.data_to_send())
    assert server.local_flow_control_window(1) == -80
    server.data_to_send()
    server.send_data(1, b"y" * 20)
    server.end_stream(1)
    assert server.data_to_send() == b""
    server.receive_data(WindowUpdateFrame(1, window_increment=100).serialize())
    end = DataFrame(1, flags=["END_STREAM"]).serialize()
    assert server.data_to_send() == DataFrame(1, data=b"y" * 20).serialize() + end


def test_the_end_of_a_stream_needs_no_window() -> None:
    client, server = connected(100)
    server.send_data(1, b"x" * 335)
    server.end_stream(1)
    assert arrived(client, server) == [b"x" * 100]
    client.increment_flow_control_window(235, 1)
    server.receive_data(client.data_to_send())
    assert arrived(client, server) == [b"x" * 235, b"", None]


def test_data_that_waits_goes_in_frames_that_any_peer_takes() -> None:
    client, server = connected(0)
    client.update_settings({SettingCodes.MAX_FRAME_SIZE: 2**20})
    server.receive_data(client.data_to_send())
    server.send_data(1, b"x" * 100_000)
    client.update_settings({SettingCodes.MAX_FRAME_SIZE: 2**14})
    client.increment_flow_control_window(60_000, 1)
    server.receive_data(client.data_to_send())
    assert {len(it or b"") for it in arrived(client, server)} <= {2**14, 60_000 % 2**14}
