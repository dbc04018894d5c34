import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from bench.__main__ import BENCHMARKS, USUAL

REPOSITORY = Path(__file__).parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_every_benchmark_runs_and_says_what_it_measured(tmp_path: Path) -> None:
    # The numbers are not judged here: a busy machine must not fail a test.
    table = tmp_path / "table.json"

    done = subprocess.run(
        [sys.executable, "-m", "bench", "--quick", "--json", str(table)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    document = json.loads(table.read_text())
    assert document["quick"] is True
    assert {"cores", "Python", "mitmproxy", "Chromium"} <= document["machine"].keys()
    rows = {row["name"]: row for row in document["rows"]}
    assert list(rows) == [name for usual in USUAL for name in BENCHMARKS[usual].rows]
    for row in rows.values():
        assert row.keys() >= {"what", "measured", "unit", "target", "at_least", "ok", "detail"}
    for name in ("requests", "page", "ready", "exec", "report-10000"):
        assert rows[name]["measured"] > 0


def test_the_docs_say_how_each_row_is_measured() -> None:
    page = (REPOSITORY / "docs" / "benchmarks.md").read_text()
    _, _, explained = page.partition("## How it is measured")

    for benchmark in BENCHMARKS.values():
        for row in benchmark.rows:
            assert f"`{row}`" in explained, row


def test_no_benchmark_counts_requests_of_a_lane_that_nobody_looks_into() -> None:
    # ``ready`` sends none: it opens a connection and closes it.
    starts = {
        path.name
        for folder in ("rows", "traffic")
        for path in (REPOSITORY / "bench" / folder).glob("*.py")
        if re.search(r"\bstart_proxy\(", path.read_text())
    }

    assert starts == {"counted_lanes.py", "ready.py"}


def test_an_unknown_benchmark_is_named_with_those_there_are() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "speed"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 2
    assert "'speed' is not a benchmark; there are " + ", ".join(BENCHMARKS) in done.stderr
