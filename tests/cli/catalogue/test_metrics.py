import json

from tests.cli.conftest import Warex
from warex.analysis.metrics.row import METRICS


def test_every_metric_has_one_line_in_the_list_and_can_be_shown(warex: Warex) -> None:
    listed = warex("metrics").out.splitlines()
    rows = json.loads(warex("metrics", "--json").out)

    assert [line.split()[0] for line in listed] == [metric.key for metric in METRICS]
    assert max(map(len, listed)) < 120
    assert [row["name"] for row in rows] == [metric.key for metric in METRICS]


def test_a_metric_is_shown_with_unit_columns_and_threshold_form(warex: Warex) -> None:
    shown = warex("metrics", "show", "success").out
    data = json.loads(warex("metrics", "show", "regime", "--json").out)

    assert shown.startswith("success: Trials with a score of 1")
    assert "--fail-under 'success>=…'" in shown
    assert "success_low" in shown
    assert (data["threshold"], data["columns"]) == (False, {"regime": "str", "regime_why": "str"})


def test_an_unknown_metric_is_refused_with_the_nearest_alone(warex: Warex) -> None:
    refused = warex("metrics", "show", "sucess")

    assert (refused.code, refused.out) == (2, "")
    assert refused.err == "warex: there is no metric 'sucess'; did you mean 'success'?\n"
