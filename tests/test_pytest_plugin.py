"""The plugin in a pytest of its own, as a team has it."""

import json
import re
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import parse

import pytest

from tests.analysis.builders import RunFolder, failed, solved
from tests.trials.shop import browser
from warex import pytest_plugin
from warex.analysis.run.load import load_run
from warex.analysis.table.tabulate import tabulate
from warex.errors import InputError
from warex.pytest_plugin import folder_of_test

pytestmark = pytest.mark.wire


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Site) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_port
        server.shutdown()


def run(folder: Path, site: int, tests: str, *arguments: str) -> tuple[int, str]:
    """Run a file of tests in a pytest of its own; return its exit code and what it printed."""
    head = f"""\
        import httpx, pytest

        MAPS = {{"http://shop.example": "http://127.0.0.1:{site}"}}
        ALWAYS = {{"name": "down", "rules": [{{
            "name": "down", "match": {{"url": "http://shop.example/*"}},
            "trigger": {{"always": True}}, "fault": {{"kind": "http_error", "status": 500}},
        }}]}}

        def status(warex):
            return httpx.get("http://shop.example/", proxy=warex.proxy.url).status_code
    """
    (folder / "test_agent.py").write_text(textwrap.dedent(head) + textwrap.dedent(tests))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_marked_test_without_injection_fails(tmp_path: Path, site: int) -> None:
    code, text = run(
        tmp_path,
        site,
        """
        @pytest.mark.warex(ALWAYS, maps=MAPS)
        def test_faulted(warex):
            assert status(warex) == 500

        @pytest.mark.warex(ALWAYS)
        def test_goes_past_it(warex):
            pass
        """,
    )

    assert code == 1
    assert "FAILED test_agent.py::test_goes_past_it" in text
    assert "1 failed, 1 passed" in text


@pytest.mark.slow
def test_marker_and_fixture_run_under_their_scenario(tmp_path: Path, site: int) -> None:
    code, text = run(
        tmp_path,
        site,
        """
        @pytest.mark.warex(ALWAYS, maps=MAPS, seed=3)
        def test_faulted(warex):
            assert status(warex) == 500
            assert [each.state for each in warex.proxy.ledger] == ["delivered"]

        @pytest.mark.warex(maps=MAPS)
        def test_healthy(warex):
            assert status(warex) == 200

        def test_part_of_it(warex):
            with warex.intercept(ALWAYS, maps=MAPS) as proxy:
                assert httpx.get("http://shop.example/", proxy=proxy.url).status_code == 500

        @pytest.mark.warex(ALWAYS)
        def test_goes_past_it(warex):
            pass

        @pytest.mark.warex(ALWAYS, exposed=False)
        def test_is_meant_to(warex):
            pass

        @pytest.mark.warex(ALWAYS)
        def test_does_not_even_ask():
            pass
        """,
    )

    assert code == 1
    assert "no fault of the scenario was delivered" in text
    assert "FAILED test_agent.py::test_goes_past_it" in text
    assert "FAILED test_agent.py::test_does_not_even_ask" in text
    assert "2 failed, 4 passed" in text
    assert "Traceback" not in text


@pytest.mark.slow
def test_a_failed_test_gets_no_second_failure(tmp_path: Path, site: int) -> None:
    code, text = run(
        tmp_path,
        site,
        """
        @pytest.mark.warex(ALWAYS)
        def test_fails(warex):
            assert False
        """,
    )

    assert code == 1
    assert "1 failed" in text
    assert "error" not in text.splitlines()[-1]


@pytest.mark.slow
def test_an_unmarked_test_that_uses_the_proxy_gets_a_remedy(tmp_path: Path, site: int) -> None:
    code, text = run(
        tmp_path,
        site,
        """
        def test_asks(warex):
            warex.proxy
        """,
    )

    assert code == 1
    assert "mark it with @pytest.mark.warex(SCENARIO)" in text


def test_a_tests_folder_is_readable_and_its_own() -> None:
    names = ("test_plain", "test_many[0]", "test_many[a b]", "test_many[a/b]", "test_x[A]")
    tests = [(name, f"a.py::{name}") for name in names]
    tests += [("test_x[a]", "a.py::test_x[a]"), ("test_plain", "b.py::test_plain")]
    tests += [(f"test_{'x' * 300}[{number}]", f"a.py::long{number}") for number in range(2)]
    tests += [("[ü]", "a.py::[ü]")]

    folders = [folder_of_test(*test, tests) for test in tests]

    assert folders[1] == "test_many-0"
    assert folders[0].startswith("test_plain-")
    assert folders[-1] == "test"
    assert len({folder.lower() for folder in folders}) == len(tests)
    assert all(re.fullmatch(r"\w[\w.-]{,200}", folder) for folder in folders)


@pytest.mark.slow
def test_traces_are_kept_where_they_are_asked_for(tmp_path: Path, site: int) -> None:
    code, path = run(
        tmp_path,
        site,
        """
        @pytest.mark.warex(ALWAYS, maps=MAPS)
        def test_faulted(warex):
            assert status(warex) == 500
        """,
        "--warex-out",
        str(tmp_path / "kept"),
    )

    assert code == 0, path
    assert (tmp_path / "kept/test_faulted/trace/events.jsonl").exists()


LOOK = "import urllib.request; urllib.request.urlopen('http://shop.example/').read()"


@pytest.mark.slow
def test_a_run_says_what_repeats_it_and_nothing_where_nothing_typed_would(
    tmp_path: Path, site: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAREX_CHROMIUM", str(browser(tmp_path)))
    campaign = {
        "name": "mine",
        "benchmark": {
            "name": "command",
            "sites": {"http://shop.example": f"http://127.0.0.1:{site}"},
            "options": {"command": [sys.executable, "-c", LOOK], "tasks": ["look"]},
        },
        "agents": [{"name": "a", "model": "none"}],
        "conditions": [{"name": "clean"}],
    }
    (tmp_path / "campaign.json").write_text(json.dumps(campaign))

    code, text = run(
        tmp_path,
        site,
        f"""
        def test_of_a_file(warex):
            done = warex.run("campaign.json", jobs=1)
            assert done.run.manifest.command == ["warex", "run", "campaign.json", "--jobs", "1"]
            assert "<dt>command</dt>" in done.report.read_text()

        def test_of_keys(warex):
            done = warex.run({campaign!r})
            assert done.run.manifest.command == []
            assert "<dt>command</dt>" not in done.report.read_text()
        """,
    )

    assert code == 0, text
    assert "2 passed" in text


@pytest.mark.parametrize(
    ("campaign", "options", "typed"),
    [
        (Path("c.toml"), {}, ("warex", "run", "c.toml")),
        ("demo", {"limit": 2, "jobs": None}, ("warex", "run", "demo", "--limit", "2")),
        ("demo", {"insecure": True}, ()),
        ({"name": "c"}, {"jobs": 2}, ()),
    ],
)
def test_only_what_may_be_typed_as_it_was_called_is_said_to_repeat_it(
    campaign: Any, options: dict[str, Any], typed: tuple[str, ...]
) -> None:
    assert pytest_plugin._command(campaign, options) == typed


@pytest.mark.slow
def test_a_campaign_with_unknown_keys_is_refused_in_a_sentence(tmp_path: Path, site: int) -> None:
    code, text = run(
        tmp_path,
        site,
        """
        def test_runs(warex):
            warex.run({"schema_version": 1, "name": "mine", "benchmrk": "testbed"})
        """,
    )

    assert code == 1
    assert "CampaignError: campaign has" in text
    assert "did you mean 'benchmark'?" in text


@pytest.mark.slow
def test_an_invalid_scenario_is_a_sentence(tmp_path: Path, site: int) -> None:
    code, text = run(
        tmp_path,
        site,
        """
        @pytest.mark.warex("paper/server-eror")
        def test_faulted(warex):
            pass
        """,
    )

    assert code == 1
    assert "paper/server-error" in text


@pytest.fixture
def measured(tmp_path: Path) -> pytest_plugin.CampaignRun:
    """A run of which five of six trials are solved under clean."""
    folder = RunFolder(tmp_path).manifest()
    for task in range(6):
        folder.trial("clean", str(task), solved() if task else failed())
    run = load_run(tmp_path)
    return pytest_plugin.CampaignRun(tmp_path, tmp_path / "report.html", run, tabulate(run))


def test_what_a_test_requires_passes_fails_or_is_skipped(
    measured: pytest_plugin.CampaignRun,
) -> None:
    measured.require("clean.success>=0.8")
    with pytest.raises(AssertionError, match=r"does not reach clean\.success<=0\.4:\n  patient"):
        measured.require("clean.success<=0.4")
    unclear = "clean.success>=0.9"
    with pytest.raises(pytest.skip.Exception, match=r"may or may not reach clean\.success>=0\.9"):
        measured.require(unclear)
    measured.require(unclear, on_unclear="pass")
    with pytest.raises(AssertionError, match="may or may not reach"):
        measured.require(unclear, on_unclear="fail")
    with pytest.raises(InputError, match=r"did you mean 0\.8"):
        measured.require("clean.success>=80", on_unclear="pass")
    for demand in ("clean.success>=0.8", unclear):
        with pytest.raises(InputError, match=r"on_unclear='fial'.*did you mean 'fail'"):
            measured.require(demand, on_unclear="fial")  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n1",)], ids=["alone", "beside each other"])
def test_what_campaigns_showed_is_written_for_a_ci_server(
    tmp_path: Path,
    site: int,
    measured: pytest_plugin.CampaignRun,
    workers: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    files = ("--warex-junit", "a.xml", "--warex-junit-trials", "--warex-sarif", "a.sarif")
    code, text = run(
        tmp_path,
        site,
        f"""
        from pathlib import Path
        from warex.analysis.run.load import load_run
        from warex.analysis.table.tabulate import tabulate
        from warex.pytest_plugin import CampaignRun

        def test_it(warex):
            loaded = load_run(Path({str(measured.path)!r}))
            done = CampaignRun(loaded.path, Path("report.html"), loaded, tabulate(loaded))
            warex.runs.append(done)
            done.require("clean.success>=0.8")
            done.require("clean.success<=0.4")
        """,
        *files,
        *workers,
    )

    assert code == 1
    (suite,) = parse(tmp_path / "a.xml").getroot()
    ends = [(case.get("name"), [child.tag for child in case]) for case in suite]
    assert ends[:2] == [("clean.success>=0.8", []), ("clean.success<=0.4", ["failure"])]
    assert len(ends) == 8
    assert (tmp_path / "a.sarif").exists()
    assert (tmp_path / "summary.md").read_text().startswith("## WAREX: ")
    assert "\n::error title=WAREX%3A clean.success<=0.4::patient, clean: " in text


def test_a_file_for_a_ci_server_that_cannot_be_written_is_a_sentence(
    tmp_path: Path, site: int
) -> None:
    code, text = run(tmp_path, site, "", "--warex-junit", ".")

    assert code == 4
    assert "--warex-junit .: this is a folder" in text


@pytest.mark.slow
def test_a_marker_that_cannot_work_is_a_sentence(tmp_path: Path, site: int) -> None:
    code, text = run(
        tmp_path,
        site,
        """
        @pytest.mark.warex
        def test_bare(warex):
            pass

        @pytest.mark.warex("paper/server-error", site="http://x")
        def test_option(warex):
            pass

        @pytest.mark.warex("paper/server-error", "paper/network-error")
        def test_two(warex):
            pass

        @pytest.mark.warex("paper/server-error", exposed="no")
        def test_exposed(warex):
            pass

        def test_run(warex):
            warex.run("demo", job=1)

        def test_name(warex):
            warex.run("demo", nam="x")

        def test_value(warex):
            warex.run("demo", jobs="x")
        """,
    )

    assert code == 1
    assert "in _start_proxy" not in text
    sentence = r"^@pytest\.mark\.warex takes one scenario"
    assert len(re.findall(sentence, text, re.MULTILINE)) == 2
    assert "site=…): there is no option 'site'; did you mean 'sites'?" in text
    assert "exposed='no'): give True or False" in text
    assert "there is no option 'job'; did you mean 'jobs'?" in text
    assert "there is no option 'nam'; did you mean 'name'?" in text
    assert "jobs='x': give a whole number from 1 to 256" in text
