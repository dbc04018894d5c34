"""Small mutations of bytes, drawn from a seed. Pure."""

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


def mutate(rng: random.Random, data: bytes, most: int = 3) -> bytes:
    """Return the bytes with 0 to ``most`` small changes."""
    for _ in range(rng.randint(0, most)):
        change = rng.choice((_insert, _replace, _remove, _repeat, _flip, _line, _cut))
        data = change(rng, data)
    return data


def mutated(data: bytes, seed: int) -> bytes:
    """Return the bytes with small changes, which the seed and the number of bytes determine."""
    return mutate(random.Random(f"{seed} {len(data)}"), data)


def _span(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = rng.randint(0, len(data))
    return start, min(len(data), start + rng.choice((1, 1, 2, 4, 16)))


def _insert(rng: random.Random, data: bytes) -> bytes:
    at, _ = _span(rng, data)
    return data[:at] + rng.choice(_WORDS) + data[at:]


def _replace(rng: random.Random, data: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:start] + rng.choice(_WORDS) + data[end:]


def _remove(rng: random.Random, data: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:start] + data[end:]


def _repeat(rng: random.Random, data: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:end] + data[start:end] * rng.randint(1, 3) + data[end:]


def _flip(rng: random.Random, data: bytes) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes((data[at] ^ (1 << rng.randrange(8)),)) + data[at + 1 :]


def _line(rng: random.Random, data: bytes) -> bytes:
    """Drop a line, repeat it, or swap it with the next."""
    lines = data.split(b"\r\n")
    at = rng.randrange(len(lines))
    match rng.randrange(3):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[at])
        case _:
            lines[at : at + 2] = lines[at : at + 2][::-1]
    return b"\r\n".join(lines)


def _cut(rng: random.Random, data: bytes) -> bytes:
    # Rarely: messages that are cut early resemble each other.
    return data[: rng.randint(0, len(data))] if rng.random() < 0.2 else data
