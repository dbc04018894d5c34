from pathlib import Path

from tests.analysis.builders import RunFolder, Story, failed, solved
from tests.report.builders import shapes, words
from warex.analysis.run.load import load_run
from warex.analysis.table.tabulate import tabulate
from warex.report.charts.sites import sites


def test_fields_of_sites_are_filled_by_their_success(
    tmp_path: Path,
) -> None:
    folder = RunFolder(tmp_path)
    for host, outcome in (("a.example", solved()), ("b.example", failed())):
        folder.trial("clean", host, outcome, Story().page("x1", f"https://{host}/"))
    folder.trial("no-proxy", "a.example", solved())
    run = load_run(tmp_path)
    chart = sites(run, tabulate(run))

    assert {"a.example", "b.example", "no-proxy", "clean", "1/1", "0/1", "—"} <= set(words(chart))
    assert len(shapes(chart, "heat-5")) == 2
    assert len(shapes(chart, "heat-0")) == 1
