from pathlib import Path

from tests.analysis.builders import RunFolder, Story, failed, solved
from tests.report.builders import mean, row, run, table
from warex.analysis.metrics.metric import Counts
from warex.analysis.metrics.row import ConditionRow
from warex.analysis.run.load import load_run
from warex.analysis.stats.dose_response import DosePoint, DoseSeries
from warex.analysis.stats.estimates import Mean, Rate
from warex.analysis.stats.paired import Contrast, Delta, NoiseFloor, Power
from warex.analysis.table.tabulate import tabulate
from warex.campaigns.plan.grid import MAX_ATTEMPTS
from warex.report.tables.sheet import Sheet
from warex.report.tables.sites import ELSEWHERE, site_rates
from warex.report.tables.sites import site_by_task as sites_of
from warex.report.tables.standard import sheets
from warex.traces.outcome import Void

ROWS = (
    row("clean", 2, 2),
    row("down", 1, 2, exposure=Rate(2, 2), delta=Delta(-0.5, 2)),
    row("clean", 2, 2, agent="hasty"),
)


def _texts(sheet: Sheet) -> list[list[str]]:
    return [[b.agent, *(cell.text for cell in line)] for b in sheet.blocks for line in b.lines]


def _all(**more: object) -> dict[str, Sheet]:
    return {sheet.name: sheet for sheet in sheets(run(*ROWS), table(*ROWS, **more))}


def test_each_line_has_a_value_for_each_column_of_csv() -> None:
    # Of an agent whose latency and noise floor are unknown, too.
    for sheet in _all(power=(("patient", Power(10, 0.4, 0.01, 0.1, False)),)).values():
        for block in sheet.blocks:
            for line in block.lines:
                assert len(line) == len(sheet.columns), sheet.name
                for cell, column in zip(line, sheet.columns, strict=True):
                    assert len(cell.values) == len(column.csv_keys), (sheet.name, column.title)


def test_streaming_speed_is_shown_only_for_streaming_models() -> None:
    quick = row("clean", 2, 2, first_token_s=mean(0.4), tokens_per_s=mean(100.0))
    (reported,) = (s for s in sheets(run(quick), table(quick)) if s.name == "effort")

    titles = [column.title for column in reported.columns]
    assert titles[titles.index("LLM calls") + 1 :][:2] == ["first token", "tokens/s"]
    assert "first token" not in [column.title for column in _all()["effort"].columns]


def test_the_table_has_lies_only_if_one_was_delivered() -> None:
    lied = row("down", 1, 2, exposure=Rate(2, 2), lies=Counts((("noticed", 1),)))
    (reported,) = (s for s in sheets(run(lied), table(lied)) if s.name == "recovery")

    assert "lies" in [column.title for column in reported.columns]
    assert "lies" not in [column.title for column in _all()["recovery"].columns]


def test_a_table_without_anything_to_say_is_empty() -> None:
    empty = {name for name, sheet in _all().items() if sheet.empty}

    nothing = {"instrument", "regimes", "defences", "doses", "contrasts", "sites", "voids"}
    assert empty == nothing | {"endings", "popups", "attacks"}


def test_recovery_by_injection_is_shown_with_success() -> None:
    for sheet in _all().values():
        titles = [column.title for column in sheet.columns]
        assert "recovery per injection" not in titles or "success" in titles, sheet.name


def test_recovery_and_delivery_are_about_conditions_that_inject() -> None:
    for name in ("recovery", "strategy", "delivery"):
        assert [line[:2] for line in _texts(_all()[name])] == [["patient", "down"]]


def test_the_instrument_is_looked_at_before_the_agents() -> None:
    floor = NoiseFloor(Delta(0.0, 10, (-0.2, 0.2)), 1, 10, "control")
    sheet = _all(
        proxy_effect=(("patient", Delta(-0.1, 10)),),
        proxy_latency=(("patient", Mean(0.25, (0.1, 0.4), 10)),),
        noise_floor=(("patient", floor),),
        power=(("patient", Power(10, 0.4, 0.01, 0.1, False)),),
    )["instrument"]

    assert sheet.flat
    assert _texts(sheet) == [
        ["patient", "-10", "+0.25 s [+0.10, +0.40]", "+0 [-20, +20]", "1 of 10", "40 points"],
        ["hasty", *["—"] * 5],
    ]


def test_doses_and_contrasts_have_a_line_for_each_point_and_pair() -> None:
    points = tuple(DosePoint(d, f"x{d:g}", Rate(1, 2), Delta(-0.5, 2)) for d in (1.0, 2.0))
    contrast = Contrast(
        "clean",
        "success",
        ("patient", "hasty"),
        (Rate(9, 21), Rate(17, 21)),
        0.0247,
        0.889,
        None,
        0.0494,
    )
    fields = _all(
        doses=(DoseSeries("patient", "intensity", "paper/slow", points, -0.1, 0.02, 0.04),),
        contrasts=(contrast,),
    )

    assert [line[3] for line in _texts(fields["doses"])] == ["1", "2"]
    assert _texts(fields["doses"])[0][-3:] == ["-10.0 points", "0.020", "0.040"]
    [line] = _texts(fields["contrasts"])
    assert line[0] == "patient and hasty"
    assert line[5:7] == ["0.025", "+88.9 %"]
    assert line[-1] == "0.049"


def test_a_task_s_site_is_where_most_of_its_trials_began(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    for repeat, host in enumerate(("a.example", "a.example", "b.example"), 1):
        story = Story().page("x1", f"https://{host}/")
        folder.trial("clean", "t", solved(), story, repeat=repeat)
    folder.trial("no-proxy", "t", failed())
    folder.trial("no-proxy", "unseen", failed())
    run = load_run(tmp_path)

    assert sites_of(run.trials) == {
        ("testbed", "t"): "a.example",
        ("testbed", "unseen"): ELSEWHERE,
    }
    assert site_rates(run)["patient", "a.example"] == {
        "no-proxy": Rate(0, 1),
        "clean": Rate(3, 3),
    }


def test_void_attempts_are_counted_by_reason(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    for attempt in (1, 2):
        folder.trial("clean", "t", Void(reason="lane died"), attempt=attempt)
    run = load_run(tmp_path)
    fields = {sheet.name: sheet for sheet in sheets(run, tabulate(run))}

    assert _texts(fields["voids"]) == [["patient", "clean", "2", "lane died"]]


def test_no_table_says_that_a_last_void_attempt_is_run_again() -> None:
    assert MAX_ATTEMPTS == 3
    for words in (ConditionRow.voids.definition, _all()["voids"].note):
        assert "up to three" in words
        assert "again" not in words
