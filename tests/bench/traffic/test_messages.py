import pytest
from bench.traffic import messages, streams


def test_client_and_site_understand_each_other_request_after_request() -> None:
    client = messages.Client(443)

    for _ in range(5):
        assert client.receive(messages.answer(client.request))


def test_an_answer_is_whole_with_its_last_byte() -> None:
    client = messages.Client(443)
    answer = messages.answer(client.request)

    assert not any(client.receive(answer[at : at + 1]) for at in range(len(answer) - 1))
    assert client.receive(answer[-1:])


def test_an_answer_that_is_not_the_sites_does_not_count() -> None:
    client = messages.Client(443)
    answer = messages.answer(client.request).replace(b"no play", b"a scare")

    with pytest.raises(ConnectionError):
        client.receive(answer)


@pytest.mark.parametrize("piece", [1000, 100_000, 2_000_000])
def test_a_megabyte_is_counted_to_its_last_byte(piece: int) -> None:
    client = messages.MegabyteClient(443)
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + bytes(messages.MEGABYTE)

    for _ in range(2):
        pieces = [answer[at : at + piece] for at in range(0, len(answer), piece)]
        assert [client.receive(it) for it in pieces] == [False] * (len(pieces) - 1) + [True]


def test_events_are_an_answer_with_the_last_chunk() -> None:
    client = messages.EventsClient(443)
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    _, events = streams.events(streams.SIXTY_EVENTS)

    assert len(events) == 60
    assert not client.receive(head)
    assert not any(client.receive(b"%x\r\n%b\r\n" % (len(it), it)) for it in events)
    assert client.receive(b"0\r\n\r\n")


def test_events_without_their_end_are_not_an_answer() -> None:
    client = messages.EventsClient(443)

    with pytest.raises(ConnectionError):
        client.receive(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
