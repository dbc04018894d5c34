import pytest
from bench.traffic import http2


def test_client_and_site_understand_each_other_request_after_request() -> None:
    client, site = http2.Requests(443), http2.Answers()
    complete, out = client.receive(site.receive(client.begin()))
    assert (complete, site.receive(out)) == (0, b"")

    for _ in range(40):
        asked = b"".join(client.request() for _ in range(16))
        complete, out = client.receive(site.receive(asked))
        assert complete == 16
        assert site.receive(out) == b""


def test_a_site_waits_for_its_window() -> None:
    client, site = http2.Requests(443), http2.Answers()
    preface, settings, _ = _split(client.begin())
    site.receive(preface + settings)

    complete, _ = client.receive(site.receive(b"".join(client.request() for _ in range(40))))

    assert complete == 65_535 // 2000
    more = http2.frame(http2.WINDOW_UPDATE, 0, 0, (1 << 20).to_bytes(4))
    assert client.receive(site.receive(more))[0] == 40 - complete


def test_frames_may_come_byte_by_byte() -> None:
    client, site = http2.Requests(443), http2.Answers()
    asked = client.begin() + client.request()

    answer = b"".join(site.receive(asked[at : at + 1]) for at in range(len(asked)))

    assert sum(client.receive(answer[at : at + 1])[0] for at in range(len(answer))) == 1


def test_an_answer_that_is_not_the_sites_does_not_count() -> None:
    client, site = http2.Requests(443), http2.Answers()
    answer = site.receive(client.begin() + client.request())

    with pytest.raises(ConnectionError, match="a scare"):
        client.receive(answer.replace(b"no play", b"a scare"))


def test_an_ended_stream_is_not_an_answer() -> None:
    client = http2.Requests(443)
    client.request()

    with pytest.raises(ConnectionError, match="ended"):
        client.receive(http2.frame(http2.RST_STREAM, 0, 1, bytes(4)))


def _split(opening: bytes) -> tuple[bytes, bytes, bytes]:
    preface, end, rest = opening.partition(b"SM\r\n\r\n")
    return preface + end, rest[:15], rest[15:]
