"""Small mistakes in bytes, drawn from a seed. Pure."""

import random  # noqa: TID251  (Of this run, not of a trial.)

_WORDS = (
    b"",
    b" ",
    b"\t",
    b":",
    b",",
    b";",
    b"/",
    b"\x00",
    b"\r",
    b"\n",
    b"\r\n",
    b"\r\n\r\n",
    b"\xff\xfe",
    b"0",
    b"-1",
    b"65536",
    b"99999999999999999999",
    b"[::1",
    b"user:pw@",
    b"%00",
    b"%zz",
    b"chunked",
    b"identity",
    b"HTTP/0.9",
    b"HTTP/2.0",
    b"localhost",
    b"\xc3\xa9",
    b"A" * 5000,
)


def mutated(drawn: random.Random, data: bytes, most: int = 3) -> bytes:
    """Return the bytes with up to so many small changes, none among them."""
    for _ in range(drawn.randint(0, most)):
        change = drawn.choice((_insert, _replace, _remove, _repeat, _flip, _line, _cut))
        data = change(drawn, data)
    return data


def _span(drawn: random.Random, data: bytes) -> tuple[int, int]:
    start = drawn.randint(0, len(data))
    return start, min(len(data), start + drawn.choice((1, 1, 2, 4, 16)))


def _insert(drawn: random.Random, data: bytes) -> bytes:
    at, _ = _span(drawn, data)
    return data[:at] + drawn.choice(_WORDS) + data[at:]


def _replace(drawn: random.Random, data: bytes) -> bytes:
    start, end = _span(drawn, data)
    return data[:start] + drawn.choice(_WORDS) + data[end:]


def _remove(drawn: random.Random, data: bytes) -> bytes:
    start, end = _span(drawn, data)
    return data[:start] + data[end:]


def _repeat(drawn: random.Random, data: bytes) -> bytes:
    start, end = _span(drawn, data)
    return data[:end] + data[start:end] * drawn.randint(1, 3) + data[end:]


def _flip(drawn: random.Random, data: bytes) -> bytes:
    if not data:
        return data
    at = drawn.randrange(len(data))
    return data[:at] + bytes((data[at] ^ (1 << drawn.randrange(8)),)) + data[at + 1 :]


def _line(drawn: random.Random, data: bytes) -> bytes:
    """Drop a line, repeat it, or let it change places with the next."""
    lines = data.split(b"\r\n")
    at = drawn.randrange(len(lines))
    match drawn.randrange(3):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[at])
        case _:
            lines[at : at + 2] = lines[at : at + 2][::-1]
    return b"\r\n".join(lines)


def _cut(drawn: random.Random, data: bytes) -> bytes:
    # Seldom: what ends early is soon the same as any other.
    return data[: drawn.randint(0, len(data))] if drawn.random() < 0.2 else data
