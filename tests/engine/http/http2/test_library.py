"""What is changed of the library holds in the version that is installed."""

import pytest
from hyperframe.frame import GoAwayFrame, SettingsFrame

from warex.engine.http.http2.library import (
    CONNECTION_WINDOW,
    MAX_FRAME,
    FrameConnection,
    FrameError,
    GoAwayReceived,
    error_name,
)


def connections() -> tuple[FrameConnection, FrameConnection]:
    client, server = (
        FrameConnection(is_client=role, on_frame=lambda kind: None) for role in (True, False)
    )
    server.read(client.data_to_send())
    client.read(server.data_to_send())
    return client, server


def test_both_ends_let_the_other_send_much() -> None:
    for end in connections():
        assert end.outbound_flow_control_window == CONNECTION_WINDOW


def test_frames_stay_as_small_as_every_peer_takes_them() -> None:
    _, server = connections()
    server.read(SettingsFrame(0, settings={5: 2**20}).serialize())
    assert server.max_outbound_frame_size == MAX_FRAME


def test_after_a_goaway_of_the_peer_there_is_still_talk() -> None:
    client, server = connections()
    (event,), error = client.read(GoAwayFrame(0, last_stream_id=5, error_code=2).serialize())
    assert isinstance(event, GoAwayReceived)
    assert (str(event), error) == ("GOAWAY INTERNAL_ERROR, last stream 5", None)
    client.ping(b"12345678")
    assert server.read(client.data_to_send())[1] is None


def test_streams_that_are_closed_make_room_for_others() -> None:
    client, server = connections()
    for stream in (1, 3):
        client.send_headers(stream, [(b":method", b"GET")], end_stream=True)
    server.read(client.data_to_send())
    for end in (client, server):
        assert (end.may_open(3), end.may_open(2)) == (True, False)

    server.send_headers(1, [(b":status", b"200")], end_stream=True)
    client.read(server.data_to_send())
    for end in (client, server):
        assert (end.may_open(2), end.may_open(1)) == (True, False)
        assert list(end.streams) == [3]


def test_an_observer_of_frames_may_end_the_connection() -> None:
    seen: list[str] = []

    def count(kind: str) -> None:
        seen.append(kind)
        raise FrameError("too many")

    server = FrameConnection(is_client=False, on_frame=count)
    client, _ = connections()
    client.ping(b"12345678")
    preface = FrameConnection(is_client=True, on_frame=lambda kind: None).data_to_send()
    events, error = server.read(preface + client.data_to_send())
    assert (seen, events, str(error)) == (["SETTINGS"], [], "too many")
    assert server.data_to_send().endswith(GoAwayFrame(0, error_code=11).serialize())


@pytest.mark.parametrize(("code", "name"), [(0, "NO_ERROR"), (11, "ENHANCE_YOUR_CALM"), (99, "99")])
def test_a_code_has_its_name_if_it_has_one(code: int, name: str) -> None:
    assert error_name(code) == name
