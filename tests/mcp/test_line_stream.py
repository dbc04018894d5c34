"""Lines of a stream, in pieces of any size."""

from warex.mcp.line_stream import LineReader

STREAM = b'{"a": 1}\n\r\n{"b": "\xff"}\r\n\nlast'


def test_lines_do_not_depend_on_the_streams_pieces() -> None:
    full = [b'{"a": 1}\n', b"\r\n", b'{"b": "\xff"}\r\n', b"\n", b"last"]
    for size in range(1, len(STREAM) + 1):
        reader = LineReader()
        pieces = [STREAM[at : at + size] for at in range(0, len(STREAM), size)]
        lines = [line for piece in pieces for line in reader.feed(piece)] + reader.rest()
        assert [line.raw for line in lines] == full
        assert all(line.is_message for line in lines)


def test_a_line_that_is_too_long_passes_in_parts_and_is_not_a_message() -> None:
    for size in (1, 3, 7, 100):
        reader = LineReader(longest=10)
        stream = b"x" * 25 + b"\nshort\n" + b"0123456789\n"
        pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
        lines = [line for piece in pieces for line in reader.feed(piece)] + reader.rest()
        assert b"".join(line.raw for line in lines) == stream
        assert [line.raw for line in lines if line.is_message] == [b"short\n"]


def test_a_line_that_is_too_long_is_not_kept() -> None:
    reader = LineReader(longest=10)
    for _ in range(100):
        assert b"".join(line.raw for line in reader.feed(b"x" * 11)) == b"x" * 11
    assert reader.rest() == []
