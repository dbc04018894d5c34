"""A text of many pieces: adding one takes time for the piece alone, however much came before."""

from typing import Self


class GrowingText:
    """A text while its pieces come."""

    __slots__ = ("_pieces",)

    def __init__(self, text: str = "") -> None:
        self._pieces = [text] if text else []

    def __iadd__(self, piece: str) -> Self:
        if piece:
            self._pieces.append(piece)
        return self

    def __str__(self) -> str:
        """Return the text so far."""
        return "".join(self._pieces)

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def ends_with(self, end: str) -> bool:
        """Whether the text so far ends with another one."""
        tail: list[str] = []
        missing = len(end)
        for piece in reversed(self._pieces):
            if missing <= 0:
                break
            tail.append(piece)
            missing -= len(piece)
        return "".join(reversed(tail)).endswith(end)
