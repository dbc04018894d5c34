"""Hundreds of crafted and generated messages pass byte for byte, or not at all."""

import random  # noqa: TID251  (Of the answers, not of a trial.)
from collections.abc import Iterator

from bench.fuzz.mutants_http import answers, requests
from bench.fuzz.mutate import mutated

from tests.engine.http.http1.test_connection import Relay, pieces
from warex.engine.http.events import (
    DataReceived,
    ExchangeFailed,
    InformationalReceived,
    MessageEnded,
    RequestReceived,
    RequestRejected,
    ResponseReceived,
)
from warex.engine.http.http1.request_head import MAX_HEAD

GET = b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"


def many_answers() -> Iterator[bytes]:
    for _, answer in answers():
        yield answer
        yield mutated(answer, 1)
        yield mutated(answer, 2)


def generated_answers(count: int) -> Iterator[bytes]:
    """Answers as sites send them: any fields, any bytes, in each framing."""
    draw = random.Random(26)  # The same answers in every run.
    for _ in range(count):
        body = draw.randbytes(draw.randrange(3000))
        fields = [
            b"%s:%s%s%s\r\n"
            % (
                draw.choice((b"X-a", b"set-cookie", b"VARY", b"eTag", b"x_y")),
                b" " * draw.randrange(3),
                bytes(draw.choices(range(0x21, 0xFF), k=draw.randrange(60))).replace(b"\x7f", b""),
                draw.choice((b"", b" ", b"\t")),
            )
            for _ in range(draw.randrange(12))
        ]
        match draw.randrange(3):
            case 0:
                fields.insert(
                    draw.randrange(len(fields) + 1), b"Content-Length: %d\r\n" % len(body)
                )
            case 1:
                fields.append(b"transfer-encoding:chunked\r\n")
                at, chunks = 0, b""
                while at < len(body):
                    size = draw.randrange(1, 900)
                    piece = body[at : at + size]
                    extension = draw.choice((b"", b";a", b' ; b="c"'))
                    chunks += b"%X%s\r\n%s\r\n" % (len(piece), extension, piece)
                    at += size
                body = chunks + draw.choice((b"0\r\n\r\n", b"000\r\nX-Sum: 1\r\n\r\n"))
        ending = draw.choice((b"\r\n", b"\n"))
        lines = (b"HTTP/1.1 %d Some Reason\r\n" % draw.choice((200, 206, 302, 404, 599)), *fields)
        yield b"".join(lines).replace(b"\r\n", ending) + ending + body


def relayed(answer: bytes, cuts: list[int]) -> tuple[bytes, bool]:
    """What the client gets of an answer, and whether it is complete."""
    relay = Relay()
    relay.from_client(GET)
    events = [event for piece in pieces(answer, cuts) for event in relay.site.receive(piece)]
    complete = False
    for event in events + relay.site.receive_eof():
        match event:
            case InformationalReceived():
                relay.client.send_informational(1, event.head)
            case ResponseReceived():
                relay.client.send_response(1, event.head, raw_body=True)
                complete = event.head.status == 101
            case DataReceived():
                relay.client.send_data(1, event.payload, event.raw)
            case MessageEnded():
                relay.client.send_end(1, event.trailers)
                complete = True
            case ExchangeFailed():
                break
            case _:
                pass
    return relay.client.data_to_send(), complete


def test_answers_pass_as_they_came() -> None:
    complete = full = 0
    for answer in {*many_answers(), *generated_answers(300)}:
        got, ended = relayed(answer, [])
        assert answer.startswith(got), answer[:200]
        in_pieces, then = relayed(answer, [7, 40, 41, 90, 300])
        assert then == ended, answer[:200]
        assert in_pieces == got if ended else answer.startswith(in_pieces), answer[:200]
        complete += ended
        full += ended and got == answer
    # The others have something behind their end, which browsers drop.
    assert complete >= 700
    assert full >= 600


def test_generated_answers_pass_whole() -> None:
    for answer in generated_answers(300):
        assert relayed(answer, [1, 100, 1000]) == (answer, True), answer[:300]


def test_requests_reach_the_site_as_they_were_read_or_not_at_all() -> None:
    passed = 0
    for name, usual in requests(b"a.example"):
        for request in (usual, mutated(usual, 1), mutated(usual, 2)):
            relay = Relay()
            refused = False
            for event in relay.client.receive(request):
                match event:
                    case RequestReceived():
                        relay.site.send_request(event.head, raw_body=True, has_body=event.has_body)
                    case DataReceived():
                        relay.site.send_data(1, event.payload, event.raw)
                    case MessageEnded():
                        relay.site.send_end(1, event.trailers)
                    case RequestRejected():
                        refused = True
                    case _:
                        pass
            sent = relay.site.data_to_send()
            assert not (refused and not relay.client.must_close)
            if not sent:
                continue
            passed += 1
            head = sent.partition(b"\r\n\r\n")[0].lower()
            lengths, codings = head.count(b"\ncontent-length:"), head.count(b"\ntransfer-encoding:")
            assert lengths + codings <= 1, (name, sent[:300])
            assert len(head) <= MAX_HEAD
            again = Relay()
            again.from_client(sent)
            assert again.to_site == sent, (name, sent[:300])
    assert passed > 100
