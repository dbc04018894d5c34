from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, Story, failed
from warex.analysis.inspection.timeline import inspect_trial
from warex.report.terminal.fault_groups import each_alone, grouped, url_pattern


@pytest.mark.parametrize(
    ("url", "pattern"),
    [
        ("https://shop.example/static/app.js?v=1", "https://shop.example/static/*.js"),
        ("https://shop.example/events/15", "https://shop.example/events/*"),
        ("https://shop.example/app.js", "https://shop.example/*.js"),
        ("https://shop.example", "https://shop.example/"),
        ("https://shop.example:8443/?q=1", "https://shop.example:8443/"),
        ("http://[broken", "http://[broken"),
    ],
)
def test_a_pattern_keeps_site_folder_and_ending(url: str, pattern: str) -> None:
    assert url_pattern(url) == pattern


def test_only_faults_of_one_pattern_fate_and_verdict_are_together(tmp_path: Path) -> None:
    static = "https://shop.example/static/"
    story = Story().thinks(1, "goto")
    story.fault(1, f"{static}a.js", resource="script").fault(2, f"{static}b.js", resource="script")
    story.fault(3, f"{static}c.css", resource="stylesheet")
    story.planned("i4", "x4", f"{static}d.js").missed("client_left", "i4")
    story.fault(5, f"{static}a.js", resource="script")
    story.thinks(2, "report_infeasible").stops()
    trial = inspect_trial(
        RunFolder(tmp_path).manifest().trial("server-error", "add", failed(), story)
    ).trial
    result = [[injection.id for injection, _ in group.members] for group in grouped(trial)]

    assert result == [["i1", "i2", "i5"], ["i3"], ["i4"]]
    assert [group.where for group in grouped(trial)] == [
        f"{static}*.js",
        f"{static}c.css",
        f"{static}d.js",
    ]
    assert len(each_alone(trial)) == 5
