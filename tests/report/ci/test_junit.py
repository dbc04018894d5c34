import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
import xmlschema
from junitparser.xunit2 import JUnitXml

from warex.report.ci.cases import Case
from warex.report.ci.junit import junit

HOSTILE = "a\x00\x1b[31m\x9b]]><!-- & \" ' \ud800 \uffff \u202e end"


def test_suites_have_pytests_dialect() -> None:
    cases = (
        Case("g", "holds", "passed", seconds=1.5),
        Case("g", "broken", "failed", "first\nsecond"),
        Case("g", "void", "error", "why"),
        Case("g", "open", "skipped", "chance"),
        Case("g", "let pass", "passed", "chance"),
    )
    (suite,) = fromstring(junit({"run": cases}))

    assert suite.attrib == {
        "name": "run",
        "errors": "1",
        "failures": "1",
        "skipped": "1",
        "tests": "5",
        "time": "1.500",
    }
    ends = [[child.tag for child in case] for case in suite]
    assert ends == [[], ["failure"], ["error"], ["skipped"], ["system-out"]]
    assert suite[1][0].attrib == {"message": "first"}
    assert suite[1][0].text == "first\nsecond"
    assert suite[3][0].attrib == {"message": "chance", "type": "pytest.skip"}
    assert all(case.get("classname") == "g" and case.get("time") for case in suite)


def test_another_program_reads_the_suites() -> None:
    cases = (
        Case("g", "holds", "passed", seconds=1.5),
        Case("g", HOSTILE, "failed", HOSTILE),
        Case("g", "void", "error", "why"),
        Case("g", "open", "skipped", "chance"),
    )
    read = JUnitXml.fromstring(junit({"one": cases, "two": cases[:1]}))

    written = [(suite.tests, suite.failures, suite.errors, suite.skipped) for suite in read]
    assert written == [(4, 1, 1, 1), (1, 0, 0, 0)]
    outcomes = [type(each).__name__ for suite in read for case in suite for each in case.result]
    assert outcomes == ["Failure", "Error", "Skipped"]
    read.update_statistics()  # type: ignore[no-untyped-call]
    assert written == [(suite.tests, suite.failures, suite.errors, suite.skipped) for suite in read]


def test_a_hostile_name_stays_text() -> None:
    document = junit({HOSTILE: (Case(HOSTILE, HOSTILE, "failed", HOSTILE),)})

    (suite,) = fromstring(document)
    shown = "a␀␛[31m\ufffd]]><!-- & \" ' \ufffd \ufffd \ufffd end"
    assert suite.get("name") == suite[0].get("name") == suite[0][0].text == shown


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_the_schema_of_jenkins_holds(tmp_path: Path) -> None:
    """pytest's source distribution has that schema, for the same test of its own documents."""
    source = f"pytest=={version('pytest')}"
    pip = [sys.executable, "-m", "uv", "tool", "run", "-q", "pip", "download", "-q"]
    subprocess.run(
        [*pip, "--no-deps", "--no-binary", "pytest", "-d", str(tmp_path), source],
        check=True,
        timeout=150,
    )
    (archive,) = tmp_path.glob("pytest-*.tar.gz")
    with tarfile.open(archive) as files:
        name = next(name for name in files.getnames() if name.endswith("/junit-10.xsd"))
        stored = files.extractfile(name)
        assert stored
        schema = xmlschema.XMLSchema(stored.read().decode())
    cases = (
        Case("g", "holds", "passed", seconds=1234.5),
        Case(HOSTILE, HOSTILE, "failed", HOSTILE),
        Case("g", "void", "error", "why"),
        Case("g", "open", "skipped", "chance"),
        Case("g", "let pass", "passed", "chance"),
    )

    document = junit({"one": cases, HOSTILE: cases[:1], "empty": ()})

    assert [*schema.iter_errors(document.decode())] == []
    assert not schema.is_valid(document.decode().replace("classname=", "class="))
