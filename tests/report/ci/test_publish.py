from pathlib import Path
from xml.etree.ElementTree import parse

from warex.report.ci.cases import Case
from warex.report.ci.outputs import CiOutputs
from warex.report.ci.publish import CiReport, publish

REPORT = CiReport(
    suites={"run": (Case("g", "recovery>=0.8", "failed", "it is 0."),)},
    summary="## WAREX\n",
    warnings=("Hardly measured.",),
)


def published(report: CiReport, outputs: CiOutputs, **environment: str) -> tuple[list[str], ...]:
    lines, warnings = list[str](), list[str]()
    publish(report, outputs, environment, lines.append, warnings.append)
    return lines, warnings


def test_nothing_is_written_that_nobody_asks_for(tmp_path: Path) -> None:
    assert published(REPORT, CiOutputs()) == ([], [])
    assert published(REPORT, CiOutputs(), GITHUB_ACTIONS="false") == ([], [])


def test_a_job_on_github_has_a_summary_and_annotations(tmp_path: Path) -> None:
    page = tmp_path / "summary.md"
    page.write_text("before\n")

    lines, warnings = published(
        REPORT, CiOutputs(), GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(page)
    )

    assert page.read_text() == "before\n## WAREX\n"
    assert lines == [
        "::error title=WAREX%3A recovery>=0.8::it is 0.",
        "::warning title=WAREX::Hardly measured.",
    ]
    assert warnings == []


def test_a_summary_that_cannot_be_written_is_a_warning(tmp_path: Path) -> None:
    lines, warnings = published(REPORT, CiOutputs(), GITHUB_STEP_SUMMARY=str(tmp_path))

    assert lines == []
    assert len(warnings) == 1
    assert warnings[0].startswith("GITHUB_STEP_SUMMARY: ")


def test_results_of_two_runs_are_in_one_file(tmp_path: Path) -> None:
    other = CiReport(
        suites={"other": (Case("g", "n>=1", "passed"),)},
        trials={"run": (Case("t", "trial", "passed"),)},
    )
    published(REPORT + other, CiOutputs(junit=tmp_path / "a.xml", sarif=tmp_path / "a.sarif"))

    suites = {suite.get("name"): len(suite) for suite in parse(tmp_path / "a.xml").getroot()}
    assert suites == {"run": 2, "other": 1}
    assert (tmp_path / "a.sarif").exists()
