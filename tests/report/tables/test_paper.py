"""Table 1 is the paper's: its rows in its order, its columns in its units, a relative Δ."""

import csv
from io import StringIO
from typing import Any

from tests.report.builders import mean, row, run, table
from warex.analysis.metrics.row import ConditionRow
from warex.analysis.stats.dose_response import Dose
from warex.analysis.stats.estimates import Mean
from warex.report.tables.markup import as_csv, as_latex, as_markdown
from warex.report.tables.paper import paper_sheet
from warex.report.tables.sheet import Sheet

# The paper's figures of WebArena, as if of 1,000 tasks.
SERVER: dict[str, Any] = {"scenario": "paper/server-error"}
NETWORK: dict[str, Any] = {"scenario": "paper/network-error"}
CLEAN: dict[str, Any] = {
    "latency_s": mean(160.02),
    "input_tokens": mean(40100.0),
    "output_tokens": mean(836.2),
    "steps": mean(12.6),
}
PAPER = (
    row("no-proxy", 124, 1000, latency_s=mean(150.0)),
    row("clean", 124, 1000, **CLEAN),
    row("network-error", 37, 1000, r_fault=Mean(37 / 124, (0.2, 0.4), 1000), **NETWORK),
    row("server-error", 53, 1000, r_fault=Mean(53 / 124, None, 1000), **SERVER),
    row("javascript-delay", 130, 1000, r_fault=Mean(1.02, None, 9), scenario="paper/javascript"),
    row("network+", 71, 1000, defence="refresh", r_fault=Mean(71 / 124, None, 9), **NETWORK),
    row("server+", 90, 1000, defence="refresh", r_fault=Mean(90 / 124, None, 9), **SERVER),
)


def sheet(*rows: ConditionRow) -> Sheet:
    return paper_sheet([(run(*rows), table(*rows))])


def lines(of: Sheet) -> list[list[str]]:
    return [[cell.text for cell in line] for block in of.blocks for line in block.lines]


def test_the_papers_table_comes_out() -> None:
    assert lines(sheet(*PAPER)) == [
        ["No Proxy", "0.124", "150.00", "—", "—", "—", "—", "—"],
        ["Proxy - No Fault", "0.124", "160.02", "40.1k", "836.2", "12.6", "—", "—"],
        ["Network Error", "0.037", "—", "—", "—", "—", "-70", "[-80, -60]"],
        ["Network Error - Fixed", "0.071", "—", "—", "—", "—", "-43", "—"],
        ["Server Error", "0.053", "—", "—", "—", "—", "-57", "—"],
        ["Server Error - Fixed", "0.090", "—", "—", "—", "—", "-27", "—"],
        ["JavaScript Delay", "0.130", "—", "—", "—", "—", "+2", "—"],
    ]


def test_what_is_not_the_papers_has_its_own_name() -> None:
    rows = (
        row("again", control=True),
        row("hint", defence="hint", **SERVER),
        row("twice", dose=Dose("frequency", 2.0, "x"), **SERVER),
        row("mine", scenario="mine.yaml"),
        row("told", defence="refresh"),
    )

    assert [line[0] for line in lines(sheet(*rows))] == ["again", "hint", "twice", "mine", "told"]


def test_two_conditions_never_share_a_name() -> None:
    rows = (row("one", **SERVER), row("two", **SERVER))

    assert [line[0] for line in lines(sheet(*rows))] == ["one", "two"]


def test_a_condition_without_trials_has_no_line() -> None:
    assert lines(sheet(row("clean"), row("server-error", 0, 0, **SERVER))) == [
        ["Proxy - No Fault", "0.500", *["—"] * 6]
    ]


def test_the_files_have_the_benchmark_above_its_lines_and_the_csv_beside() -> None:
    reported = sheet(*PAPER)

    markdown = [line for line in as_markdown(reported).splitlines() if line.startswith("|")]
    assert {line.count("|") for line in markdown} == {len(reported.columns) + 1}
    assert markdown[2].startswith("| *—, patient* |")
    latex = as_latex(reported)
    assert "\\midrule\n\\multicolumn{8}{l}{\\textit{---, patient}} \\\\\n" in latex
    assert "Network Error & 0.037 & --- & --- & --- & --- & $-$70 & {}[$-$80, $-$60] \\\\" in latex
    assert "success $\\uparrow$" in latex
    read = list(csv.DictReader(StringIO(as_csv(reported))))
    (network,) = (line for line in read if line["condition"] == "network-error")
    assert network["fault"] == "Network Error"
    assert (network["agent"], float(network["relative_change"])) == ("patient", 37 / 124 - 1)
    assert "condition" not in as_csv(reported).splitlines()[1]
