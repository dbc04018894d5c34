"""What `warex mcp` does next with a message, as the lane says it."""

from typing import Any, Final, Literal

from msgspec import Struct

type Then = Literal["pass", "say", "whole", "end"]
"""Pass the message on as it came; send the client something else; ask for the whole answer's plan;
or end the server as if it had crashed."""

NAME: Final = r"[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9_])?"
"""A server's name, the host of its address."""


class Step(Struct, frozen=True):
    """What is done next, after its holds."""

    then: Then
    hold_s: tuple[float, ...] = ()
    """Seconds of each hold, in order."""
    pieces: tuple[bytes, ...] = ()
    """What the client gets, if it is not the message."""
    pause_s: float = 0.0
    """Seconds before each piece but the first."""
    is_cut: bool = False
    """Whether the server ends after the last piece, as if it had crashed."""

    def as_json(self) -> dict[str, Any]:
        """Return the step as JSON; bytes as Latin-1."""
        return {
            "then": self.then,
            "hold_s": list(self.hold_s),
            "pieces": [piece.decode("latin-1") for piece in self.pieces],
            "pause_s": self.pause_s,
            "is_cut": self.is_cut,
        }

    @classmethod
    def of_json(cls, step: dict[str, Any]) -> "Step":
        """Return the step that ``as_json`` has made JSON of."""
        return cls(
            step["then"],
            tuple(step["hold_s"]),
            tuple(piece.encode("latin-1") for piece in step["pieces"]),
            step["pause_s"],
            step["is_cut"],
        )
