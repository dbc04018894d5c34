"""Other proxies that a user could pick; each is run as its own documentation has it."""

from dataclasses import dataclass


class Absent(Exception):
    """A peer is not on this machine; the message says how to install it."""


@dataclass(frozen=True, slots=True)
class Running:
    """A peer that runs."""

    port: int
    pid: int
    connects: bool = True
    """Whether clients ask it to connect; else it has one destination, which it looks like."""
