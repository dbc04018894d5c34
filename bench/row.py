"""One row of the table: a measured number and its target."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """A measured number and its target."""

    name: str
    what: str
    measured: float | None
    """None if it could not be measured here; ``detail`` gives the reason."""
    unit: str
    """``times`` for a ratio to a peer in the same run; otherwise ms, MB, s, %."""
    target: float
    at_least: bool
    """Whether the target is a minimum; otherwise it is a maximum."""
    detail: str = ""
    """The absolute numbers behind it, on this machine."""

    @property
    def ok(self) -> bool | None:
        """Whether the target is met; None if nothing was measured."""
        if self.measured is None:
            return None
        if self.at_least:
            return self.measured >= self.target
        return self.measured <= self.target

    @property
    def measured_text(self) -> str:
        """The measured number with its unit."""
        return "not measured" if self.measured is None else _with_unit(self.measured, self.unit)

    @property
    def target_text(self) -> str:
        """The target with its unit, as a relation."""
        return f"{'≥' if self.at_least else '≤'} {_with_unit(self.target, self.unit)}"


def _with_unit(number: float, unit: str) -> str:
    digits = f"{number:.2f}" if abs(number) < 10 else f"{number:.1f}"
    digits = digits.rstrip("0").rstrip(".")
    return f"{digits} {unit}"
