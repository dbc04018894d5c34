"""The compression of fields (HPACK, RFC 7541) as a proxy needs it.

jh2's decoder, in Rust, panics on a block that ends too early, so the outline of each block is
checked first. Its encoder would announce each size that its table had since the last block, which
peers refuse; it gets those sizes only that hold when a block is written.
"""

from typing import Any, Final

from jh2.exceptions import DenialOfServiceError, ProtocolError
from jh2.hpack import NeverIndexedHeaderTuple

MAX_HEADER_LIST: Final = 256 * 1024
_MAX_FIELDS: Final = MAX_HEADER_LIST // 32
"""Each counts for 32 bytes at least (RFC 9113 §10.5.1)."""
_MAX_TABLE: Final = 4096
"""Bytes of the encoder's table, however large a peer allows it to be."""
_MAX_SHIFT: Final = 21
"""Bits of an integer beyond its last seven: 28 in all."""


def decode_fields(decoder: Any, block: bytes) -> list[tuple[bytes, bytes]]:
    """Return the fields of a block; raise an error of jh2's if it has none."""
    try:
        _check_outline(block)
    except IndexError:
        raise ProtocolError("Error decoding header block: it ends too early") from None
    try:
        decoded = decoder.decode(block, raw=True)
    except BaseException as error:
        # The decoders in Rust and in Python have their own errors; a panic is not an Exception.
        kind = type(error).__name__
        if not isinstance(error, Exception) and kind != "PanicException":
            raise
        broken = DenialOfServiceError if kind == "OversizedHeaderListError" else ProtocolError
        raise broken(f"Error decoding header block: {error}") from None
    return [
        NeverIndexedHeaderTuple(field[0], field[1]) if field[-1] is True else (field[0], field[1])
        for field in decoded
    ]


def _check_outline(block: bytes) -> None:
    """Check that every field is in the block to its end (RFC 7541 §5, §6).

    Raises ProtocolError, or IndexError if something is missing.
    """
    if len(block) > MAX_HEADER_LIST:
        raise DenialOfServiceError("Oversized header block")
    at, size, fields, updates = 0, len(block), 0, 0
    while at < size:
        first = block[at]
        if first & 0xE0 == 0x20:
            _, at = _integer(block, at, 0x1F)
            updates += 1
            if fields or updates > 2:
                raise ProtocolError("Error decoding header block: its table changes within")
            continue
        fields += 1
        if fields > _MAX_FIELDS:
            raise DenialOfServiceError("Oversized header block")
        if first & 0x80:
            if first == 0xFF:
                _, at = _integer(block, at, 0x7F)
            else:
                at += 1
            continue
        index, at = _integer(block, at, 0x3F if first & 0x40 else 0x0F)
        for _ in range(1 if index else 2):
            length, at = _integer(block, at, 0x7F)
            at += length
    if at > size:
        raise IndexError


def _integer(block: bytes, at: int, mask: int) -> tuple[int, int]:
    """Return an integer (§5.1) and what is behind it."""
    value = block[at] & mask
    at += 1
    if value < mask:
        return value, at
    for shift in range(0, _MAX_SHIFT + 1, 7):
        byte = block[at]
        at += 1
        value += (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ProtocolError("Error decoding header block: an integer is too long")


class FieldEncoder:
    """Writes blocks of fields."""

    def __init__(self, encoder: Any) -> None:
        """``encoder``: the library's, unused."""
        self._encoder = encoder
        self._size = self._smallest = self._last = _MAX_TABLE

    @property
    def header_table_size(self) -> int:
        """Bytes of the table of the next block."""
        return self._last

    @header_table_size.setter
    def header_table_size(self, size: int) -> None:
        self._last = min(size, _MAX_TABLE)
        self._smallest = min(self._smallest, self._last)

    def encode(self, headers: Any, huffman: bool = True) -> bytes:
        """Return a block, with the changes of the table's size before it (RFC 7541 §4.2)."""
        for size in (self._smallest, self._last):
            if size != self._size:
                self._size = self._encoder.header_table_size = size
        self._smallest = self._size
        block: bytes = self._encoder.encode(headers, huffman)
        return block
