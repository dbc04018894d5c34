"""Reads an amount of money as it is written, and writes another in the same way."""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from warex.text.lazy_pattern import lazy_re

_SPACES: Final = " \u00a0\u202f'\u2019"
_AMOUNT: Final = lazy_re(rf"-?[0-9]{{1,12}}(?:[.,{_SPACES}][0-9]{{2,3}})*(?:[.,][0-9]{{1,2}})?")
_LONGEST: Final = 40
"""Characters of a text that is one amount."""


@dataclass(frozen=True, slots=True)
class Money:
    """An amount, and how it is written."""

    value: Decimal
    places: int
    """Digits after the decimal sign."""
    sign: str = "."
    """The decimal sign."""
    groups: str = ""
    """What stands between groups of three digits; empty for nothing."""
    before: str = ""
    after: str = ""
    text: bool = False
    """Whether it is written as text, with a currency perhaps."""

    def written(self, value: Decimal) -> str:
        """Return another amount in the same way; a number with as many places as it needs."""
        places = self.places
        if not self.text:
            exact = value.normalize()
            places = max(places, -int(exact.as_tuple().exponent), 0)
        integer, _, part = f"{abs(value):.{places}f}".partition(".")
        if self.groups or (self.text and len(integer) > 3 and self._separates):
            groups = self.groups or ("," if self.sign == "." else ".")
            integer = re.sub(r"(?<=[0-9])(?=(?:[0-9]{3})+$)", groups, integer)
        minus = "-" if value < 0 else ""
        return f"{self.before}{minus}{integer}{self.sign + part if part else ''}{self.after}"

    @property
    def _separates(self) -> bool:
        return abs(self.value) < 1000


def read_money(text: str, *, is_text: bool) -> Money | None:
    """Return the amount that a value says; None if it says none, or more than that."""
    if len(text) > _LONGEST:
        return None
    match = _AMOUNT.search(text)
    if match is None or re.search(r"[0-9]", text[: match.start()] + text[match.end() :]):
        return None
    before, after = text[: match.start()], text[match.end() :]
    if not is_text and (before or after):
        return None
    written = match[0]
    marks = [sign for sign in written if sign in ".,"]
    decimals = re.search(r"[.,]([0-9]{1,2})$", written)
    if decimals is None and not is_text and (point := re.search(r"\.([0-9]+)$", written)):
        decimals = point
    sign = decimals[0][0] if decimals else ("," if marks and marks[-1] == "." else ".")
    integer = written[: decimals.start()] if decimals else written
    groups = next((it for it in integer if not (it.isdigit() or it == "-")), "")
    digits = re.sub(r"[^0-9-]", "", integer)
    part = decimals[1] if decimals else ""
    value = Decimal(f"{digits}.{part}" if part else digits)
    return Money(value, len(part), sign, groups, before, after, is_text)
