"""Write the tables of metrics in docs/reference from the definitions of the metrics.

python -m tests.analysis.metrics.reference
"""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from warex.analysis.metrics.row import METRICS
from warex.analysis.metrics.trial import TRIAL_METRICS
from warex.analysis.output.thresholds import NUMBERS
from warex.report.tables.columns import CONDITION

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"
PAGES = ("report", "frames", "statistics")
_TABLE = re.compile(r"(<!-- (\w+): written by [^>]*-->\n).*?(<!-- end -->)", re.DOTALL)
_TYPES = {str: "text", int: "whole", float: "real", bool: "flag"}


def written(page: str) -> str:
    """Return the page with updated tables."""
    return _TABLE.sub(lambda found: f"{found[1]}\n{_TABLES[found[2]]()}\n\n{found[3]}", page)


def _rows(head: str, rows: Iterable[tuple[str, ...]]) -> str:
    rule = " | ".join("---" for _ in head.split(" | "))
    return "\n".join([f"| {head} |", f"| {rule} |", *(f"| {' | '.join(row)} |" for row in rows)])


def _report() -> str:
    first = (CONDITION.title, "`condition`", "text", "", CONDITION.definition)
    rows = ((m.label, f"`{m.key}`", m.unit, m.better or "", m.definition) for m in METRICS)
    return _rows("column | key | unit | better | means", [first, *rows])


def _columns() -> str:
    return _rows(
        "column | type | means",
        (
            (
                ", ".join(f"`{name}`" for name in metric.columns),
                ", ".join(dict.fromkeys(_TYPES[kind] for kind in metric.columns.values())),
                metric.definition,
            )
            for metric in METRICS
        ),
    )


def _trials() -> str:
    rows = ((f"`{m.key}`", _TYPES[m.kind], m.definition) for m in TRIAL_METRICS)
    return _rows("column | type | means", rows)


def _numbers() -> str:
    return ", ".join(f"`{key}`" for key in NUMBERS) + "."


_TABLES: Mapping[str, Callable[[], str]] = {
    "metrics": _report,
    "trials": _trials,
    "conditions": _columns,
    "numbers": _numbers,
}


if __name__ == "__main__":
    for name in PAGES:
        path = REFERENCE / f"{name}.md"
        path.write_text(written(path.read_text("utf-8")), "utf-8")
