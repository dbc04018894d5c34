"""The exchanges of a trace as columns, which take a tenth of the memory of objects.

A trace may have half a million of them.
"""

from array import array
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

import msgspec

from warex.errors import TraceError
from warex.view.json_text import as_json

LARGEST: Final = 1 << 53
"""The integers that JavaScript holds exactly are below it."""
_NONE: Final = -1
_NO_TIME: Final = float("nan")
"""Encoded as null."""
_DECIMALS: Final = 6
"""Of a duration in seconds."""


type _Value = tuple[str | int | None, ...]


class _Coded:
    """A column of few different values."""

    __slots__ = ("codes", "values")

    def __init__(self, *values: _Value) -> None:
        self.values: dict[_Value, int] = {value: code for code, value in enumerate(values)}
        self.codes = array("I")

    def code(self, value: _Value) -> int:
        code = self.values.get(value)
        if code is None:
            code = self.values[value] = len(self.values)
        return code

    def document(self) -> dict[str, Any]:
        return {"values": list(self.values), "codes": _encoded(self.codes)}


class Exchanges:
    """Requests with their answers, in the order of the requests."""

    __slots__ = (
        *("_answer_seqs", "_answers", "_durations", "_ids", "_requests", "_seqs", "_sizes"),
        *("_times", "_urls"),
    )

    def __init__(self) -> None:
        # Hashes in place of ids: they take an eighth of the memory.
        self._ids = array("q")
        self._seqs = array("q")
        self._times = array("d")
        self._urls = bytearray()
        """As JSON, a comma before each."""
        self._requests = _Coded()
        """Method, resource."""
        self._answer_seqs = array("q")
        self._durations = array("d")
        self._answers = _Coded((None, None, None, None))
        """Status, resource, by, error; the first code means "no answer"."""
        self._sizes = array("q")

    def __len__(self) -> int:
        return len(self._seqs)

    def ask(self, name: str, seq: int, t: float, method: str, url: str, resource: str) -> int:
        """Add a request, which begins at ``t`` seconds; return its row."""
        row = len(self._seqs)
        self._ids.append(hash(name))
        self._seqs.append(seq)
        self._times.append(t)
        self._urls += b"," + as_json(url)
        self._requests.codes.append(self._requests.code((method, resource)))
        self._answer_seqs.append(_NONE)
        self._durations.append(_NO_TIME)
        self._answers.codes.append(0)
        self._sizes.append(_NONE)
        return row

    def answer(
        self,
        row: int,
        seq: int,
        t: float,
        *,
        status: int | None,
        resource: str,
        by: str,
        size: int,
        error: str | None,
    ) -> None:
        """Add the answer to a request. Raises TraceError for a size that no answer has."""
        if not 0 <= size < LARGEST:
            raise TraceError(f"size {size} is out of range")
        self._answer_seqs[row] = seq
        self._durations[row] = round(t - self._times[row], _DECIMALS)
        self._answers.codes[row] = self._answers.code((status, resource, by, error))
        self._sizes[row] = size

    def lines_of(self, names: Collection[str]) -> Mapping[str, int]:
        """Return the line of each of these exchanges' requests, as far as it is here."""
        return {name: self._seqs[row] for name, row in self._rows(names)}

    def document(self, without: Collection[str]) -> dict[str, Any]:
        """Return the columns as JSON, and the rows of the exchanges to be left out."""
        return {
            "left_out": sorted(row for _, row in self._rows(without)),
            "seq": _encoded(self._seqs),
            "t": _encoded(self._times),
            "url": msgspec.Raw(b"[" + self._urls[1:] + b"]"),
            "request": self._requests.document(),
            "answer_seq": _encoded(self._answer_seqs),
            "duration": _encoded(self._durations),
            "answer": self._answers.document(),
            "size": _encoded(self._sizes),
        }

    def _rows(self, names: Collection[str]) -> Iterable[tuple[str, int]]:
        wanted = {hash(name): name for name in names}
        if not wanted:
            return []
        return [(wanted[code], row) for row, code in enumerate(self._ids) if code in wanted]


def _encoded(column: "array[int] | array[float]") -> msgspec.Raw:
    """Return a column as JSON, so that its numbers are not all in memory as objects at once."""
    return msgspec.Raw(msgspec.json.encode(column.tolist()))
