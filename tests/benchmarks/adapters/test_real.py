"""REAL is run as it is: its own tasks, its own harness, its own verdict."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.fake_environments import job_in
from warex.benchmarks import AgentSpec, BenchmarkConfig, Job, TaskEnvironment, TaskResult
from warex.benchmarks.adapters.real import RealBenchmark
from warex.benchmarks.installation.virtualenv import MARKER
from warex.errors import CampaignError, MachineError, TrialVoid
from warex.proxy.certificates.ca import ensure_ca
from warex.scenarios import Scenario
from warex.scenarios.load import load_preset

TASK = "v1.gomail-2"
ORIGIN = "https://evals-gomail.example"
GPT = AgentSpec("demo", "gpt-4o")
PLAYED = AgentSpec("played", "playbook:mail.yaml")

CLONES = "agisdk/REAL/browsergym/webclones"
BROWSERS = "playwright/driver/package/browsers.json"
TABLE = "litellm/litellm_core_utils/tokenizers/9b5ad71b2ce5302211f9c61530b329a4922fc6a4"


def in_packages(home: Path, path: str, text: str) -> None:
    file = home / "venv/lib/python3.13/site-packages" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def task(url: str, site: str = "gomail") -> str:
    return json.dumps({"goal": "Read it.", "website": {"id": site, "url": url}, "evals": []})


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("real")
    python = home / "venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text("")
    marker = {"benchmark": "real", "recipe": RealBenchmark.recipe.digest, "said": {}}
    (home / MARKER).write_text(json.dumps(marker))
    for name in ("gomail-10", "gomail-2"):
        in_packages(home, f"{CLONES}/v1/tasks/{name}.json", task(ORIGIN))
    in_packages(home, f"{CLONES}/v1/tasks/topwork-1.json", task("https://w.example", "topwork"))
    in_packages(home, f"{CLONES}/v2/tasks/gomail-1.json", task("https://v2.example/"))
    in_packages(home, BROWSERS, '{"browsers": [{"name": "chromium", "revision": "7"}]}')
    return home


type Make = Callable[..., RealBenchmark]


@pytest.fixture(scope="module")
def real(home: Path) -> Make:
    def make(**table: Any) -> RealBenchmark:
        return RealBenchmark(BenchmarkConfig(name="real", dir=str(home), **table))

    return make


def job(folder: Path, agent: AgentSpec = GPT, *, proxied: bool = True) -> Job:
    (folder / "scratch").mkdir()
    flags = ("--proxy-server=http://127.0.0.1:1",)
    return Job(TASK, agent, folder, folder / "scratch", 1, Path("/bin/echo"), flags, proxied)


def config_in(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "job.json").read_text())
    return document


def test_the_tasks_are_those_of_the_environments_own_wheel(real: Make) -> None:
    assert real().tasks() == ("v1.gomail-2", "v1.gomail-10", "v1.topwork-1")
    assert real(options={"version": "v2"}).tasks() == ("v2.gomail-1",)
    assert real().site_names_of("v1.topwork-1") == ("topwork",)


def test_without_its_environment_the_command_that_makes_it_is_named(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="warex benchmarks setup real --dir DIR"):
        RealBenchmark().tasks()
    with pytest.raises(MachineError, match=f"setup real --dir {tmp_path}"):
        RealBenchmark(BenchmarkConfig(name="real", dir=str(tmp_path))).tasks()


def test_a_task_that_does_not_exist_is_reported_with_the_nearest(real: Make) -> None:
    with pytest.raises(CampaignError, match=r"no task 'v1\.gomail-3'; did you mean 'v1\.gomail-2'"):
        real().sites("v1.gomail-3")


@pytest.mark.parametrize(
    ("version", "name", "set_up"),
    [
        ("v1", TASK, f"{ORIGIN}/config?*"),
        ("v2", "v2.gomail-1", "https://v2.example//config?*"),
    ],
)
def test_set_up_and_judging_are_never_touched(
    real: Make, version: str, name: str, set_up: str
) -> None:
    benchmark = real(options={"version": version})

    assert set_up in benchmark.exclusions(name)
    assert benchmark.sites(name)[0] + "/finish" in benchmark.exclusions(name)
    assert benchmark.sites(name)[0] + "/submit?*" in benchmark.exclusions(name)


def test_a_stand_in_replaces_only_its_own_site(real: Make, tmp_path: Path) -> None:
    benchmark = real(sites={"gomail": "http://127.0.0.1:8001"})

    def maps(name: str) -> tuple[str, ...]:
        with benchmark.start_environment(
            name, tmp_path, ensure_ca(tmp_path / "ca"), direct=False
        ) as environment:
            return environment.maps

    assert maps(TASK) == (f"{ORIGIN}=http://127.0.0.1:8001",)
    assert maps("v1.topwork-1") == ()


def test_an_unknown_site_is_refused(real: Make) -> None:
    with pytest.raises(CampaignError, match="no site 'gmail'; did you mean 'gomail'"):
        real(sites={"gmail": "http://127.0.0.1:8001"})


def scenario(arm: str | None = None, **fault: Any) -> Scenario:
    rule = {"name": "r", "trigger": {"first": 1}, "fault": fault}
    return Scenario.model_validate({"name": "s", "arm": arm, "rules": [rule]})


@pytest.mark.parametrize(
    ("scenario", "arm"),
    [
        (scenario(kind="http_error"), "first_page"),
        (scenario(kind="http_error", delay=2.0), "first_page"),
        (scenario(kind="http_error", delay=4.9), "first_llm_call"),
        (scenario(kind="connection_cut"), "first_llm_call"),
        (scenario("start", kind="connection_cut"), "start"),
        (load_preset("paper/server-error"), "first_page"),
        (load_preset("paper/network-error"), "first_llm_call"),
        (load_preset("paper/javascript"), "first_llm_call"),
    ],
)
def test_the_first_page_meets_no_fault_that_its_set_up_dies_of(
    real: Make, scenario: Scenario, arm: str
) -> None:
    assert real().arm(scenario, TASK) == arm


def test_the_harness_gets_one_task_and_no_cache(real: Make, tmp_path: Path) -> None:
    benchmark = real(options={"use_screenshot": False})

    command = benchmark.command(job(tmp_path), TaskEnvironment())

    assert config_in(tmp_path) == {
        "model": "gpt-4o",
        "task_name": TASK,
        "headless": True,
        "max_steps": 25,
        "results_dir": str(tmp_path / "results"),
        "use_cache": False,
        "use_screenshot": False,
    }
    assert command.arguments[-1] == str(tmp_path / "job.json")
    assert command.cwd == tmp_path / "scratch"


WITH_NAV = {"actions": ["chat", "bid", "infeas", "nav"]}


def test_the_demo_agent_is_given_the_actions_that_the_options_name(
    real: Make, tmp_path: Path
) -> None:
    benchmark = real(options=WITH_NAV)
    benchmark.command(job(tmp_path), TaskEnvironment())

    assert config_in(tmp_path)["actions"] == WITH_NAV["actions"]
    assert benchmark.vocabulary.recover == ("goto", "go_back", "go_forward")
    assert real().vocabulary.recover == ()


def test_your_own_agent_replaces_the_demo_agent(real: Make, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    own = {"file": str(file), "name": "MyArgs", "arguments": {"depth": 2}}
    any_model = replace(GPT, model="llama-3")
    with pytest.raises(CampaignError, match=r"options\.agent: there is no file .*mine\.py"):
        real(options={"agent": own}).validate([TASK], [any_model])
    file.write_text("")
    benchmark = real(options={"agent": own})
    benchmark.validate([TASK], [any_model])
    benchmark.command(job(tmp_path, any_model), TaskEnvironment())

    assert config_in(tmp_path)["agent"] == own
    assert "goto" in benchmark.vocabulary.recover, "the harness's actions, if nobody says more"
    words = {"finish": ["stop"], "recover": ["reload"], "retry": ["reload"]}
    make = real(options={"agent": own, "vocabulary": words})
    assert (make.vocabulary.retry, make.vocabulary.finish) == (("reload",), ("stop",))


def test_what_a_condition_cannot_show_is_reported_beforehand(real: Make) -> None:
    def doubts(preset: str, **options: Any) -> str:
        return "\n".join(real(options=options).lint(load_preset(preset), TASK))

    assert "rule 'javascript' hits scripts" in doubts("paper/javascript")
    assert "rule 'network-error' hits documents" in doubts("paper/network-error")
    assert "RR is 0 for any model; options.actions" in doubts("paper/server-error")
    assert doubts("paper/server-error", **WITH_NAV) == ""
    assert doubts("spa/server-error") == doubts("spa/network-error") == ""


def test_each_agent_is_shown_its_own_observation(real: Make, tmp_path: Path) -> None:
    blind = replace(GPT, observation=("axtree",))
    benchmark = real(options={"use_screenshot": True})

    benchmark.validate([TASK], [GPT, blind])
    with pytest.raises(CampaignError, match=r"observation = \[screenshot\]: real can show"):
        benchmark.validate([TASK], [replace(GPT, observation=("screenshot",))])
    benchmark.command(job(tmp_path, blind), TaskEnvironment())

    shown = {key: value for key, value in config_in(tmp_path).items() if key.startswith("use_")}
    assert shown == {
        "use_cache": False,
        "use_axtree": True,
        "use_html": False,
        "use_screenshot": False,
    }


def test_nothing_is_submitted_to_the_leaderboard(real: Make, tmp_path: Path) -> None:
    assert real().command(job(tmp_path), TaskEnvironment()).variables["RUNID"] == ""


def test_the_browser_is_the_canarys_with_warexs_arguments(real: Make, tmp_path: Path) -> None:
    variables = real().command(job(tmp_path), TaskEnvironment()).variables
    program = Path(variables["PLAYWRIGHT_BROWSERS_PATH"]) / "chromium-7/chrome-linux/chrome"

    assert os.access(program, os.X_OK)
    assert "--proxy-server=http://127.0.0.1:1" in program.read_text()


def test_token_tables_come_from_its_environment_where_they_are(real: Make, home: Path) -> None:
    first, second = home / "one", home / "two"
    first.mkdir()
    second.mkdir()

    assert "TIKTOKEN_CACHE_DIR" not in real().command(job(first), TaskEnvironment()).variables
    assert [f.state for f in real().diagnose() if "tiktoken" in f.name] == ["broken"]
    in_packages(home, TABLE, "")
    variables = real().command(job(second), TaskEnvironment()).variables
    assert variables["TIKTOKEN_CACHE_DIR"].endswith("/litellm/litellm_core_utils/tokenizers")
    assert [f.state for f in real().diagnose() if "tiktoken" in f.name] == ["ok"]


OPENAI = "https://api.openai.com/v1"
OPENROUTER = "https://openrouter.ai/api/v1"
ANTHROPIC = "https://api.anthropic.com"
CLAUDE = "claude-opus-4"


def at(base_url: str, model: str = "gpt-4o") -> AgentSpec:
    return AgentSpec("one", model, base_url)


@pytest.mark.parametrize(
    ("agent", "endpoints", "variables"),
    [
        (GPT, (OPENAI,), {}),
        (PLAYED, (OPENAI,), {}),
        (at("http://m.test/v1"), (OPENAI,), {"OPENAI_BASE_URL": OPENAI}),
        (at("http://m.test/x"), (), {"OPENAI_BASE_URL": "http://m.test/x"}),
        (at("http://m.test/api/v1", "openrouter/a/b"), (OPENROUTER,), {}),
        (at("http://m.test", CLAUDE), (ANTHROPIC,), {"ANTHROPIC_BASE_URL": ANTHROPIC}),
        (at("http://m.test/api", CLAUDE), (), {"ANTHROPIC_BASE_URL": "http://m.test/api"}),
    ],
)
def test_a_model_is_asked_at_its_own_host_which_the_proxy_maps(
    real: Make,
    tmp_path: Path,
    agent: AgentSpec,
    endpoints: tuple[str, ...],
    variables: dict[str, str],
) -> None:
    set_ = real().command(job(tmp_path, agent), TaskEnvironment()).variables

    assert real().endpoints(agent) == endpoints
    assert {name: text for name, text in set_.items() if name.endswith("_BASE_URL")} == variables


def test_without_a_proxy_the_client_gets_its_model_s_address(real: Make, tmp_path: Path) -> None:
    agent = at("http://127.0.0.1:9/v1")

    variables = real().command(job(tmp_path, agent, proxied=False), TaskEnvironment()).variables

    assert variables["OPENAI_BASE_URL"] == "http://127.0.0.1:9/v1"


def test_a_model_that_the_demo_agent_cannot_ask_is_refused(real: Make) -> None:
    for fine in (GPT, PLAYED, AgentSpec("a", "claude-opus-4"), AgentSpec("b", "openrouter/x/y")):
        real().validate([TASK], [fine])
    for model in ("gemini-2", "local/mine"):
        with pytest.raises(CampaignError, match=f"begins with gpt-.*{model}"):
            real().validate([TASK], [AgentSpec("mine", model)])


def test_what_only_the_proxy_can_map_is_refused_without_one(real: Make) -> None:
    benchmark = real(sites={"gomail": "http://127.0.0.1:8001"})

    benchmark.validate([TASK], [GPT])
    benchmark.validate(["v1.topwork-1"], [GPT], direct=True)
    with pytest.raises(CampaignError, match="'no-proxy': the site gomail"):
        benchmark.validate([TASK], [GPT], direct=True)
    with pytest.raises(CampaignError, match=r"'no-proxy': REAL always asks https://openrouter\.ai"):
        real().validate([TASK], [at("http://m.test/api/v1", "openrouter/a/b")], direct=True)


def read(folder: Path, code: int | None = 0, **summary: Any) -> TaskResult:
    if summary:
        experiment = folder / "results/2026-01-01_demo"
        experiment.mkdir(parents=True, exist_ok=True)
        (experiment / "summary_info.json").write_text(json.dumps(summary))
    return RealBenchmark().read(job_in(folder, TASK), TaskEnvironment(), code)


DONE: dict[str, Any] = {"experiment_status": "completed", "err_msg": None, "truncated": False}
JUDGED: dict[str, Any] = {"finish_state": {"env_state": {"mails": []}}}
UNCAUGHT = "Exception uncaught by agent or environment in task v1.gomail-2.\n"


def test_success_is_what_its_own_evaluation_says(tmp_path: Path) -> None:
    solved = read(tmp_path, cum_reward=1, **DONE, **JUDGED)
    failed = read(tmp_path, cum_reward=0, **DONE, **JUDGED)

    assert (solved.ending, solved.score, solved.reasons) == ("answered", 1.0, ())
    assert (failed.ending, failed.score) == ("answered", 0.0)
    assert failed.reasons == ("REAL's evaluation gave 0",)


def test_an_end_without_a_message_is_not_an_answer(tmp_path: Path) -> None:
    assert read(tmp_path, cum_reward=0, **DONE).ending == "reported_infeasible"
    assert read(tmp_path, cum_reward=0, **DONE | {"truncated": True}).ending == "step_limit"


def test_no_result_is_a_crash_or_the_end_of_its_time(tmp_path: Path) -> None:
    assert read(tmp_path, code=1).ending == "harness_crashed"
    assert read(tmp_path, code=None).ending == "time_limit"
    assert read(tmp_path, code=None, experiment_status="started").ending == "time_limit"


def test_a_written_result_counts_even_after_the_time_limit(tmp_path: Path) -> None:
    assert read(tmp_path, code=None, cum_reward=1, **DONE, **JUDGED).score == 1.0


def failed(folder: Path, kind: str, words: str, trace: str = "") -> TaskResult:
    error = f"{UNCAUGHT}{kind}:\n{words}"
    return read(folder, **DONE | {"err_msg": error, "stack_trace": trace})


@pytest.mark.parametrize(
    ("kind", "words", "says"),
    [
        ("AuthenticationError", "Error code: 401", "REAL's model cannot be used: Authentication"),
        ("APIConnectionError", "Connection error.", "REAL's model cannot be used: APIConnection"),
        ("OverloadedError", "Error code: 529", "REAL's model cannot be used: Overloaded"),
        ("ServiceUnavailableError", "Error code: 503", "model cannot be used: ServiceUnav"),
        ("GatewayTimeoutError", "Error code: 504", "REAL's model cannot be used: Gateway"),
        ("PaymentRequiredError", "Error code: 402", "REAL's model cannot be used: Payment"),
        ("ValueError", "Validation endpoint not yet available", "REAL could not judge the task"),
        ("ValueError", "LLM response is not a valid floating point number: x", "could not judge"),
    ],
)
def test_failures_that_are_not_the_agents_void_the_trial(
    tmp_path: Path, kind: str, words: str, says: str
) -> None:
    assert says in str(failed(tmp_path, kind, words).void_reason)


def test_an_exception_in_get_action_is_the_agents_crash(
    tmp_path: Path,
) -> None:
    agents = failed(tmp_path, "AttributeError", "no content", "…, line 5, in get_action\n  x")
    harness = failed(tmp_path, "TimeoutError", "Page.goto:\n  5000ms", "line 9, in setup")

    assert (agents.ending, agents.void_reason) == ("agent_crashed", None)
    assert (harness.ending, harness.reasons) == (
        "harness_crashed",
        ("TimeoutError: Page.goto: 5000ms",),
    )


def test_a_prompt_that_grew_too_long_is_the_agents_doing(tmp_path: Path) -> None:
    long = failed(tmp_path, "BadRequestError", "maximum context length", "in get_action")
    large = failed(tmp_path, "ContentTooLargeError", "Error code: 413", "in get_action")

    assert (long.ending, long.void_reason) == ("agent_crashed", None)
    assert (large.ending, large.void_reason) == ("agent_crashed", None)


def test_a_summary_that_cannot_be_read_voids_the_trial(tmp_path: Path) -> None:
    read(tmp_path, **DONE)
    (tmp_path / "results/2026-01-01_demo/summary_info.json").write_text("{")

    with pytest.raises(TrialVoid, match=r"summary_info\.json cannot be read"):
        read(tmp_path)
