"""WebVoyager is run as it is: one task a file, Chrome by Selenium, its own judge or none."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.fake_environments import GPT, PLAYED, job_in, make_home, make_job
from warex.benchmarks import BenchmarkConfig, TaskEnvironment, TaskResult
from warex.benchmarks.adapters.webvoyager import ENDPOINT, WebVoyagerBenchmark
from warex.errors import CampaignError, TrialVoid
from warex.proxy.certificates.ca import ensure_ca
from warex.scenarios import Scenario
from warex.scenarios.load import load_preset
from warex.traces import Ending

TASK = "Map--0"
SITE = "https://map.example"


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("webvoyager")
    (folder / "checkout/data").mkdir(parents=True)
    (folder / "checkout/run.py").write_text("")
    line = {"web_name": "Map", "id": TASK, "ques": "Where is it?", "web": f"{SITE}/start"}
    (folder / "checkout/data/WebVoyager_data.jsonl").write_text(json.dumps(line) + "\n\n")
    own = {"id": "own", "ques": "What?", "web": "http://own.example:81/"}
    (folder / "own.jsonl").write_text(json.dumps(own))
    return {
        "home": make_home(folder / "home", WebVoyagerBenchmark),
        "checkout": folder / "checkout",
        "own": folder / "own.jsonl",
    }


type Make = Callable[..., WebVoyagerBenchmark]


@pytest.fixture(scope="module")
def webvoyager(places: dict[str, Path]) -> Make:
    def make(sites: dict[str, str] | None = None, **options: Any) -> WebVoyagerBenchmark:
        fields = {"checkout": str(places["checkout"])} | options
        table: dict[str, Any] = {"dir": str(places["home"]), "sites": sites or {}}
        return WebVoyagerBenchmark(BenchmarkConfig(name="webvoyager", options=fields, **table))

    return make


def test_the_tasks_are_the_checkouts_or_those_of_your_own_file(
    webvoyager: Make, places: dict[str, Path]
) -> None:
    assert webvoyager().tasks() == (TASK,)
    assert webvoyager().sites(TASK) == (SITE,)
    assert webvoyager().site_names_of("Google Map--0") == ("Google Map",)
    own = webvoyager(tasks=str(places["own"]))
    assert (own.tasks(), own.sites("own")) == (("own",), ("http://own.example:81",))
    assert own.site_names_of("own") == ("own.example",)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            '{"id": "a"}\n',
            r"tasks\.jsonl, line 1: 'ques' is missing",
        ),
        ("\n[]\n", r"tasks\.jsonl, line 2: "),
        ("{\n", r"line 1 is not JSON: Expecting"),
        ("", r"tasks\.jsonl holds no task: it is an empty file"),
        (None, r"tasks\.jsonl cannot be read: .*No such file"),
    ],
)
def test_a_file_without_tasks_is_reported_with_a_remedy(
    webvoyager: Make, tmp_path: Path, content: str | None, says: str
) -> None:
    if content is not None:
        (tmp_path / "tasks.jsonl").write_text(content)
    with pytest.raises(CampaignError, match=says + r".*; give a file with a task on each line"):
        webvoyager(tasks=str(tmp_path / "tasks.jsonl")).tasks()


def test_a_folder_that_is_not_a_checkout_is_reported_with_its_contents(
    webvoyager: Make, tmp_path: Path
) -> None:
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "README.md").touch()
    says = r"checkout: .*/else holds no data/.*: it is a folder that holds README\.md; give the fol"
    with pytest.raises(CampaignError, match=says):
        webvoyager(checkout=str(tmp_path / "else")).tasks()


def scenario(arm: str | None = None, **fault: Any) -> Scenario:
    rule = {"name": "r", "trigger": {"first": 1}, "fault": fault}
    return Scenario.model_validate({"name": "s", "arm": arm, "rules": [rule]})


@pytest.mark.parametrize(
    ("scenario", "arm"),
    [
        (load_preset("paper/server-error"), "first_page"),
        (scenario(kind="connection_cut"), "first_page"),
        (scenario(kind="dns_failure"), "first_llm_call"),
        (load_preset("paper/popup"), "first_llm_call"),
        (load_preset("paper/malicious-popup"), "first_llm_call"),
        (scenario(kind="dark_pattern", pattern="nagging"), "first_llm_call"),
        (scenario(kind="dark_pattern", pattern="disguised_ad"), "first_page"),
        (scenario(kind="consent_wall"), "first_page"),
        (scenario("start", kind="dns_failure"), "start"),
    ],
)
def test_connection_faults_and_popups_wait_for_the_first_model_call(
    webvoyager: Make, scenario: Scenario, arm: str
) -> None:
    assert webvoyager().arm(scenario, TASK) == arm


def test_the_agents_fixed_model_address_is_mapped_to_the_model(webvoyager: Make) -> None:
    benchmark = webvoyager({SITE: "http://127.0.0.1:8001"})

    assert benchmark.endpoints(GPT) == (ENDPOINT,)
    benchmark.validate([TASK], [GPT, PLAYED])
    with pytest.raises(CampaignError, match="the path of base_url must be /v1, as in"):
        benchmark.validate([TASK], [replace(GPT, base_url="http://model.example/api")])


def test_a_variable_that_its_client_does_not_read_is_not_ignored(
    webvoyager: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:8000/v1")
    with pytest.raises(CampaignError, match="reads no such variable; write that as the agent's"):
        webvoyager().validate([TASK], [GPT])
    webvoyager().validate([TASK], [replace(GPT, base_url=ENDPOINT), PLAYED])


def test_without_a_proxy_nothing_is_replaced(webvoyager: Make) -> None:
    webvoyager().validate([TASK], [GPT], direct=True)
    with pytest.raises(CampaignError, match=r"'no-proxy': https://map\.example is served from"):
        webvoyager({SITE: "http://127.0.0.1:8001"}).validate([TASK], [GPT], direct=True)
    with pytest.raises(CampaignError, match="'no-proxy': the model of agent 'played'"):
        webvoyager().validate([TASK], [PLAYED], direct=True)
    webvoyager().validate([TASK], [replace(GPT, observation=("screenshot", "html"))])
    with pytest.raises(
        CampaignError, match=r"can show its model \[html, screenshot\] or \[axtree\]"
    ):
        webvoyager().validate([TASK], [replace(GPT, observation=("screenshot",))])


def test_the_sites_are_mapped(webvoyager: Make, tmp_path: Path) -> None:
    benchmark = webvoyager({SITE: "http://127.0.0.1:8001"})
    with benchmark.start_environment(
        TASK, tmp_path, ensure_ca(tmp_path / "ca"), direct=False
    ) as environment:
        assert environment.maps == (f"{SITE}=http://127.0.0.1:8001",)


def test_one_task_is_run_with_a_chrome_that_knows_the_proxy(
    webvoyager: Make, tmp_path: Path
) -> None:
    job = make_job(tmp_path, TASK)
    command = webvoyager().command(job, TaskEnvironment())

    config = json.loads(command.arguments[-1])
    assert command.cwd == job.folder / "webvoyager"
    assert json.loads((job.folder / "webvoyager/task.jsonl").read_text())["id"] == TASK
    run = config["run"]
    assert "--text_only" in run
    assert run[run.index("--max_iter") + 1] == "7"
    # The key stands in no file and no argument of ours.
    assert "--api_key" not in json.dumps(config)
    assert config["judge"] == []
    chrome = Path(command.variables["PATH"].split(os.pathsep)[0], "chrome").read_text()
    assert "--proxy-server" in chrome
    assert ("--no-sandbox" in chrome) == (os.geteuid() == 0)


def test_an_agent_that_sees_gets_screenshots_and_the_judge_is_asked(
    webvoyager: Make, tmp_path: Path
) -> None:
    job = make_job(tmp_path, TASK, replace(GPT, screenshot=True))
    config = json.loads(
        webvoyager(judge=True, judge_model="gpt-4o").command(job, TaskEnvironment()).arguments[-1]
    )

    assert "--text_only" not in config["run"]
    assert config["judge"][config["judge"].index("--api_model") + 1] == "gpt-4o"
    assert config["judged"] == config["judge"][config["judge"].index("--process_dir") + 1]


def leave(folder: Path, log: str = "", verdict: str | None = None, *values: str) -> None:
    """Leave what run.py and its judge leave behind."""
    result = folder / "webvoyager/results/20240101/taskMap--0"
    result.mkdir(parents=True)
    messages = [{"role": "assistant", "content": each} for each in values]
    user = {"role": "user", "content": "Now given a task: ANSWER; no"}
    (result / "interact_messages.json").write_text(json.dumps([user, *messages]))
    (result / "agent.log").write_text(log)
    if verdict is not None:
        (folder / "webvoyager/judge.log").write_text(verdict)


ANSWERED = "Thought: Found.\nAction: ANSWER; [15213]"
WAITING = "Thought: Hm.\nAction: Wait"


def test_without_a_judge_success_is_unknown(webvoyager: Make, tmp_path: Path) -> None:
    leave(tmp_path, "", None, WAITING, ANSWERED)

    assert webvoyager().read(job_in(tmp_path, TASK), TaskEnvironment(), 0) == TaskResult(
        "answered", None, "15213"
    )


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("Auto_eval_res: 1\n\n[1]\n", 1.0),
        ("Auto_eval_res: 0\n\n[0]\n", 0.0),
        ("Not find answer for results/x\n\n[0]\n", 0.0),
    ],
)
def test_the_verdict_is_its_judges(
    webvoyager: Make, tmp_path: Path, text: str, score: float
) -> None:
    leave(tmp_path, "", text, ANSWERED)

    assert webvoyager(judge=True).read(job_in(tmp_path, TASK), TaskEnvironment(), 0).score == score


@pytest.mark.parametrize("text", ["Auto_eval_res: None\n", "openai.APIError: no\n", ""])
def test_a_judge_without_a_verdict_says_nothing_of_the_agent(
    webvoyager: Make, tmp_path: Path, text: str
) -> None:
    leave(tmp_path, "", text, ANSWERED)

    with pytest.raises(TrialVoid, match=r"auto_eval\.py gave no verdict"):
        webvoyager(judge=True).read(job_in(tmp_path, TASK), TaskEnvironment(), 0)


@pytest.mark.parametrize(
    ("log", "ending"),
    [
        ("API call complete...\nAPI call complete...\n", "step_limit"),
        ("API call complete...\nError occurred, retrying. Error type: X\n", "model_error"),
        ("API call complete...\nDriver error when adding set-of-mark.\n", "agent_crashed"),
    ],
)
def test_a_missing_answer_is_explained_from_the_log(
    webvoyager: Make, tmp_path: Path, log: str, ending: Ending
) -> None:
    leave(tmp_path, log, None, WAITING)

    result = webvoyager().read(job_in(tmp_path, TASK), TaskEnvironment(), 0)

    assert result == TaskResult(ending, None)


def test_a_model_that_never_answered_is_unusable(webvoyager: Make, tmp_path: Path) -> None:
    leave(tmp_path, "Error occurred, retrying. Error type: AuthenticationError\n")

    result = webvoyager().read(job_in(tmp_path, TASK), TaskEnvironment(), 0)

    assert result.void_reason == "the model never answered: AuthenticationError"


def test_no_result_is_a_crash_or_the_time_limit(webvoyager: Make, tmp_path: Path) -> None:
    (tmp_path / "agent.log").write_text("selenium.WebDriverException: net::ERR_NAME\n")

    crashed = webvoyager().read(job_in(tmp_path, TASK), TaskEnvironment(), 1)

    assert crashed.ending == "harness_crashed"
    assert "after it said: selenium.WebDriverException" in crashed.reasons[0]
    assert webvoyager().read(job_in(tmp_path, TASK), TaskEnvironment(), None) == TaskResult(
        "time_limit", None
    )
    judged = webvoyager(judge=True).read(job_in(tmp_path, TASK), TaskEnvironment(), None)
    assert judged == TaskResult("time_limit", 0.0)
