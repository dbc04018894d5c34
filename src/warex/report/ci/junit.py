"""JUnit XML in pytest's dialect: what CI servers show as tests."""

from collections.abc import Mapping, Sequence
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from warex.report.ci.cases import Case, CaseEnd
from warex.text.escaping import escape_controls

_TAGS: Final[Mapping[CaseEnd, str]] = {
    "failed": "failure",
    "error": "error",
    "skipped": "skipped",
}


def junit(suites: Mapping[str, Sequence[Case]]) -> bytes:
    """Return suites by name as a document; characters that XML forbids are visible symbols."""
    root = Element("testsuites", name="warex")
    for name, cases in suites.items():
        ends = [case.end for case in cases]
        suite = SubElement(
            root,
            "testsuite",
            name=_text(name),
            errors=str(ends.count("error")),
            failures=str(ends.count("failed")),
            skipped=str(ends.count("skipped")),
            tests=str(len(cases)),
            time=_seconds(sum(case.seconds or 0.0 for case in cases)),
        )
        for case in cases:
            _add_case(suite, case)
    document: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return document


def _add_case(suite: Element, case: Case) -> None:
    element = SubElement(
        suite,
        "testcase",
        classname=_text(case.group),
        name=_text(case.name),
        time=_seconds(case.seconds or 0.0),
    )
    message = _text(case.message)
    if case.end in _TAGS:
        first = message.partition("\n")[0]
        detail = SubElement(element, _TAGS[case.end], message=first)
        if case.end == "skipped":
            detail.set("type", "pytest.skip")
        detail.text = message
    elif message:
        SubElement(element, "system-out").text = message


def _text(text: str) -> str:
    # ``escape_controls`` leaves two code points that XML 1.0 has no place for.
    return escape_controls(text).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"
