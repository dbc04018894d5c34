"""WebArena is run as it is: its own tasks, its own agent, the verdict of its own log."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.fake_environments import GPT, job_in, make_home, make_job
from warex.benchmarks import BenchmarkConfig, TaskEnvironment, TaskResult
from warex.benchmarks.adapters.webarena import WebArenaBenchmark, address_and_map, stop_answers
from warex.errors import CampaignError
from warex.proxy.certificates.ca import ensure_ca
from warex.scenarios import Scenario
from warex.scenarios.load import load_preset

MAP = "http://127.0.0.1:3000"
NAMED = "http://map.webarena.test:3000"


def task(number: int, site: str, **more: Any) -> dict[str, Any]:
    start = f"__{site.upper()}__"
    return {"task_id": number, "sites": [site], "start_url": start, "intent": "Find it.", **more}


TASKS = [
    task(0, "map"),
    task(1, "shopping_admin", storage_state="./.auth/shopping_admin_state.json"),
]


def make_checkout(folder: Path) -> Path:
    (folder / "agent/prompts/raw").mkdir(parents=True)
    (folder / "agent/prompts/raw/p_cot_id_actree_2s.py").write_text("")
    (folder / "browser_env").mkdir()
    (folder / "config_files").mkdir()
    (folder / "config_files/test.raw.json").write_text(json.dumps(TASKS))
    (folder / "run.py").write_text("")
    return folder


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("webarena")
    return {
        "home": make_home(folder / "home", WebArenaBenchmark),
        "checkout": make_checkout(folder / "checkout"),
    }


type Make = Callable[..., WebArenaBenchmark]


@pytest.fixture(scope="module")
def webarena(places: dict[str, Path]) -> Make:
    def make(*, prompt: str | None = None, **table: Any) -> WebArenaBenchmark:
        options = {"checkout": str(places["checkout"])} | ({"prompt": prompt} if prompt else {})
        sites = table.pop("sites", {"map": MAP})
        fields = {"dir": str(places["home"]), "sites": sites, "options": options, **table}
        return WebArenaBenchmark(BenchmarkConfig(name="webarena", **fields))

    return make


def test_the_tasks_are_those_of_the_checkout(webarena: Make) -> None:
    assert webarena().tasks() == ("0", "1")
    assert webarena().site_names_of("1") == ("shopping_admin",)


@pytest.mark.parametrize(
    ("target", "expected", "mapped"),
    [
        ("http://127.0.0.1:7780/admin", "http://shopping-admin.webarena.test:7780/admin", True),
        ("http://localhost:7780/", "http://shopping-admin.webarena.test:7780", True),
        ("https://shop.example/admin/", "https://shop.example/admin", False),
        (None, "http://shopping-admin.webarena.test", False),
    ],
)
def test_a_site_on_loopback_gets_a_name_that_the_proxy_serves(
    target: str | None, expected: str, mapped: bool
) -> None:
    url, origin = address_and_map("shopping_admin", target)

    assert url == expected
    assert (origin is not None) == mapped
    if origin is not None:
        assert origin.startswith("http://shopping-admin.webarena.test:7780=http://")


def test_the_sites_are_known_by_the_names_that_the_browser_sees(
    webarena: Make, tmp_path: Path
) -> None:
    benchmark = webarena()

    assert benchmark.sites("0") == (NAMED,)
    with benchmark.start_environment(
        "0", tmp_path, ensure_ca(tmp_path / "ca"), direct=False
    ) as environment:
        assert environment.maps == (f"{NAMED}={MAP}",)


def test_a_task_whose_site_is_nowhere_is_refused_before_anything_runs(webarena: Make) -> None:
    webarena().validate(["0"], [GPT])
    with pytest.raises(CampaignError, match="task 1 is done on 'shopping_admin'; say where"):
        webarena().validate(["0", "1"], [GPT])


def test_a_prompt_that_does_not_exist_is_refused(webarena: Make) -> None:
    with pytest.raises(CampaignError, match=r"prompt: .* holds no p_best\.py"):
        webarena(prompt="p_best").validate(["0"], [GPT])


def test_without_a_proxy_the_names_are_unknown(webarena: Make) -> None:
    with pytest.raises(
        CampaignError, match=r"'no-proxy': http://map\.webarena\.test:3000 is a name"
    ):
        webarena().validate(["0"], [GPT], direct=True)
    webarena(sites={"map": "http://map.example"}).validate(["0"], [GPT], direct=True)


def scenario(arm: str | None = None, **fault: Any) -> Scenario:
    rule = {"name": "r", "trigger": {"first": 1}, "fault": fault}
    return Scenario.model_validate({"name": "s", "arm": arm, "rules": [rule]})


@pytest.mark.parametrize(
    ("scenario", "name", "arm"),
    [
        (load_preset("paper/server-error"), "0", "first_page"),
        (load_preset("paper/network-error"), "0", "first_page"),
        (scenario(kind="http_error", delay=26.0), "0", "first_llm_call"),
        (scenario(kind="connection_cut"), "0", "first_llm_call"),
        # Its login comes first, in a browser of its own, and must not fail.
        (load_preset("paper/server-error"), "1", "first_llm_call"),
        (scenario("start", kind="connection_cut"), "1", "start"),
    ],
)
def test_faults_wait_until_the_harness_survives_them(
    webarena: Make, scenario: Scenario, name: str, arm: str
) -> None:
    assert webarena().arm(scenario, name) == arm


def test_one_task_is_run_in_a_folder_of_links(
    webarena: Make, places: dict[str, Path], tmp_path: Path
) -> None:
    job = make_job(tmp_path, "0", replace(GPT, base_url="http://model.example/v1"))
    command = webarena().command(job, TaskEnvironment())

    work = job.folder / "webarena"
    assert command.cwd == work
    assert Path(command.arguments[1]).name == "judged_script.py"
    config = json.loads(command.arguments[2])
    assert config["script"] == str(places["checkout"] / "run.py")
    assert config["arguments"] == [
        *("--instruction_path", "agent/prompts/jsons/p_cot_id_actree_2s.json"),
        *("--test_start_idx", "0", "--test_end_idx", "1"),
        *("--model", "gpt-4o", "--max_steps", "7", "--result_dir", "result"),
    ]
    assert json.loads((work / "config_files/0.json").read_text())["start_url"] == NAMED
    assert command.variables["MAP"] == NAMED
    assert command.variables["OPENAI_API_BASE"] == "http://model.example/v1"
    assert command.variables["PATH"].split(os.pathsep)[0] == str(places["home"] / "venv/bin")
    assert (work / "browser_env").resolve() == places["checkout"] / "browser_env"
    assert (work / "agent/prompts/raw").resolve() == places["checkout"] / "agent/prompts/raw"
    shim = Path(command.variables["PLAYWRIGHT_BROWSERS_PATH"], "chromium-7/chrome-linux/chrome")
    assert "--proxy-server" in shim.read_text()


def test_what_is_downloaded_otherwise_is_looked_for_in_its_own_folder(
    webarena: Make,
    places: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.setenv("NLTK_DATA", "/the/users/own")

    variables = webarena().command(make_job(tmp_path, "0"), TaskEnvironment()).variables

    assert variables["TIKTOKEN_CACHE_DIR"].startswith(str(places["home"]))
    assert variables["NLTK_DATA"] == "/the/users/own"


def leave(folder: Path, log: str, *actions: str) -> None:
    """Leave what run.py leaves behind."""
    work = folder / "webarena"
    (work / "log_files").mkdir(parents=True)
    (work / "log_files/log_1.log").write_text(f"2024-01-01 - INFO - [Intent]: Find it.\n{log}\n")
    (work / "result").mkdir()
    (work / "result/traces").symlink_to(folder / "gone")
    rendered = "".join(f"<div><div><pre>{action}</pre></div></div>\n" for action in actions)
    (work / "result/render_0.html").write_text(rendered)


PASS = "[Result] (PASS) config_files/0.json"
FAIL = "[Result] (FAIL) /tmp/x/0.json"


@pytest.mark.parametrize(
    ("log", "action", "result"),
    [
        (PASS, "stop [15213]", TaskResult("answered", 1.0, "15213")),
        (FAIL, "stop [O&#39;Hare]", TaskResult("answered", 0.0, "O'Hare")),
        (FAIL, "stop [N/A]", TaskResult("reported_infeasible", 0.0, "N/A")),
        (
            FAIL,
            "stop [Early stop: Reach max steps 30]",
            TaskResult("step_limit", 0.0, None, ("the harness stopped it: Reach max steps 30",)),
        ),
        (
            "[Unhandled Error] Error('net::ERR_EMPTY_RESPONSE')]",
            "goto [x]",
            TaskResult(
                "harness_crashed",
                0.0,
                reasons=("unhandled error: Error('net::ERR_EMPTY_RESPONSE')]",),
            ),
        ),
        (
            "[OpenAI Error] AuthenticationError('no key')",
            "goto [x]",
            TaskResult(
                "model_error", 0.0, void_reason="OpenAI error: AuthenticationError('no key')"
            ),
        ),
    ],
)
def test_the_verdict_is_the_harnesss_own(
    webarena: Make, tmp_path: Path, log: str, action: str, result: TaskResult
) -> None:
    leave(tmp_path, log, "goto [x]", action)

    assert webarena().read(job_in(tmp_path, "0"), TaskEnvironment(), 0) == result
    assert not (tmp_path / "webarena/result/traces").is_symlink()


def test_no_verdict_is_a_crash_with_the_last_words_or_the_time_limit(
    webarena: Make, tmp_path: Path
) -> None:
    (tmp_path / "agent.log").write_text("Traceback\nAssertionError: Please setup the URLs\n\n")

    crashed = webarena().read(job_in(tmp_path, "0"), TaskEnvironment(), 1)

    assert crashed.ending == "harness_crashed"
    assert "code 1 and no verdict, after it said: AssertionError" in crashed.reasons[0]
    assert webarena().read(job_in(tmp_path, "0"), TaskEnvironment(), None) == TaskResult(
        "time_limit", 0.0
    )


@pytest.mark.timeout(10)
def test_a_page_full_of_stops_that_never_end_takes_no_time() -> None:
    assert stop_answers("<pre>stop [" * 100_000) == []
    assert stop_answers("]</pre></div></div>" * 50_000) == []


def test_a_stop_begins_at_the_first_mark() -> None:
    assert stop_answers("<pre>stop [a<pre>stop [b]</pre></div></div> <pre>stop [c") == [
        "a<pre>stop [b"
    ]
