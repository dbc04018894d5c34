"""Print the shares of lines and branches that tests ran, by package; fail below the floors.

    python -m scripts.coverage_floor FILE [--write]

FILE is the JSON of ``coverage json``. The floors stand in ``pyproject.toml``, as the percentages of
lines and branches of each package; ``--write`` sets them one below those of FILE, since a few
lines depend on the machine and its load. A package without a floor, and a floor without a package,
is an error. The exit code is 1 if one is missed.
"""

import json
import math
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
PYPROJECT = ROOT / "pyproject.toml"
TABLE = re.compile(r"(?<=^\[tool\.warex\.coverage-floor\]\n)(?:\S+ = .*\n)*", re.MULTILINE)

# Of a file, in ``coverage json``.
COUNTS = ("covered_lines", "num_statements", "covered_branches", "num_branches")


class Shares(NamedTuple):
    """Percentages of a package; 100 of nothing."""

    lines: float
    branches: float


def by_package(report: Mapping[str, Any]) -> dict[str, Shares]:
    """Return the shares of each folder of ``src/warex``; ``warex`` is the files beside them.

    ``report``: as of ``coverage json``, with branches.
    """
    sums: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(COUNTS, 0))
    for name, file in report["files"].items():
        folder, _, inner = name.removeprefix("src/warex/").partition("/")
        for key in COUNTS:
            sums[folder if inner else "warex"][key] += file["summary"][key]
    return {
        package: Shares(
            _percentage(its["covered_lines"], its["num_statements"]),
            _percentage(its["covered_branches"], its["num_branches"]),
        )
        for package, its in sorted(sums.items())
    }


def mistakes(shares: Mapping[str, Shares], floors: Mapping[str, Shares]) -> Iterator[str]:
    """Yield a sentence for each share below its floor, and each package without one."""
    for package in sorted(shares.keys() - floors.keys()):
        yield f"{package} has no floor in pyproject.toml: add it with --write"
    for package in sorted(floors.keys() - shares.keys()):
        yield f"{package} of [tool.warex.coverage-floor] is not a package: remove it"
    for package in sorted(shares.keys() & floors.keys()):
        for kind, share, floor in zip(
            Shares._fields, shares[package], floors[package], strict=True
        ):
            if share < floor:
                yield f"{package}: tests ran {share:.1f} % of its {kind}; the floor is {floor} %"


def read_floors(pyproject: str) -> dict[str, Shares]:
    """Return the floors of a ``pyproject.toml``."""
    floors = tomllib.loads(pyproject)["tool"]["warex"]["coverage-floor"]
    return {package: Shares(*percentages) for package, percentages in floors.items()}


def with_floors(pyproject: str, shares: Mapping[str, Shares]) -> str:
    """Return a ``pyproject.toml`` whose floors are these shares less one, rounded down."""
    rows = "".join(
        f"{package} = [{math.floor(lines - 1)}, {math.floor(branches - 1)}]\n"
        for package, (lines, branches) in shares.items()
    )
    return TABLE.sub(rows, pyproject, count=1)


def main(arguments: list[str]) -> int:
    """Print the table and what is below its floor; return the exit code."""
    file, *options = arguments
    shares = by_package(json.loads(Path(file).read_text("utf-8")))
    for package, (lines, branches) in shares.items():
        print(f"{package:18} lines {lines:5.1f} %   branches {branches:5.1f} %")
    text = PYPROJECT.read_text("utf-8")
    if options == ["--write"]:
        PYPROJECT.write_text(with_floors(text, shares), "utf-8")
        return 0
    below = list(mistakes(shares, read_floors(text)))
    for sentence in below:
        print(sentence, file=sys.stderr)
    return 1 if below else 0


def _percentage(part: int, total: int) -> float:
    return 100 * part / total if total else 100.0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
