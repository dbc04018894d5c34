"""What the adapter says; that the harness does it is shown in tests/slow/test_agentlab.py."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.fake_environments import job_in
from warex.benchmarks import AgentSpec, BenchmarkConfig, Job, TaskEnvironment
from warex.benchmarks.adapters.agentlab import MINIWOB, AgentLabBenchmark
from warex.benchmarks.installation.virtualenv import MARKER, interpreter_in
from warex.errors import CampaignError, MachineError, TrialVoid
from warex.proxy.certificates.ca import ensure_ca
from warex.scenarios import Scenario
from warex.scenarios.load import load_preset

AGENT = AgentSpec("a", "gpt-x", "http://model.warex.test/v1", max_steps=7)
TASKS = ["miniwob.click-test", "webarena.70", "webarena.7"]
NEEDS = {"webarena.70": ["map"], "webarena.7": ["map", "wikipedia"]}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Write what a set-up leaves behind, as far as the adapter looks at it."""
    recipe = AgentLabBenchmark.recipe
    assert recipe is not None
    folder = tmp_path / "env"
    packages = interpreter_in(folder).parents[1] / "lib/python3.12/site-packages"
    (packages / "miniwob/html").mkdir(parents=True)
    browsers = packages / "playwright/driver/package/browsers.json"
    browsers.parent.mkdir(parents=True)
    browsers.write_text(json.dumps({"browsers": [{"name": "chromium", "revision": "1117"}]}))
    interpreter_in(folder).parent.mkdir()
    interpreter_in(folder).touch()
    answer = {"tasks": TASKS, "sites": NEEDS}
    marker = {"benchmark": "agentlab", "recipe": recipe.digest, "done": [], "said": answer}
    (folder / MARKER).write_text(json.dumps(marker))
    return folder


def bench(home: Path, **other: Any) -> AgentLabBenchmark:
    table = {"name": "agentlab", "dir": str(home), **other}
    return AgentLabBenchmark(BenchmarkConfig.model_validate(table))


def job(task: str, folder: Path, *, proxied: bool = True) -> Job:
    scratch = folder / "scratch"
    return Job(task, AGENT, folder, scratch, 2**31 + 5, Path("/bin/b"), ("--f=1",), proxied)


def test_the_tasks_are_those_of_the_environment(home: Path) -> None:
    assert list(bench(home).tasks()) == TASKS
    assert bench(home).site_names_of(TASKS[0]) == ("miniwob",)


def test_without_its_environment_nothing_runs(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match=r"benchmark\.dir is not given"):
        AgentLabBenchmark().tasks()
    with pytest.raises(MachineError, match="warex benchmarks setup agentlab --dir"):
        bench(tmp_path).tasks()


def test_a_task_whose_site_has_no_address_is_refused(home: Path) -> None:
    bench(home).validate(["miniwob.click-test"], [AGENT])
    with pytest.raises(CampaignError, match=r"'webarena\.7' needs the site 'wikipedia'"):
        bench(home, sites={"map": "http://m.example"}).validate(TASKS, [AGENT])


def test_local_sites_get_host_names_that_are_not_loopback(home: Path, tmp_path: Path) -> None:
    made = bench(
        home, sites={"map": "http://127.0.0.1:3000", "wikipedia": "http://wiki.example:8888/wiki/A"}
    )

    assert made.sites("webarena.7") == (
        "http://map.webarena.warex.test",
        "http://wiki.example:8888",
    )
    assert made.sites("miniwob.click-test") == (MINIWOB,)
    ca = ensure_ca(tmp_path / "ca")
    with made.start_environment("webarena.7", tmp_path, ca, direct=False) as environment:
        assert environment.maps == ("http://map.webarena.warex.test=http://127.0.0.1:3000",)
        behind = made.command(job("webarena.7", tmp_path), environment).variables
        plain = made.command(job("webarena.7", tmp_path, proxied=False), environment).variables
    assert behind["WA_MAP"] == "http://map.webarena.warex.test"
    assert plain["WA_MAP"] == "http://127.0.0.1:3000"
    assert behind["WA_WIKIPEDIA"] == plain["WA_WIKIPEDIA"] == "http://wiki.example:8888/wiki/A"


@pytest.mark.wire
def test_miniwob_is_served_again_and_knows_whether_a_browser_came(
    home: Path, tmp_path: Path
) -> None:
    made, ca = bench(home), ensure_ca(tmp_path / "ca")
    with made.start_environment("miniwob.click-test", tmp_path, ca, direct=False) as environment:
        assert environment.maps[0].startswith(f"{MINIWOB}=http://127.0.0.1:")
        assert made.was_visited(environment) is False
        behind = made.command(job("miniwob.click-test", tmp_path), environment).variables
        plain = made.command(
            job("miniwob.click-test", tmp_path, proxied=False), environment
        ).variables
    assert behind["MINIWOB_URL"] == f"{MINIWOB}/miniwob/"
    assert plain["MINIWOB_URL"] == environment.maps[0].partition("=")[2] + "/miniwob/"


def test_one_experiment_gets_its_own_folder_and_browser(home: Path, tmp_path: Path) -> None:
    made = bench(home, options={"agent": "AGENT_4o", "slow_mo": 0})
    with made.start_environment(
        "webarena.70", tmp_path, ensure_ca(tmp_path / "ca"), direct=False
    ) as environment:
        command = made.command(job("webarena.70", tmp_path), environment)

    python, driver, config = command.arguments
    assert python == str(interpreter_in(home))
    assert Path(driver).is_file()
    document = json.loads(Path(config).read_bytes())
    assert (document["task"], document["agent"], document["model"]) == (
        "webarena.70",
        "AGENT_4o",
        "gpt-x",
    )
    assert (document["max_steps"], document["seed"], document["slow_mo"]) == (7, 5, 0)
    assert Path(document["results"]) == tmp_path / "agentlab"
    assert command.variables["OPENAI_BASE_URL"] == AGENT.base_url
    assert command.variables["NLTK_DATA"] == str(home / "nltk")
    browsers = Path(command.variables["PLAYWRIGHT_BROWSERS_PATH"])
    assert browsers.is_relative_to(tmp_path / "scratch")
    assert '/bin/b "$@" --f=1' in (browsers / "chromium-1117/chrome-linux/chrome").read_text()


def scenario(fault: dict[str, Any], *resources: str) -> Scenario:
    rule = {"name": "r", "trigger": {"first": 1}, "fault": fault}
    if resources:
        rule["match"] = {"resource": list(resources)}
    return Scenario.model_validate({"name": "s", "rules": [rule]})


LATE = {"kind": "javascript_failure", "mode": "delay", "delay": 2.0}


@pytest.mark.parametrize(
    ("task", "of", "armed"),
    [
        ("miniwob.click-test", scenario(LATE), "first_page"),
        ("miniwob.click-test", scenario({**LATE, "delay": 4.0}), "first_llm_call"),
        ("miniwob.click-test", scenario({**LATE, "mode": "fail"}), "first_llm_call"),
        ("miniwob.click-test", scenario({"kind": "http_error"}, "image"), "first_page"),
        ("miniwob.click-test", load_preset("paper/server-error"), "first_llm_call"),
        ("webarena.70", scenario(LATE), "first_llm_call"),
        ("webarena.70", load_preset("paper/server-error"), "first_llm_call"),
        ("webarena.70", Scenario(name="s", arm="start"), "start"),
    ],
)
def test_faults_start_where_the_harness_survives_them(
    home: Path, task: str, of: Scenario, armed: str
) -> None:
    assert bench(home).arm(of, task) == armed


def left(folder: Path, **summary: Any) -> Path:
    path = folder / "agentlab/2026_x/summary_info.json"
    path.parent.mkdir(parents=True)
    full = {"cum_reward": 0.0, "err_msg": None, "terminated": False, "truncated": False}
    path.write_text(json.dumps({**full, **summary}))
    return folder


@pytest.mark.parametrize(
    ("summary", "code", "ending", "score"),
    [
        ({"cum_reward": 1.0, "terminated": True}, 0, "answered", 1.0),
        ({"cum_reward": 0.0, "terminated": True}, 0, "answered", 0.0),
        ({"truncated": True}, 0, "step_limit", 0.0),
        ({"err_msg": "TimeoutError:\n  5000ms"}, 0, "harness_crashed", 0.0),
        ({"cum_reward": 1.0}, None, "time_limit", 1.0),
    ],
)
def test_success_is_read_from_its_own_summary(
    home: Path, tmp_path: Path, summary: dict[str, Any], code: int | None, ending: str, score: float
) -> None:
    made = bench(home)
    came = made.read(
        job_in(left(tmp_path / "t", **summary), "webarena.70"), TaskEnvironment(), code
    )

    assert (came.ending, came.score) == (ending, score)


def test_no_summary_is_a_crash_and_a_broken_one_is_void(home: Path, tmp_path: Path) -> None:
    made = bench(home)
    came = made.read(job_in(tmp_path, "webarena.70"), TaskEnvironment(), 1)
    assert came.reasons == ("it ended with code 1 and left no summary_info.json",)

    broken = left(tmp_path / "t")
    next(broken.rglob("summary_info.json")).write_text("{")
    with pytest.raises(TrialVoid, match="cannot be read"):
        made.read(job_in(broken, "webarena.70"), TaskEnvironment(), 0)


def test_a_model_that_gave_no_answer_says_nothing_about_the_agent(
    home: Path, tmp_path: Path
) -> None:
    error = "Exception uncaught…\nRetryError:\nFailed to get a response from the API after 4"
    came = bench(home).read(
        job_in(left(tmp_path / "t", err_msg=error), "webarena.70"), TaskEnvironment(), 0
    )

    assert came.void_reason is not None
    assert "its model gave no answer" in came.void_reason


def test_openrouter_is_mapped_since_agentlab_spells_it_out(home: Path) -> None:
    models = {name: bench(home).endpoints(AgentSpec("a", name)) for name in ("openrouter/x", "y")}

    assert models == {"openrouter/x": ("https://openrouter.ai/api/v1",), "y": ()}


@pytest.mark.parametrize(
    ("agent", "environment", "refused"),
    [
        (AgentSpec("a", "gpt-x"), {}, True),
        (AgentSpec("a", "gpt-x"), {"OPENROUTER_API_KEY": "k"}, False),
        (AgentSpec("a", "gpt-x", "http://127.0.0.1:1/v1"), {}, False),
        (AgentSpec("a", "gpt-x"), {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, False),
        (AgentSpec("a", "playbook:x.yaml"), {}, False),
    ],
)
def test_a_missing_key_is_reported_before_the_harness_starts(
    home: Path, agent: AgentSpec, environment: dict[str, str], refused: bool
) -> None:
    if not refused:
        bench(home).require_keys([agent], environment)
        return
    with pytest.raises(MachineError, match="whose key is not set: set OPENAI_API_KEY or"):
        bench(home).require_keys([agent], environment)


def test_the_docs_show_the_vocabulary() -> None:
    page = (Path(__file__).parents[3] / "docs/reference/benchmarks.md").read_text("utf-8")
    words = AgentLabBenchmark.vocabulary

    for name in ("navigate", "recover", "finish"):
        assert f"| {name} | `{' '.join(getattr(words, name))}` |" in page
