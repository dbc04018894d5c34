"""What the reference agent left behind is read for what it is."""

import json
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.benchmarks.fake_environments import job_in
from warex.agents.reference.__main__ import _parser
from warex.agents.reference.actions import PARAMETERS
from warex.benchmarks import AGENT_LOG, AgentSpec, Job, TaskEnvironment
from warex.benchmarks.adapters.testbed import TestbedBenchmark
from warex.errors import CampaignError, InputError, MachineError, TrialVoid
from warex.proxy.certificates.ca import ensure_ca
from warex.scenarios import Scenario
from warex.scenarios.load import load_preset
from warex_testbed.sites import Sites

TASK = "calendar-friday-evening"
RIGHT = "The Cinema evening: Cinema."


@pytest.fixture(scope="module")
def bench() -> TestbedBenchmark:
    return TestbedBenchmark()


@pytest.fixture
def site() -> Iterator[TaskEnvironment]:
    with telling(json.dumps(Sites().state()).encode()) as port:
        yield TaskEnvironment(port=port)


@contextmanager
def telling(state: bytes) -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(state)))
            self.end_headers()
            self.wfile.write(state)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def wrote(folder: Path, ending: str, answer: str | None = None, error: str | None = None) -> Path:
    message = {"ending": ending, "answer": answer, "steps": 1, "error": error}
    (folder / "result.json").write_text(json.dumps(message))
    return folder


def test_where_the_testbed_is_not_installed_it_is_said_what_brings_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(
        MachineError, match="the benchmark testbed needs warex_testbed, not installed"
    ):
        TestbedBenchmark()


def test_warex_is_whole_without_the_testbed() -> None:
    code = (
        "import sys\n"
        "sys.modules['warex_testbed'] = None\n"
        "from warex.benchmarks import BENCHMARKS, benchmark_of\n"
        "from warex.benchmarks.table import BenchmarkConfig\n"
        "benchmark_of(BenchmarkConfig(name='browser-use', options={'tasks': 'no.jsonl'}))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_the_vocabulary_is_exactly_the_reference_agents_actions(bench: TestbedBenchmark) -> None:
    assert bench.vocabulary.names == set(PARAMETERS)


def test_the_docs_show_the_vocabulary(bench: TestbedBenchmark) -> None:
    page = (Path(__file__).parents[3] / "docs/reference/benchmarks.md").read_text(encoding="utf-8")

    for name, words in bench.vocabulary.model_dump(
        exclude={"name", "asks_again", "first_only"}
    ).items():
        assert not words or f"| {name} | `{' '.join(words)}` |" in page


def test_the_command_is_one_that_the_agent_takes(bench: TestbedBenchmark, tmp_path: Path) -> None:
    agent = AgentSpec("a", "gpt-x", "http://127.0.0.1:1/v1", screenshot=True, max_steps=7)

    job = Job(TASK, agent, tmp_path, tmp_path, 1, Path("/bin/chromium"), ("--flag=a b",))
    command = bench.command(job, TaskEnvironment()).arguments

    taken = _parser().parse_args(command[3:])
    assert command[1:3] == ["-m", "warex.agents.reference"]
    assert (taken.model, taken.base_url, taken.max_steps) == ("gpt-x", agent.base_url, 7)
    assert taken.screenshot
    assert taken.browser_arg == ["--flag=a b"]
    assert taken.start_url.startswith(bench.sites(TASK)[0])
    assert taken.result.parent == tmp_path


def test_faults_begin_at_the_first_page_unless_the_scenario_says_otherwise(
    bench: TestbedBenchmark,
) -> None:
    assert bench.arm(load_preset("paper/server-error"), TASK) == "first_page"
    assert bench.arm(Scenario(name="s", arm="start"), TASK) == "start"


def test_an_unknown_task_is_reported_which_there_are(bench: TestbedBenchmark) -> None:
    with pytest.raises(CampaignError, match=f"no task 'x'; there are: .*{TASK}"):
        bench.sites("x")


@pytest.mark.wire
def test_a_right_answer_is_a_full_score(
    bench: TestbedBenchmark, site: TaskEnvironment, tmp_path: Path
) -> None:
    result = bench.read(job_in(wrote(tmp_path, "answered", RIGHT), TASK), site, 0)

    assert (result.ending, result.score, result.answer) == ("answered", 1.0, RIGHT)


@pytest.mark.wire
def test_a_wrong_answer_says_what_is_wrong(
    bench: TestbedBenchmark, site: TaskEnvironment, tmp_path: Path
) -> None:
    result = bench.read(job_in(wrote(tmp_path, "answered", "no idea"), TASK), site, 0)

    assert result.score == 0.0
    assert result.reasons


@pytest.mark.wire
@pytest.mark.parametrize("ending", ["reported_infeasible", "step_limit"])
def test_an_agent_without_an_answer_is_still_judged(
    bench: TestbedBenchmark, site: TaskEnvironment, tmp_path: Path, ending: str
) -> None:
    result = bench.read(job_in(wrote(tmp_path, ending, RIGHT), TASK), site, 0)

    assert (result.ending, result.score, result.answer) == (ending, 0.0, None)


@pytest.mark.wire
def test_the_state_is_judged_even_after_the_time_limit(
    bench: TestbedBenchmark, site: TaskEnvironment, tmp_path: Path
) -> None:
    result = bench.read(job_in(tmp_path, TASK), site, None)

    assert (result.ending, result.score) == ("time_limit", 0.0)
    assert result.void_reason is None


@pytest.mark.wire
def test_a_crash_is_reported_with_the_agents_last_words(
    bench: TestbedBenchmark, site: TaskEnvironment, tmp_path: Path
) -> None:
    (tmp_path / AGENT_LOG).write_text("[1] click('3')\nThe browser was lost: gone\n\n")

    result = bench.read(job_in(tmp_path, TASK), site, 1)

    assert result.ending == "harness_crashed"
    assert result.reasons == (
        "the agent ended with code 1, after it said: The browser was lost: gone",
    )


@pytest.mark.parametrize(
    ("code", "why"),
    [(3, "the agent found no Chromium"), (4, "the agent's model endpoint cannot be used")],
)
def test_failures_that_are_not_the_agents_are_unusable(
    bench: TestbedBenchmark, tmp_path: Path, code: int, why: str
) -> None:
    folder = wrote(tmp_path, "model_error", error="It answered 401: no key")

    result = bench.read(job_in(folder, TASK), TaskEnvironment(), code)

    assert result.void_reason == f"{why}: It answered 401: no key"


@pytest.mark.parametrize("rubbish", ["{", "[]", "\x00"])
def test_a_result_that_cannot_be_read_voids_the_trial(
    bench: TestbedBenchmark, tmp_path: Path, rubbish: str
) -> None:
    (tmp_path / "result.json").write_text(rubbish)

    with pytest.raises(TrialVoid, match=r"result\.json"):
        bench.read(job_in(tmp_path, TASK), TaskEnvironment(), 0)


@pytest.mark.wire
def test_a_testbed_that_has_gone_voids_the_trial(bench: TestbedBenchmark, tmp_path: Path) -> None:
    with pytest.raises(TrialVoid, match="the testbed does not tell its state"):
        bench.read(job_in(wrote(tmp_path, "answered", RIGHT), TASK), TaskEnvironment(port=9), 0)


@pytest.mark.wire
def test_a_state_of_another_program_is_refused_with_a_sentence(
    bench: TestbedBenchmark, tmp_path: Path
) -> None:
    path = wrote(tmp_path, "answered", "Done.")

    with telling(b"{}") as port, pytest.raises(InputError, match="no such place on calendar"):
        bench.read(job_in(path, "calendar-twelve-hour-clock"), TaskEnvironment(port=port), 0)


@pytest.mark.wire
def test_the_testbed_knows_whether_a_browser_came(bench: TestbedBenchmark, tmp_path: Path) -> None:
    with bench.start_environment(
        TASK, tmp_path, ensure_ca(tmp_path / "ca"), direct=False
    ) as environment:
        bench.read(job_in(wrote(tmp_path, "answered", RIGHT), TASK), environment, 0)
        assert bench.was_visited(environment) is False
        urllib.request.urlopen(environment.maps[0].partition("=")[2]).close()
        assert bench.was_visited(environment) is True
    with pytest.raises(TrialVoid, match="the testbed does not tell its health"):
        bench.was_visited(environment)


@pytest.mark.wire
@pytest.mark.parametrize("direct", [True, False])
def test_every_trial_gets_sites_of_its_own(
    bench: TestbedBenchmark, tmp_path: Path, direct: bool
) -> None:
    ca = ensure_ca(tmp_path / "ca")

    with (
        bench.start_environment(TASK, tmp_path, ca, direct=direct) as one,
        bench.start_environment(TASK, tmp_path, ca, direct=direct) as other,
    ):
        assert one.maps != other.maps
        assert one.maps[0].startswith(bench.sites(TASK)[0] + "=http://127.0.0.1:")
        assert bench.read(job_in(wrote(tmp_path, "answered", RIGHT), TASK), one, 0).score == 1.0
