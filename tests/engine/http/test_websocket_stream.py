"""Messages of a WebSocket that are changed, and those that are not."""

import zlib
from collections.abc import Iterable, Iterator

import pytest
from bench.fuzz.mutants_websocket import frame
from hypothesis import given
from hypothesis import strategies as st

from warex.engine.http.websocket import Frame, FrameParser, serialise
from warex.engine.http.websocket_messages import Message, MessageReader
from warex.engine.http.websocket_stream import (
    LONGEST,
    ContextLost,
    MessageStream,
    WholeMessage,
)


class Sender:
    """Compresses messages as a site does."""

    def __init__(self, *, keeps_context: bool = True) -> None:
        self.keeps_context = keeps_context
        self.deflater = zlib.compressobj(wbits=-15)

    def frames(self, content: bytes, *, pieces: int = 1) -> bytes:
        if not self.keeps_context:
            self.deflater = zlib.compressobj(wbits=-15)
        data = self.deflater.compress(content) + self.deflater.flush(zlib.Z_SYNC_FLUSH)
        data = data[:-4]
        size = max(1, -(-len(data) // pieces))
        parts = [data[at : at + size] for at in range(0, len(data), size)]
        out = b""
        for number, part in enumerate(parts):
            last = 0x80 if number == len(parts) - 1 else 0
            out += frame(0 if number else 1, part, rsv=0 if number else 4, fin=bool(last))
        return out


def received(data: bytes) -> list[bytes]:
    """Return the contents of the messages that a client reads."""
    reader = MessageReader(deflates=True, keep=10**8)
    events = [reader.read(it) for it in FrameParser(from_client=False).receive(data)]
    assert all(it is None or isinstance(it, Message) for it in events), events
    return [it.content for it in events if isinstance(it, Message)]


def relayed(
    stream: MessageStream, data: bytes, *, drops: Iterable[int] = (), twice: Iterable[int] = ()
) -> bytes:
    """Return what is sent of a site's bytes, without some messages, and with some twice."""

    def sent() -> Iterator[Frame]:
        for each in FrameParser(from_client=False).receive(data):
            for it in stream.receive(each):
                if not isinstance(it, WholeMessage):
                    yield it
                elif it.number in drops:
                    yield from stream.instead(it)
                else:
                    yield from stream.unchanged(it)
                    if it.number in twice:
                        yield stream.copy(it)

    return b"".join(map(serialise, sent()))


def test_what_is_not_changed_passes_byte_for_byte() -> None:
    sender = Sender()
    data = frame(1, b"he", fin=False) + frame(9, b"p") + frame(0, b"llo") + frame(1, b"")
    data += sender.frames(b"abc" * 1000, pieces=3) + sender.frames(b"abc" * 900)
    stream = MessageStream(deflates=True, keeps_context=True)

    passed = relayed(stream, data)
    # A ping does not wait for the rest of the message around it.
    assert passed == frame(9, b"p") + data.replace(frame(9, b"p"), b"")


@pytest.mark.parametrize("keeps_context", [True, False])
def test_those_after_a_dropped_one_are_understood(keeps_context: bool) -> None:
    sender = Sender(keeps_context=keeps_context)
    texts = [b"first of all", b"first of all, again", b"first of all, again and again", b"x"]
    frames = [sender.frames(text) for text in texts]
    stream = MessageStream(deflates=True, keeps_context=keeps_context)

    sent = relayed(stream, b"".join(frames), drops=[2])
    assert received(sent) == [texts[0], *texts[2:]]
    assert sent.startswith(frames[0])
    if not keeps_context:
        assert sent == frames[0] + frames[2] + frames[3]


def test_a_message_that_comes_twice_leaves_the_context_as_it_is() -> None:
    sender = Sender()
    texts = [b"first of all", b"first of all, again", b"first of all, again and again"]
    frames = [sender.frames(text) for text in texts]
    stream = MessageStream(deflates=True, keeps_context=True)

    sent = relayed(stream, b"".join(frames), twice=[1])
    assert received(sent) == [texts[0], *texts]
    assert sent == frames[0] + frame(1, texts[0]) + frames[1] + frames[2]


def test_what_came_uncompressed_can_be_left_out_for_nothing() -> None:
    sender = Sender()
    before, after = sender.frames(b"abcabc"), sender.frames(b"abcabcabc")
    stream = MessageStream(deflates=True, keeps_context=True)

    assert relayed(stream, before + frame(1, b"plain") + after, drops=[2]) == before + after


def test_a_longer_message_passes_as_it_comes() -> None:
    long = frame(2, b"a" * 1000, fin=False) + frame(0, bytes(LONGEST)) + frame(1, b"next")
    stream = MessageStream(deflates=False, keeps_context=True)
    assert relayed(stream, long, drops=[1]) == long

    sender, text = Sender(), b"".join(b"%d," % n for n in range(LONGEST // 5))
    first, after = sender.frames(b"1,2,3,4,5"), sender.frames(text, pieces=3)
    last = sender.frames(text[:99])
    stream = MessageStream(deflates=True, keeps_context=True)
    assert received(relayed(stream, first + after + last, drops=[1])) == [text, text[:99]]


def test_many_fragments_are_not_held() -> None:
    stream = MessageStream(deflates=False, keeps_context=True)
    data = frame(1, b"a", fin=False) + frame(0, b"", fin=False) * 3000
    assert relayed(stream, data) == data


@pytest.mark.parametrize(
    "broken", [frame(3, b"?"), frame(1, b"\xff" * 9, rsv=4), frame(0, b"?")], ids=str
)
def test_unreadable_frames_pass_unless_they_depend_on_a_change(
    broken: bytes,
) -> None:
    sender = Sender()
    before = sender.frames(b"abc")
    stream = MessageStream(deflates=True, keeps_context=True)
    data = before + frame(1, b"a", fin=False) + frame(1, b"b") + broken
    assert relayed(stream, data) == data
    assert stream.is_opaque

    with pytest.raises(ContextLost):
        relayed(MessageStream(deflates=True, keeps_context=True), before + broken, drops=[1])


def test_a_bomb_is_not_held() -> None:
    sender = Sender()
    bomb = sender.frames(bytes(60_000_000))
    stream = MessageStream(deflates=True, keeps_context=True)
    assert relayed(stream, bomb) == bomb


@given(st.binary(), st.booleans())
def test_no_bytes_make_it_fail(data: bytes, deflates: bool) -> None:
    parser, stream = (
        FrameParser(from_client=False),
        MessageStream(deflates=deflates, keeps_context=True),
    )
    out = b"".join(
        b"".join(map(serialise, it.frames if isinstance(it, WholeMessage) else (it,)))
        for each in parser.receive(data)
        for it in stream.receive(each)
    )
    rest = b"".join(map(serialise, stream.rest())) + parser.rest()
    assert len(out + rest) == len(data)
