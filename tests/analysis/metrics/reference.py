"""Write the tables of metrics in docs/reference from the definitions of the metrics.

python -m tests.analysis.metrics.reference
"""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from warex.analysis.metrics.row import METRICS
from warex.analysis.metrics.trial import TRIAL_METRICS
from warex.report.tables.columns import CONDITION

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"
PAGES = ("report", "frames")
_TABLE = re.compile(r"(<!-- (\w+): written by [^>]*-->\n).*?(<!-- end -->)", re.DOTALL)
TYPES = {str: "text", int: "whole", float: "real", bool: "flag"}


def written(page: str) -> str:
    """Return the page with updated tables."""
    return _TABLE.sub(lambda result: f"{result[1]}\n{_TABLES[result[2]]()}\n\n{result[3]}", page)


def _rows(head: str, rows: Iterable[tuple[str, ...]]) -> str:
    rule = " | ".join("---" for _ in head.split(" | "))
    return "\n".join([f"| {head} |", f"| {rule} |", *(f"| {' | '.join(row)} |" for row in rows)])


def _report() -> str:
    first = (CONDITION.title, "`condition`", "text", "", CONDITION.definition)
    rows = ((m.label, f"`{m.key}`", m.unit, m.better or "", m.definition) for m in METRICS)
    return _rows("column | key | unit | better | means", [first, *rows])


def _columns() -> str:
    """The metrics' columns, sorted by which a metric has."""
    kinds: dict[str, list[str]] = {}
    for metric in METRICS:
        names = ", ".join(
            f"`{name.removeprefix(metric.key) or 'KEY'}` {TYPES[kind]}"
            for name, kind in metric.columns.items()
        )
        kinds.setdefault(names, []).append(f"`{metric.key}`")
    return _rows("columns | metrics", ((names, ", ".join(keys)) for names, keys in kinds.items()))


def _trials() -> str:
    rows = ((f"`{m.key}`", TYPES[m.kind], m.definition) for m in TRIAL_METRICS)
    return _rows("column | type | means", rows)


_TABLES: Mapping[str, Callable[[], str]] = {
    "metrics": _report,
    "trials": _trials,
    "conditions": _columns,
}


if __name__ == "__main__":
    for name in PAGES:
        path = REFERENCE / f"{name}.md"
        path.write_text(written(path.read_text("utf-8")), "utf-8")
