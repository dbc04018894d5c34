from pathlib import Path
from typing import get_args

from warex.analysis.recovery import Verdict
from warex.report.figures import COLUMNS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "report.md"


def test_every_column_and_verdict_has_its_line_in_the_reference() -> None:
    rows = {line.split("|")[1].strip(" `") for line in PAGE.read_text().splitlines() if "|" in line}

    assert {name for name, _ in COLUMNS} <= rows
    assert set(get_args(Verdict.__value__)) <= rows
