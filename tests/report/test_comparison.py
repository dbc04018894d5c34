from io import StringIO
from pathlib import Path

from rich.console import Console

from tests.analysis.test_comparison import compared, run
from warex.report.comparison import render_comparison


def shown(folder: Path, width: int = 100) -> str:
    run(folder / "old", 6)
    run(folder / "new", 8, n=11, clean=11)
    out = StringIO()
    Console(file=out, width=width).print(
        render_comparison(compared(folder / "old", folder / "new"))
    )
    return out.getvalue()


def test_every_figure_stands_with_its_interval_and_p(tmp_path: Path) -> None:
    said = " ".join(shown(tmp_path).split())

    assert "6/11 55 % 8/11 73 % +18 [" in said
    assert "a trial" in said


def test_what_does_not_pair_is_said(tmp_path: Path) -> None:
    assert "* 2 trials are left out that one side lacks." in shown(tmp_path)


def test_it_fits_eighty_columns(tmp_path: Path) -> None:
    assert max(map(len, shown(tmp_path, width=80).splitlines())) <= 80
