"""Decodes and encodes content codings, also those of a truncated body.

Source of the codings: RFC 9110, section 8.4.1; RFC 7932; RFC 8878.
"""

import gzip
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Final, Literal

import brotli
from msgspec import Struct

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_OUTPUT_SIZE: Final = 64 * 1024
"""Bytes that are decoded at once."""
_ANY_SIZE: Final = 16 * 1024 * 1024
"""Bytes that a decoded body may have, however small it is encoded."""
_MAX_RATIO: Final = 100
"""Decoded bytes for each encoded one, in a longer body; HTML and JSON seldom reach 20."""
_MAX_SIZE: Final = 64 * 1024 * 1024
"""Bytes of a body that is decoded whole."""
_INPUT_SIZE: Final = 16 * 1024
"""Bytes that are decoded at once: zlib copies the rest of the input each time."""
_MOST_MEMBERS: Final = 10_000
_MOST_CODINGS: Final = 4
_EITHER_HEADER: Final = 32 + zlib.MAX_WBITS
_GZIP_HEADER: Final = 16 + zlib.MAX_WBITS
_NO_HEADER: Final = -zlib.MAX_WBITS
_MAGIC: Final = b"\x1f\x8b"
"""The first bytes of a member of gzip (RFC 1952 §2.3.1)."""


class DecodedBody(Struct, frozen=True):
    """A decoded body, as far as it could be read."""

    body: bytes
    error: str | None = None
    """What is wrong with the coding; None also if the body is only truncated."""


def decode(body: bytes, content_encoding: str, most: int = _MAX_SIZE) -> DecodedBody:
    """Decode the codings of a ``Content-Encoding``, to ``most`` bytes; nothing is raised."""
    codings = _codings(content_encoding)
    strange = [name for name in codings if name not in _DECODERS]
    if strange or len(codings) > _MOST_CODINGS:
        return DecodedBody(
            b"", f"its content coding is {content_encoding[:60]!r}, which is not read"
        )
    for name in reversed(codings):
        decoded, error = _read(_DECODERS[name](body), min(decoded_limit(len(body)), most))
        if error is None and body and not decoded:
            error = "it ends before anything of it can be read"
        body = decoded
        if error is not None:
            return DecodedBody(body, f"its content coding {name} is broken: {error}")
    return DecodedBody(body)


def encode(body: bytes, content_encoding: str) -> bytes:
    """Encode by a ``Content-Encoding`` that ``decode`` supports."""
    for name in _codings(content_encoding):
        body = _ENCODERS[name](body)
    return body


def encode_broken(body: bytes, coding: Literal["gzip", "br", "zstd"]) -> bytes:
    """Encode the first half of a body, and add bytes that no decoder reads."""
    half = body[: (len(body) + 1) // 2]
    match coding:
        case "gzip":  # A block of the reserved type (RFC 1951 §3.2.3).
            packer = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
            return packer.compress(half) + packer.flush(zlib.Z_SYNC_FLUSH) + b"\x07"
        case "br":  # A meta-block whose reserved bit is set (RFC 7932 §9.2).
            compressor = brotli.Compressor()
            return bytes(compressor.process(half) + compressor.flush() + b"\x0e")
        case "zstd":  # A block of the reserved type (RFC 8878 §3.1.1.2).
            frame = zstd.ZstdCompressor()
            return frame.compress(half, frame.FLUSH_BLOCK) + b"\x07\0\0"


def _codings(content_encoding: str) -> list[str]:
    names = [name.strip().lower() for name in content_encoding.split(",")]
    return [name for name in names if name not in ("", "identity", "none")]


def decoded_limit(encoded: int) -> int:
    """Return how many bytes a body of ``encoded`` bytes may have decoded.

    More is a decompression bomb.
    """
    return max(_ANY_SIZE, _MAX_RATIO * encoded)


def _read(pieces: Iterator[bytes], limit: int) -> tuple[bytes, str | None]:
    """Return the bytes before an error, and the error."""
    decoded = bytearray()
    try:
        for piece in pieces:
            decoded += piece
            if len(decoded) > limit:
                return bytes(decoded[:limit]), f"it grows beyond {limit:,} bytes"
    except _ERRORS as error:
        return bytes(decoded), str(error) or type(error).__name__
    return bytes(decoded), None


def _gzip(body: bytes) -> Iterator[bytes]:
    decode_part = _GzipStream()
    for at in range(0, len(body), _INPUT_SIZE):
        yield from decode_part(body[at : at + _INPUT_SIZE])


def _deflate(body: bytes) -> Iterator[bytes]:
    """Read zlib's format, or, as some servers send it, deflate without a header."""
    reader = zlib.decompressobj(_bits(body))
    for at in range(0, len(body), _INPUT_SIZE):
        yield from _inflating(reader, body[at : at + _INPUT_SIZE])


def _bits(body: bytes) -> int:
    """Return zlib's window bits, which say whether a body has a header (RFC 1950, section 2.2)."""
    headed = len(body) > 1 and body[0] & 15 == 8 and int.from_bytes(body[:2], "big") % 31 == 0
    return _EITHER_HEADER if headed else _NO_HEADER


def _brotli(body: bytes) -> Iterator[bytes]:
    reader = brotli.Decompressor()
    for at in range(0, len(body), _OUTPUT_SIZE):
        if reader.is_finished():
            return
        made = reader.process(body[at : at + _OUTPUT_SIZE], output_buffer_limit=_OUTPUT_SIZE)
        while made or not reader.can_accept_more_data():
            yield made
            if reader.is_finished():
                return
            made = reader.process(b"", output_buffer_limit=_OUTPUT_SIZE)


def _zstd(body: bytes) -> Iterator[bytes]:
    decode_part = _zstd_stream()
    for at in range(0, len(body), _INPUT_SIZE):
        yield from decode_part(body[at : at + _INPUT_SIZE])


def _inflating(reader: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    """Decode the next part of a stream; what follows its end is ignored, and not kept."""
    while not reader.eof:
        made = reader.decompress(data, _OUTPUT_SIZE)
        yield made
        data = reader.unconsumed_tail
        if not data and len(made) < _OUTPUT_SIZE:
            return


class _GzipStream:
    """Decodes one or several members of gzip (RFC 1952 §2.2), or zlib's format under that name.

    What follows the last member is ignored, as gzip itself and urllib3 do.
    """

    def __init__(self) -> None:
        self._reader = zlib.decompressobj(_EITHER_HEADER)
        self._members = 1
        self._between = b""
        """What has come after a member, while it may begin the next one."""
        self._is_over = False

    def __call__(self, data: bytes) -> Iterator[bytes]:
        while data and not self._is_over:
            if not self._reader.eof:
                yield from _inflating(self._reader, data)
                data = self._reader.unused_data
                continue
            data, self._between = self._between + data, b""
            if data == _MAGIC[:1]:
                self._between = data
                return
            if not data.startswith(_MAGIC):
                self._is_over = True
                return
            self._reader = zlib.decompressobj(_GZIP_HEADER)
            self._members += 1
            if self._members > _MOST_MEMBERS:
                raise zlib.error(f"it has more than {_MOST_MEMBERS:,} members")


class _DeflateStream:
    """Decodes a stream of zlib's format, or of deflate without a header."""

    def __init__(self) -> None:
        self._begun = b""
        self._reader: zlib._Decompress | None = None

    def __call__(self, data: bytes) -> Iterator[bytes]:
        if self._reader is None:
            self._begun += data
            if len(self._begun) < 2:
                return iter(())
            self._reader, data = zlib.decompressobj(_bits(self._begun)), self._begun
        return _inflating(self._reader, data)


def _brotli_stream() -> Callable[[bytes], Iterator[bytes]]:
    reader = brotli.Decompressor()

    def decode_part(data: bytes) -> Iterator[bytes]:
        made = reader.process(data, output_buffer_limit=_OUTPUT_SIZE)
        while made or not reader.can_accept_more_data():
            yield made
            if reader.is_finished():
                return
            made = reader.process(b"", output_buffer_limit=_OUTPUT_SIZE)

    return decode_part


def _zstd_stream() -> Callable[[bytes], Iterator[bytes]]:
    """Read one or several frames."""
    reader, frames = zstd.ZstdDecompressor(), 1

    def decode_part(data: bytes) -> Iterator[bytes]:
        nonlocal reader, frames
        while data or not reader.needs_input:
            yield reader.decompress(data, _OUTPUT_SIZE)
            data = b""
            if reader.eof:
                data, reader, frames = reader.unused_data, zstd.ZstdDecompressor(), frames + 1
            if frames > _MOST_MEMBERS:
                raise zstd.ZstdError(f"it has more than {_MOST_MEMBERS:,} frames")

    return decode_part


class StreamDecoder:
    """Decodes a body piece by piece; nothing is raised.

    After an error, or with an unsupported coding, nothing more is returned.
    """

    def __init__(self, content_encoding: str) -> None:
        self.broken = not self.reads(content_encoding)
        self.is_bomb = False
        """Whether it has decoded more bytes than a body of this size may have."""
        codings = _codings(content_encoding) if content_encoding and not self.broken else ()
        self._decode = _STREAMS[codings[0]]() if codings else None
        self._encoded = self._decoded = 0

    @staticmethod
    def reads(content_encoding: str) -> bool:
        """Whether the codings of a header can be decoded as a stream."""
        if not content_encoding:
            return True
        codings = _codings(content_encoding)
        return not codings or (len(codings) == 1 and codings[0] in _STREAMS)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode a piece of the body, a coded one in parts of some 64 KiB.

        A caller that stops before the last part must not feed more.
        """
        if self.broken or not data:
            return
        if self._decode is None:
            yield data
            return
        self._encoded += len(data)
        try:
            for part in self._decode(data):
                self._decoded += len(part)
                self.is_bomb |= self._decoded > decoded_limit(self._encoded)
                if part:
                    yield part
        except _ERRORS:
            self.broken = True


def begins_as_bomb(data: bytes, content_encoding: str) -> bool:
    """Whether the first bytes of a body already decode to more than they may."""
    decoder = StreamDecoder(content_encoding)
    return any(decoder.is_bomb for _ in decoder.feed(data))


_ERRORS: Final = (zlib.error, brotli.error, zstd.ZstdError)

_STREAMS: Final[dict[str, Callable[[], Callable[[bytes], Iterator[bytes]]]]] = {
    "gzip": _GzipStream,
    "x-gzip": _GzipStream,
    "deflate": _DeflateStream,
    "br": _brotli_stream,
    "zstd": _zstd_stream,
}
"""The stream decoder of each coding."""

_DECODERS: Final[dict[str, Callable[[bytes], Iterator[bytes]]]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}

_ENCODERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}
