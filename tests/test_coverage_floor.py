"""A package's tests may not run less of it than its floor says."""

from typing import Any

from scripts.coverage_floor import (
    PYPROJECT,
    ROOT,
    Shares,
    by_package,
    mistakes,
    read_floors,
    with_floors,
)


def file(lines: tuple[int, int], branches: tuple[int, int]) -> dict[str, Any]:
    return {
        "summary": {
            "covered_lines": lines[0],
            "num_statements": lines[1],
            "covered_branches": branches[0],
            "num_branches": branches[1],
            "percent_covered_display": "80",
        }
    }


REPORT = {
    "files": {
        "src/warex/errors.py": file((9, 10), (0, 0)),
        "src/warex/lane/lane.py": file((60, 80), (5, 10)),
        "src/warex/lane/traffic/llm.py": file((20, 20), (4, 10)),
    }
}
SHARES = {"lane": Shares(80, 45), "warex": Shares(90, 100)}


def test_files_count_for_their_package_by_their_size() -> None:
    assert by_package(REPORT) == SHARES


def test_a_share_below_its_floor_is_named() -> None:
    assert list(mistakes(SHARES, {"lane": Shares(80, 45), "warex": Shares(90, 100)})) == []
    assert list(mistakes(SHARES, {"lane": Shares(80, 46), "warex": Shares(91, 100)})) == [
        "lane: tests ran 45.0 % of its branches; the floor is 46 %",
        "warex: tests ran 90.0 % of its lines; the floor is 91 %",
    ]


def test_a_package_without_a_floor_and_a_floor_without_a_package_are_named() -> None:
    assert list(mistakes(SHARES, {"lane": Shares(0, 0), "proxies": Shares(0, 0)})) == [
        "warex has no floor in pyproject.toml: add it with --write",
        "proxies of [tool.warex.coverage-floor] is not a package: remove it",
    ]


def test_floors_are_written_one_below_the_shares() -> None:
    text = with_floors(PYPROJECT.read_text("utf-8"), {"lane": Shares(80.9, 45.0)})
    assert read_floors(text) == {"lane": Shares(79, 44)}


def test_every_package_has_a_floor() -> None:
    source = ROOT / "src/warex"
    packages = {it.name for it in source.iterdir() if any(it.glob("*.py"))} | {"warex"}
    assert read_floors(PYPROJECT.read_text("utf-8")).keys() == packages
