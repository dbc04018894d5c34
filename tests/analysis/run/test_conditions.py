from pathlib import Path

from tests.analysis.builders import RunFolder
from warex.analysis.run.conditions import RecordedCondition, recorded_conditions
from warex.analysis.stats.dose_response import Dose
from warex.traces.manifest import read_manifest
from warex.traces.paths import MANIFEST


def test_conditions_are_as_the_manifest_froze_them(tmp_path: Path) -> None:
    RunFolder(tmp_path).manifest(
        conditions=[
            {"name": "clean"},
            {"name": "clean again", "control": True},
            {
                "name": "slow",
                "scenario": "paper/javascript",
                "defence": {"name": "refresh", "text": "…"},
                "intensity": 2,
                "frequency": None,
            },
            "no table",
        ]
    )

    results = recorded_conditions(read_manifest(tmp_path / MANIFEST))

    assert results == {
        "clean": RecordedCondition(),
        "clean again": RecordedCondition(control=True),
        "slow": RecordedCondition("paper/javascript", "refresh", 2.0),
    }
    assert recorded_conditions(None) == {}


def test_an_unscaled_scenario_has_intensity_one_and_no_frequency() -> None:
    assert RecordedCondition("slow").doses == (Dose("intensity", 1.0, "slow"),)
    assert RecordedCondition("slow").dose is None
    assert RecordedCondition(defence="refresh").doses == ()


def test_what_is_not_on_the_axis_is_named_beside_it() -> None:
    both = RecordedCondition("slow", "refresh", intensity=0.5, frequency=3)
    assert both.doses == (
        Dose("intensity", 0.5, "slow + refresh, frequency 3"),
        Dose("frequency", 3.0, "slow + refresh, intensity 0.5"),
    )
    assert both.dose == both.doses[0]
    assert RecordedCondition("slow", frequency=3).dose == Dose("frequency", 3.0, "slow")
    assert RecordedCondition("slow", first=3).dose == Dose("first", 3.0, "slow")
    assert RecordedCondition("slow", intensity=2.0, first=3).doses[0].of == "slow, first 3"
