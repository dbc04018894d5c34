from warex.report.ci.annotations import Annotation, case_annotations, commands
from warex.report.ci.cases import Case


def test_an_annotation_is_one_escaped_command() -> None:
    hostile = "50 %, a:b\r\n::stop-commands::x\x1b\u2028::error::y\n"
    (line,) = commands([Annotation("error", f"WAREX: {hostile}", hostile)])

    assert line.startswith("::error title=WAREX%3A 50 %25%2C a%3Ab%0A%3A%3Astop-commands")
    assert "::50 %25, a:b%0A::stop-commands::x␛\ufffd::error::y%0A" in line
    assert len(line.splitlines()) == 1


def test_only_what_did_not_pass_is_annotated() -> None:
    cases = [
        Case("g", "a", "passed"),
        Case("g", "b", "failed", "why"),
        Case("g", "c", "skipped", "why"),
        Case("g", "d", "passed", "let pass"),
        Case("g", "e", "error", "why"),
    ]
    levels = [annotation.level for annotation in case_annotations(cases)]

    assert levels == ["error", "warning", "notice", "error"]


def test_no_more_are_printed_than_github_shows() -> None:
    lines = commands([Annotation("error", "t", str(number)) for number in range(30)])

    assert len(lines) == 10
    assert lines[-1] == "::error title=WAREX::21 more: see the output of this step."


def test_a_message_is_bounded() -> None:
    (line,) = commands([Annotation("notice", "t", "x" * 100_000)])

    assert len(line) < 5_000
