"""SteP is run as it is, on WebArena's tasks, with the user's sites under the addresses it knows."""

import csv
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.adapters.test_webarena import make_checkout
from tests.benchmarks.fake_environments import GPT, job_in, make_home, make_job
from warex.benchmarks import BenchmarkConfig, TaskEnvironment, TaskResult
from warex.benchmarks.adapters.step import ADDRESSES, ROOTS, StepBenchmark
from warex.benchmarks.adapters.webarena_tasks import SITES
from warex.errors import CampaignError, TrialVoid
from warex.proxy.certificates.ca import ensure_ca
from warex.scenarios.load import load_preset

CONFIG = {"agent": {"type": "step"}, "env": {"headless": False, "max_browser_rows": 500}}
COPY = "http://127.0.0.1:3000"


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("step")
    script = folder / "checkout/scripts/evaluate/eval_webarena.py"
    config = folder / "checkout/configs/webarena/eval_openai_agent.yml"
    for path, text in ((script, ""), (config, json.dumps(CONFIG))):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    (folder / "auth").mkdir()
    (folder / "auth/shopping_admin_state.json").write_text("{}")
    return {
        "home": make_home(folder / "home", StepBenchmark),
        "checkout": folder / "checkout",
        "webarena": make_checkout(folder / "webarena"),
        "auth": folder / "auth",
    }


type Make = Callable[..., StepBenchmark]


@pytest.fixture(scope="module")
def step(places: dict[str, Path]) -> Make:
    def make(sites: dict[str, str] | None = None, **options: Any) -> StepBenchmark:
        fields = {"checkout": str(places["checkout"]), "webarena": str(places["webarena"])}
        table: dict[str, Any] = {"dir": str(places["home"]), "sites": sites or {"map": COPY}}
        return StepBenchmark(BenchmarkConfig(name="step", options=fields | options, **table))

    return make


def test_every_site_has_an_address_and_a_prompt_to_begin_with() -> None:
    assert ADDRESSES.keys() == ROOTS.keys() == SITES.keys() - {"homepage"}


def test_the_users_copy_is_served_under_the_address_in_steps_code(
    step: Make, tmp_path: Path
) -> None:
    benchmark = step({"map": COPY, "shopping_admin": "http://10.0.0.7:7780/admin"})
    assert benchmark.site_names_of("1") == ("shopping_admin",)

    assert benchmark.sites("0") == (ADDRESSES["map"],)
    assert benchmark.sites("1") == (ADDRESSES["shopping_admin"].removesuffix("/admin"),)
    with benchmark.start_environment(
        "0", tmp_path, ensure_ca(tmp_path / "ca"), direct=False
    ) as environment:
        assert environment.maps == (
            f"{ADDRESSES['map']}={COPY}",
            f"{ADDRESSES['shopping_admin'].removesuffix('/admin')}=http://10.0.0.7:7780",
        )


def test_what_cannot_run_is_reported_before_anything_does(
    step: Make, places: dict[str, Path]
) -> None:
    admin = {"shopping_admin": "http://10.0.0.7:7780/admin"}
    step().validate(["0"], [GPT])
    step(admin, auth=str(places["auth"])).validate(["1"], [GPT])
    with pytest.raises(CampaignError, match="step's task 1 is done on 'shopping_admin'"):
        step().validate(["1"], [GPT])
    with pytest.raises(CampaignError, match=r"begins logged in, by shopping_admin_state\.json"):
        step(admin).validate(["1"], [GPT])
    with pytest.raises(CampaignError, match=r"\[html\]: step can show its model \[axtree\]"):
        step().validate(["0"], [replace(GPT, observation=("html",))])
    with pytest.raises(CampaignError, match="'no-proxy': SteP's sites have addresses"):
        step().validate(["0"], [GPT], direct=True)


def test_one_task_is_run_by_steps_own_configuration(
    step: Make, places: dict[str, Path], tmp_path: Path
) -> None:
    job = make_job(tmp_path, "1", replace(GPT, base_url="http://model.example/v1"))
    command = step(auth=str(places["auth"])).command(job, TaskEnvironment())

    work = job.folder / "step"
    assert command.cwd == work
    driver_config = json.loads(command.arguments[2])
    assert driver_config["script"] == str(places["checkout"] / "scripts/evaluate/eval_webarena.py")
    assert driver_config["arguments"] == ["--config", "config.yml"]
    assert driver_config["judge"]["function"] == "evaluator_router"
    config = json.loads((work / "config.yml").read_text())
    assert config["agent"] == {
        "type": "step",
        "root_action": "shopping_admin_agent",
        "model_name": "gpt-4o",
    }
    assert config["env"] == {
        "headless": True,
        "max_browser_rows": 500,
        "task_ids": [1],
        "max_env_steps": 7,
    }
    task = json.loads((work / "tasks/webarena/1.json").read_text())
    assert task["start_url"] == ADDRESSES["shopping_admin"]
    assert (work / ".auth").resolve() == places["auth"]
    assert command.variables["OPENAI_API_BASE"] == "http://model.example/v1"
    stand_ins = places["home"] / "stand_ins"
    folders = (places["webarena"], places["checkout"] / "src", stand_ins)
    assert command.variables["PYTHONPATH"].split(os.pathsep) == list(map(str, folders))


def test_faults_that_still_show_a_first_page_start_with_it(step: Make) -> None:
    assert step().arm(load_preset("paper/server-error"), "0") == "first_page"


def leave(folder: Path, success: str, over: bool, *actions: str | None) -> None:
    """Leave what SteP's evaluation leaves behind."""
    result = folder / "step/result/20240101-000000"
    result.mkdir(parents=True)
    row = {"task_id": "0", "success": success, "action_limit_exceeded": str(over)}
    with (result / "summary.csv").open("w", newline="") as lines:
        writer = csv.DictWriter(lines, row.keys())
        writer.writeheader()
        writer.writerow(row)
    trajectory = [{"action": action} for action in actions]
    (result / "0.json").write_text(json.dumps({"trajectory": trajectory}))


@pytest.mark.parametrize(
    ("success", "over", "last", "result"),
    [
        ("1.0", False, "stop [15213]", TaskResult("answered", 1.0, "15213")),
        ("0.0", False, "stop [N/A]", TaskResult("reported_infeasible", 0.0, "N/A")),
        ("0.0", True, "click [7]", TaskResult("step_limit", 0.0)),
        ("0.0", False, None, TaskResult("answered", 0.0)),
    ],
)
def test_the_verdict_is_the_line_of_the_summary(
    step: Make, tmp_path: Path, success: str, over: bool, last: str | None, result: TaskResult
) -> None:
    leave(tmp_path, success, over, "goto [x]", last)

    assert step().read(job_in(tmp_path, "0"), TaskEnvironment(), 0) == result


def test_no_summary_is_a_crash_or_the_time_limit(step: Make, tmp_path: Path) -> None:
    (tmp_path / "agent.log").write_text("Error: Page.goto: net::ERR_EMPTY_RESPONSE\n")

    crashed = step().read(job_in(tmp_path, "0"), TaskEnvironment(), 1)

    assert (crashed.ending, crashed.score) == ("harness_crashed", 0.0)
    assert "code 1 and no result, after it said: Error: Page.goto" in crashed.reasons[0]
    assert step().read(job_in(tmp_path, "0"), TaskEnvironment(), None) == TaskResult(
        "time_limit", 0.0
    )


def test_an_invalid_summary_says_nothing_of_the_agent(step: Make, tmp_path: Path) -> None:
    leave(tmp_path, "perhaps", False, "stop [x]")

    with pytest.raises(TrialVoid, match=r"summary\.csv cannot be read"):
        step().read(job_in(tmp_path, "0"), TaskEnvironment(), 0)
