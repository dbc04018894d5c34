"""WebArena-Infinity is run as it is: its own applications, runner and checks, fresh each time."""

import json
import sys
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.fake_environments import GPT, PLAYED, job_in, make_home, make_job
from warex.benchmarks import BenchmarkConfig, TaskEnvironment, TaskResult
from warex.benchmarks.adapters import webarena_infinity
from warex.benchmarks.adapters.webarena_infinity import InfinityBenchmark
from warex.errors import CampaignError, TrialVoid
from warex.proxy.certificates.ca import ensure_ca
from warex.scenarios import Scenario
from warex.scenarios.load import load_preset

ORIGIN = "http://infinity.warex.test:8001"
TASK = "mail/task_e1"
HIS = replace(GPT, model="gpt")

DRIVER = Path(webarena_infinity.__file__).with_name("drivers") / "infinity_run.py"

SERVER = """\
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(404 if self.path == "/api/state" else 200)
        self.end_headers()
    def log_message(self, *args): pass
server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[2])), Handler)
print("Serving on http://localhost")
server.serve_forever()
"""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("infinity")
    home = make_home(folder / "home", InfinityBenchmark)
    (home / "venv/bin/python").unlink()
    (home / "venv/bin/python").symlink_to(sys.executable)
    checkout = folder / "checkout"
    for name, suite, ids in (
        ("mail", "real-tasks", ("task_e1", "task_h1")),
        ("mail", "function-tasks", ("task_1",)),
        ("broken", "real-tasks", ("task_e1",)),
    ):
        app = checkout / "apps" / name
        app.mkdir(parents=True, exist_ok=True)
        (app / f"{suite}.json").write_text(json.dumps([{"id": each} for each in ids]))
        (app / "server.py").write_text(SERVER if name == "mail" else "raise SystemExit(1)")
    (checkout / "evaluation").mkdir()
    (checkout / "evaluation/run_eval_parallel.py").write_text("")
    return {"home": home, "checkout": checkout}


type Make = Callable[..., InfinityBenchmark]


@pytest.fixture(scope="module")
def infinity(places: dict[str, Path]) -> Make:
    def make(**options: Any) -> InfinityBenchmark:
        fields = {"checkout": str(places["checkout"])} | options
        table = BenchmarkConfig(name="webarena-infinity", dir=str(places["home"]), options=fields)
        return InfinityBenchmark(table)

    return make


def test_a_task_is_called_by_its_application(infinity: Make) -> None:
    assert infinity().tasks() == ("broken/task_e1", TASK, "mail/task_h1")
    assert infinity(suite="function-tasks").tasks() == ("mail/task_1",)


def test_a_folder_that_is_not_a_checkout_is_reported_by_what_it_lacks(
    infinity: Make, tmp_path: Path
) -> None:
    with pytest.raises(
        CampaignError, match=r"holds no apps/\*/real-tasks\.json: it is an empty folder;"
    ):
        infinity(checkout=str(tmp_path)).tasks()
    (tmp_path / "new" / "apps" / "mail").mkdir(parents=True)
    (tmp_path / "new" / "apps" / "mail" / "real-tasks.json").write_text("[]")
    with pytest.raises(CampaignError, match=r"holds no task: the list in .*tasks\.json is empty;"):
        infinity(checkout=str(tmp_path / "new")).tasks()
    with pytest.raises(CampaignError, match="there is nothing of this name; give the folder"):
        infinity(checkout=str(tmp_path / "none")).tasks()


@pytest.mark.parametrize("preset", ["paper/server-error", "paper/javascript"])
def test_the_set_up_meets_no_fault(infinity: Make, preset: str) -> None:
    assert infinity().arm(load_preset(preset), TASK) == "first_llm_call"
    scenario = load_preset(preset).model_copy(update={"arm": "start"})
    assert isinstance(scenario, Scenario)
    assert infinity().arm(scenario, TASK) == "start"


def test_a_model_that_its_runner_has_no_word_for_is_refused(infinity: Make) -> None:
    infinity().validate([TASK], [HIS, PLAYED, replace(HIS, base_url="http://model.example/v1")])
    with pytest.raises(CampaignError, match="knows no model 'gpt-4o'; it knows gpt, claude"):
        infinity().validate([TASK], [GPT])
    with pytest.raises(CampaignError, match="base_url goes with the model 'gpt'"):
        infinity().validate([TASK], [replace(GPT, model="claude", base_url="http://m.example/v1")])


@pytest.mark.wire
def test_each_trial_has_an_application_of_its_own(infinity: Make, tmp_path: Path) -> None:
    benchmark = infinity()
    ca = ensure_ca(tmp_path / "ca")
    with benchmark.start_environment(TASK, tmp_path, ca, direct=False) as environment:
        (mapped,) = environment.maps
        assert mapped.startswith(f"{ORIGIN}=http://127.0.0.1:")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        assert opener.open(mapped.partition("=")[2], timeout=10).status == 200
        assert benchmark.was_visited(environment) is False
        with benchmark.start_environment(TASK, tmp_path, ca, direct=False) as other:
            assert other.maps != environment.maps
    with pytest.raises(TrialVoid, match="does not tell its state"):
        benchmark.was_visited(environment)


@pytest.mark.wire
def test_an_application_that_does_not_start_says_nothing_of_the_agent(
    infinity: Make, tmp_path: Path
) -> None:
    ca = ensure_ca(tmp_path / "ca")
    with (
        pytest.raises(TrialVoid, match=r"broken/server\.py did not start"),
        infinity().start_environment("broken/task_e1", tmp_path, ca, direct=False),
    ):
        pass


@pytest.mark.parametrize("proxied", [True, False])
def test_the_runner_gets_another_host_behind_the_proxy(
    infinity: Make, places: dict[str, Path], tmp_path: Path, proxied: bool
) -> None:
    agent = replace(HIS, base_url="http://model.example/v1", screenshot=True)
    job = make_job(tmp_path, TASK, agent, proxied=proxied)
    benchmark = infinity()
    ca = ensure_ca(tmp_path / "ca")
    with benchmark.start_environment(TASK, tmp_path, ca, direct=True) as environment:
        command = benchmark.command(job, environment)

    assert command.arguments[:2] == [str(places["home"] / "venv/bin/python"), str(DRIVER)]
    document = json.loads(command.arguments[2])
    assert document["runner"] == str(places["checkout"] / "evaluation/run_eval_parallel.py")
    assert document["max_steps"] == 7
    arguments = document["arguments"]
    fields = dict(zip(arguments[::2], arguments[1::2], strict=False))
    assert fields["--web-app"] == str(places["checkout"] / "apps/mail")
    assert (fields["--task-id"], fields["--task-suite"]) == ("task_e1", "real-tasks")
    assert (fields["--workers"], fields["--max-steps"], fields["--model"]) == ("1", "7", "gpt")
    assert fields["--output-dir"] == str(job.folder / "results")
    assert fields["--env-host"] == ("infinity.warex.test" if proxied else "localhost")
    assert (fields["--base-port"] == "8001") == proxied
    assert arguments[-1] == "--use-vision"
    assert command.variables["OPENAI_BASE_URL"] == "http://model.example/v1"
    chrome = Path(command.variables["PLAYWRIGHT_BROWSERS_PATH"], "chromium-1/chrome-linux/chrome")
    assert "--proxy-server" in chrome.read_text()


def step(number: int, action: str | None, success: bool | None = None) -> dict[str, Any]:
    output: dict[str, Any] | None = None if action is None else {"action": [{action: {}}]}
    result = [{"success": success}]
    return {"model_output": output, "result": result, "metadata": {"step_number": number}}


def leave(folder: Path, steps: list[dict[str, Any]], **more: Any) -> None:
    """Leave what the runner leaves behind."""
    result = folder / "results/gpt_1_parallel/task_e1"
    result.mkdir(parents=True)
    answer = {
        "passed": True,
        "verifier_message": "It is starred.",
        "is_done": True,
        "final_result": "Starred it.",
        "errors": [],
    }
    (result / "result.json").write_text(json.dumps(answer | more))
    (result / "history.json").write_text(json.dumps({"history": steps}))


WORKED = [step(0, "navigate"), step(1, "click"), step(2, "done", True)]


@pytest.mark.parametrize(
    ("more", "result"),
    [
        ({}, TaskResult("answered", 1.0, "Starred it.", ("It is starred.",))),
        ({"passed": False}, TaskResult("answered", 0.0, "Starred it.", ("It is starred.",))),
        (
            {"passed": False, "is_done": False, "final_result": None},
            TaskResult("step_limit", 0.0, None, ("It is starred.",)),
        ),
        (
            {"passed": False, "verifier_message": "Timed out after 600s"},
            TaskResult("time_limit", 0.0, reasons=("Timed out after 600s",)),
        ),
        (
            {"passed": False, "verifier_message": "Agent crashed: CDP"},
            TaskResult("harness_crashed", 0.0, reasons=("Agent crashed: CDP",)),
        ),
    ],
)
def test_the_verdict_is_the_runners_own(
    infinity: Make, tmp_path: Path, more: dict[str, Any], result: TaskResult
) -> None:
    leave(tmp_path, WORKED, **more)

    assert infinity().read(job_in(tmp_path, TASK), TaskEnvironment(), 0) == result


@pytest.mark.parametrize(
    "words",
    [
        "HTTPConnectionPool(host='infinity.warex.test', port=8001): Max retries exceeded with url:"
        " /api/state (Caused by NewConnectionError('Connection refused'))",
        "('Connection aborted.', RemoteDisconnected('closed'))",
    ],
)
def test_a_check_that_could_not_ask_says_nothing_of_the_agent(
    infinity: Make, tmp_path: Path, words: str
) -> None:
    leave(tmp_path, WORKED, passed=False, verifier_message=f"Verifier exception: {words}")

    result = infinity().read(job_in(tmp_path, TASK), TaskEnvironment(), 0)

    assert (result.void_reason or "").startswith("the task's check could not ask the application:")


def test_a_check_that_breaks_on_what_the_agent_left_counts(infinity: Make, tmp_path: Path) -> None:
    leave(tmp_path, WORKED, passed=False, verifier_message="Verifier exception: 'emails'")

    assert infinity().read(job_in(tmp_path, TASK), TaskEnvironment(), 0).score == 0.0


def test_an_agent_that_says_it_failed_has_reported_the_task_infeasible(
    infinity: Make, tmp_path: Path
) -> None:
    leave(tmp_path, [*WORKED[:-1], step(2, "done", False)], passed=False)

    assert (
        infinity().read(job_in(tmp_path, TASK), TaskEnvironment(), 0).ending
        == "reported_infeasible"
    )


def test_a_model_that_never_answered_is_unusable(infinity: Make, tmp_path: Path) -> None:
    steps = [step(0, "navigate"), step(1, None)]
    leave(tmp_path, steps, passed=False, is_done=False, errors=[None, "401: no key"])

    result = infinity().read(job_in(tmp_path, TASK), TaskEnvironment(), 0)

    assert result.void_reason == "the model never said what to do: 401: no key"


def test_no_result_is_a_crash_with_the_runners_words_or_the_time_limit(
    infinity: Make, tmp_path: Path
) -> None:
    log = "[W0] Browser setup failed: no state\n\nNo tasks completed.\n"
    (tmp_path / "agent.log").write_text(log)

    crashed = infinity().read(job_in(tmp_path, TASK), TaskEnvironment(), 1)

    assert crashed.ending == "harness_crashed"
    assert "no result, after it said: [W0] Browser setup failed" in crashed.reasons[0]
    assert infinity().read(job_in(tmp_path, TASK), TaskEnvironment(), None) == TaskResult(
        "time_limit", 0.0
    )


def test_an_invalid_result_says_nothing_of_the_agent(infinity: Make, tmp_path: Path) -> None:
    leave(tmp_path, WORKED)
    (tmp_path / "results/gpt_1_parallel/task_e1/result.json").write_text("[]")

    with pytest.raises(TrialVoid, match=r"result\.json cannot be read"):
        infinity().read(job_in(tmp_path, TASK), TaskEnvironment(), 0)
