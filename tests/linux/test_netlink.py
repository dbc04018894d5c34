import socket
import struct

import pytest

from warex.linux.netlink import (
    ACKNOWLEDGE,
    attribute,
    attributes,
    exchange,
    message,
    messages,
    nested,
    text,
)


def test_netlink_attributes_are_padded_beyond_their_length() -> None:
    assert attribute(3, b"lo\0") == struct.pack("HH", 7, 3) + b"lo\0\0"


def test_what_is_written_is_read_again() -> None:
    written = attribute(1, b"abcde") + text(2, b"lo") + nested(3, attribute(4, b"\x01"))

    assert list(attributes(written)) == [
        (1, b"abcde"),
        (2, b"lo\0"),
        (3, attribute(4, b"\x01")),
    ]
    both = message(16, ACKNOWLEDGE, 1, b"abcd") + message(17, 0, 2, b"")
    assert list(messages(both)) == [(16, 1, b"abcd"), (17, 2, b"")]


def test_what_is_cut_short_ends_the_reading() -> None:
    assert list(messages(struct.pack("IHHII", 3, 16, 0, 1, 0))) == []
    assert list(attributes(struct.pack("HH", 2, 1))) == []


@pytest.mark.wire
def test_a_refusal_is_raised_with_the_number_of_its_message() -> None:
    # Nobody may delete a device without a name.
    request = message(17, ACKNOWLEDGE, 7, bytes(16))

    with (
        socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as netlink,
        pytest.raises(OSError, match="rtnetlink, message 7"),
    ):
        exchange(netlink, request, 7, "rtnetlink")


@pytest.mark.wire
def test_after_a_refusal_no_answer_is_left_for_the_next_exchange() -> None:
    refused = message(17, ACKNOWLEDGE, 7, bytes(16)) + message(17, ACKNOWLEDGE, 8, bytes(16))

    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as netlink:
        with pytest.raises(OSError, match="message 7"):
            exchange(netlink, refused, 8, "rtnetlink")
        with pytest.raises(BlockingIOError):
            netlink.recv(65536, socket.MSG_DONTWAIT)
