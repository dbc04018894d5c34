"""browser-use gets one task, and what its history says is judged by the task's own check."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.fake_environments import job_in
from warex.benchmarks import AgentSpec, BenchmarkConfig, Job, TaskEnvironment, TaskResult
from warex.benchmarks.adapters.browser_use import BrowserUseBenchmark
from warex.benchmarks.adapters.testbed import TestbedBenchmark
from warex.benchmarks.installation.virtualenv import MARKER
from warex.errors import CampaignError, MachineError, TrialVoid
from warex.extras import install_command
from warex.proxy.certificates.ca import ensure_ca
from warex.scenarios.load import load_preset
from warex_testbed.sites import Sites
from warex_testbed.tasks import Verdict, load_tasks

TASK = "calendar-friday-evening"
SHOP = {"id": "tea", "goal": "What does tea cost?", "url": "http://shop.example/tea?x=1"}


def benchmark(**table: Any) -> BrowserUseBenchmark:
    return BrowserUseBenchmark(BenchmarkConfig(name="browser-use", **table))


def own(folder: Path, *tasks: object, **table: Any) -> BrowserUseBenchmark:
    file = folder / "tasks.jsonl"
    file.write_text("\n".join(map(json.dumps, tasks)) + "\n\n")
    return benchmark(options={"tasks": str(file)}, **table)


def test_the_testbeds_tasks_are_its_tasks_by_default() -> None:
    testbed = TestbedBenchmark()

    assert benchmark().tasks() == testbed.tasks()
    assert benchmark().sites(TASK) == testbed.sites(TASK)


def test_tasks_of_a_file_bring_their_own_site(tmp_path: Path) -> None:
    tea = own(tmp_path, SHOP, sites={"https://pay.example": "http://127.0.0.1:8001"})

    assert tea.tasks() == ("tea",)
    assert tea.sites("tea") == ("http://shop.example", "https://pay.example")
    with tea.start_environment(
        "tea", tmp_path, ensure_ca(tmp_path / "ca"), direct=False
    ) as environment:
        assert environment.maps == ("https://pay.example=http://127.0.0.1:8001",)
        assert tea.was_visited(environment) is None
    with pytest.raises(CampaignError, match="no task 'coffee'; there are: tea"):
        tea.sites("coffee")


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ((), "holds no task"),
        ((SHOP, SHOP), "line 2: the task 'tea' is listed twice"),
        (({**SHOP, "url": "shop.example"},), r"line 1: .*url"),
        (({"id": "a", "goal": "b"},), r"line 1: .*url"),
        (("tea",), "line 1"),
        (({**SHOP, "expects": "1"},), r"line 1: .*expects"),
        (({**SHOP, "expect": {"contains": []}},), r"line 1: .*expect\.contains"),
        (({**SHOP, "expect": 3.5},), r"line 1: .*expect"),
    ],
)
def test_a_mistake_in_the_file_names_its_line(
    tmp_path: Path, lines: tuple[object, ...], says: str
) -> None:
    with pytest.raises(CampaignError, match=says):
        own(tmp_path, *lines).tasks()


def test_a_missing_or_malformed_json_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match=r"gone\.jsonl cannot be read"):
        benchmark(options={"tasks": str(tmp_path / "gone.jsonl")}).tasks()
    (tmp_path / "bad.jsonl").write_text("\n{")
    with pytest.raises(CampaignError, match=r"bad\.jsonl, line 2"):
        benchmark(options={"tasks": str(tmp_path / "bad.jsonl")}).tasks()


def test_what_cannot_be_in_the_table_is_refused() -> None:
    with pytest.raises(CampaignError, match=r"the key goes with options\.tasks"):
        benchmark(sites={"https://shop.example": "http://127.0.0.1:8001"})
    with pytest.raises(CampaignError, match=r"agent\.llm is the adapter's own"):
        benchmark(options={"agent": {"llm": "mine"}})


def made(folder: Path) -> str:
    python = folder / "venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text("")
    marker = {
        "benchmark": "browser-use",
        "recipe": BrowserUseBenchmark.recipe.digest,
        "said": {},
    }
    (folder / MARKER).write_text(json.dumps(marker))
    return str(folder)


def test_a_site_that_only_the_proxy_can_map_is_refused_without_one(tmp_path: Path) -> None:
    sites = {"https://pay.example": "http://127.0.0.1:8001"}
    tea = own(tmp_path, SHOP, sites=sites, dir=made(tmp_path / "home"))

    tea.validate(["tea"], [])
    with pytest.raises(CampaignError, match=r"'no-proxy': https://pay\.example"):
        tea.validate(["tea"], [], direct=True)


def test_the_script_gets_the_task_and_leaves_nothing_behind(tmp_path: Path) -> None:
    bench = benchmark(dir=made(tmp_path / "home"), options={"agent": {"use_vision": False}})
    folder, scratch = tmp_path / "attempt", tmp_path / "scratch"
    folder.mkdir()
    agent = AgentSpec("one", "gpt-4o", "http://model.test/v1", max_steps=7)
    flags = ("--proxy-server=http://127.0.0.1:1",)

    command = bench.command(
        Job(TASK, agent, folder, scratch, 1, Path("/usr/bin/chromium"), flags), TaskEnvironment()
    )

    config = json.loads((folder / "job.json").read_text())
    task = next(task for task in load_tasks() if task.name == TASK)
    assert config == {
        "task": f"{task.goal}\nThe website is https://calendar.warex.test/",
        "url": "https://calendar.warex.test/",
        "api": "openai",
        "model": "gpt-4o",
        "base_url": "http://model.test/v1",
        "max_steps": 7,
        "agent": {"use_vision": False},
        "browser": "/usr/bin/chromium",
        "browser_arguments": list(flags),
        "result": str(folder / "result.json"),
    }
    assert command.arguments[-1] == str(folder / "job.json")
    assert command.variables["TMPDIR"] == str(command.cwd) == str(scratch)
    assert command.variables["BROWSER_USE_CONFIG_DIR"].startswith(str(scratch))
    assert command.variables["ANONYMIZED_TELEMETRY"] == "false"
    assert command.variables["BROWSER_USE_DISABLE_EXTENSIONS"] == "1"


@pytest.mark.parametrize(
    ("api", "key"), [("anthropic", "ANTHROPIC_API_KEY"), ("google", "GOOGLE_API_KEY")]
)
def test_claude_and_gemini_are_asked_by_their_own_clients(
    tmp_path: Path, api: str, key: str
) -> None:
    bench = benchmark(dir=made(tmp_path / "home"), options={"api": api})
    folder = tmp_path / "attempt"
    folder.mkdir()
    agent = AgentSpec("one", "theirs")

    bench.command(
        Job(TASK, agent, folder, tmp_path, 1, Path("/usr/bin/chromium"), ()), TaskEnvironment()
    )

    assert json.loads((folder / "job.json").read_text())["api"] == api
    bench.require_keys([agent], {key: "k"})
    with pytest.raises(MachineError, match=f"set {key}, or give a base_url"):
        bench.require_keys([agent], {"OPENAI_API_KEY": "k"})
    assert benchmark().api_key_variables == ("OPENAI_API_KEY",)


def test_a_playbook_is_refused_where_another_api_than_openais_is_named(tmp_path: Path) -> None:
    bench = benchmark(dir=made(tmp_path / "home"), options={"api": "anthropic"})

    with pytest.raises(CampaignError, match=r"options\.api is 'anthropic', but playbook:b\.yaml"):
        bench.validate([TASK], [AgentSpec("one", "playbook:b.yaml")])


def test_no_first_page_ends_it() -> None:
    assert benchmark().arm(load_preset("paper/network-error"), TASK) == "first_page"


def test_the_browsers_start_picture_is_not_a_page_of_the_task() -> None:
    assert "https://cf.browser-use.com/*" in benchmark().exclusions(TASK)


HISTORY: dict[str, Any] = {
    "done": True,
    "success": True,
    "answer": "It costs 3.50.",
    "llm_calls": 3,
    "errors": [],
}


def read(
    bench: BrowserUseBenchmark, folder: Path, code: int | None = 0, **options: Any
) -> TaskResult:
    if options:
        (folder / "result.json").write_text(json.dumps(options))
    return bench.read(job_in(folder, "tea"), TaskEnvironment(), code)


def test_the_answer_is_judged_by_what_the_task_expects(tmp_path: Path) -> None:
    dear, cheap = ({**SHOP, "expect": price} for price in ("4.20", ["3.50", ["costs", "is"]]))

    right = read(own(tmp_path, cheap), tmp_path, **HISTORY)
    wrong = read(own(tmp_path, dear), tmp_path, **HISTORY)

    assert (right.ending, right.score, right.answer) == ("answered", 1.0, "It costs 3.50.")
    assert (wrong.score, wrong.reasons) == (0.0, ("the answer does not contain '4.20'",))


def test_only_a_check_of_the_answer_needs_the_testbed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    assert own(tmp_path, {**SHOP, "expect": None}).tasks() == ("tea",)
    with pytest.raises(MachineError, match=re.escape(install_command("demo"))):
        own(tmp_path, {**SHOP, "expect": "3.50"}).tasks()


def test_without_a_check_browser_uses_own_judgement_decides(tmp_path: Path) -> None:
    tea = own(tmp_path, SHOP)
    refused = {"verdict": False, "failure_reason": "no price was seen"}

    assert read(tea, tmp_path, **HISTORY).score == 1.0
    assert read(tea, tmp_path, **HISTORY, judgement={"verdict": True}).score == 1.0
    failed = read(tea, tmp_path, **HISTORY, judgement=refused)
    assert (failed.score, failed.reasons) == (0.0, ("browser-use's judge: no price was seen",))


def test_the_testbeds_check_judges_its_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judge(
        self: TestbedBenchmark, task: str, environment: TaskEnvironment, answer: str | None
    ) -> Verdict:
        return self.task(task).judge(Sites().state(), answer)

    monkeypatch.setattr(TestbedBenchmark, "judge", judge)

    def score(**options: Any) -> float | None:
        (tmp_path / "result.json").write_text(json.dumps(HISTORY | options))
        return benchmark().read(job_in(tmp_path, TASK), TaskEnvironment(), 0).score

    assert score(answer="It is Cinema.") == 1.0
    assert score(answer="It is Opera.") == 0.0
    assert score(answer="It is Cinema.", success=False) == 0.0


@pytest.mark.parametrize(
    ("answer", "ending"),
    [
        ({"success": False}, "reported_infeasible"),
        ({"done": False, "out_of_steps": True}, "step_limit"),
        ({"done": False, "errors": ["Stopped due to 5 consecutive failures"]}, "agent_crashed"),
    ],
)
def test_the_history_gives_the_ending(tmp_path: Path, answer: dict[str, Any], ending: str) -> None:
    result = read(own(tmp_path, SHOP), tmp_path, **HISTORY | answer)

    assert (result.ending, result.score, result.answer) == (ending, 0.0, None)


def test_no_history_is_a_crash_or_the_end_of_its_time(tmp_path: Path) -> None:
    tea = own(tmp_path, SHOP)

    assert read(tea, tmp_path, code=1).ending == "harness_crashed"
    assert read(tea, tmp_path, code=None).ending == "time_limit"


def test_a_model_that_never_answered_voids_the_trial(tmp_path: Path) -> None:
    answer: dict[str, Any] = {"done": False, "llm_calls": 0, "errors": ["Connection error."]}

    result = read(own(tmp_path, SHOP), tmp_path, **answer)

    assert result.void_reason == "browser-use's model never answered: Connection error."


def test_a_history_that_cannot_be_read_voids_the_trial(tmp_path: Path) -> None:
    for text in ("{", "[]"):
        (tmp_path / "result.json").write_text(text)
        with pytest.raises(TrialVoid, match=r"result\.json"):
            read(own(tmp_path, SHOP), tmp_path)
