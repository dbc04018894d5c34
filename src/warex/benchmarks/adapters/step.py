"""SteP on WebArena: stacked prompts, with WebArena's browser and judges."""

import csv
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import yaml
from pydantic import Field

from warex.benchmarks.adapters.webarena_tasks import PACKAGES, SUPPORT, WebArenaTasks
from warex.benchmarks.arming import arm_on_first_page
from warex.benchmarks.artifacts import last_output, no_result
from warex.benchmarks.checkout import CheckoutOptions
from warex.benchmarks.installation.recipe import Install, Recipe
from warex.benchmarks.job import (
    AgentSpec,
    Command,
    Job,
    TaskEnvironment,
    TaskResult,
    maps_of,
)
from warex.benchmarks.table import Text
from warex.errors import CampaignError, TrialVoid
from warex.files.reading import read_regular_file
from warex.llm.actions.vocabulary import Vocabulary
from warex.scenarios import Arm, Scenario
from warex.traces import Ending
from warex.traces.paths import AGENT_LOG
from warex.traffic import origin_of

_HOST = "ec2-3-131-244-37.us-east-2.compute.amazonaws.com"

ADDRESSES: Mapping[str, str] = MappingProxyType(
    {
        "shopping": f"http://{_HOST}:7770",
        "shopping_admin": f"http://{_HOST}:7780/admin",
        "reddit": "https://webarena-env-reddit.awsdev.asapp.com",
        "gitlab": f"http://{_HOST}:8023",
        "map": f"http://{_HOST}:3000",
        "wikipedia": f"http://{_HOST}:8888",
    }
)
"""The hard-coded addresses of SteP's sites."""

ROOTS: Mapping[str, str] = {
    "shopping": "shopping_agent",
    "shopping_admin": "shopping_admin_agent",
    "reddit": "reddit_agent",
    "gitlab": "github_agent",
    "map": "maps_agent",
    "wikipedia": "maps_agent",
}
"""SteP's first prompt for each site."""

_SCRIPT = "scripts/evaluate/eval_webarena.py"
_CONFIG = "configs/webarena/eval_openai_agent.yml"
_WORK = "step"
_RESULT = "result"

_STAND_INS = "stand_ins"
_EMPTY = {
    f"{_STAND_INS}/{name}.py": '"""Stands in for a package that SteP imports and never uses."""\n'
    for name in ("torch", "ctranslate2")
}
"""SteP imports both for local models, which are not used here; this saves 5 GB."""

_CHECK = """
import importlib.metadata as m, json
import beartype, ctranslate2, gymnasium, nltk, openai, pandas, playwright, torch
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, BitsAndBytesConfig
names = ("playwright", "openai", "gymnasium", "transformers", "pandas")
print(json.dumps({"versions": {n: m.version(n) for n in names}}))
"""


class StepOptions(CheckoutOptions, frozen=True, extra="forbid"):
    """Options of the adapter."""

    checkout: Text = Field(description="Folder of a checkout of asappresearch/webagents-step.")
    webarena: Text = Field(description="Folder of a checkout of web-arena-x/webarena.")
    auth: Text | None = Field(
        default=None, description="Folder .auth that WebArena's auto_login.py made, for logins."
    )
    root_action: Text | None = Field(
        default=None, description="SteP's first prompt; left out, that of the task's first site."
    )


class StepBenchmark(WebArenaTasks):
    """SteP's own evaluation script, one process for each task."""

    name: ClassVar = "step"
    summary: ClassVar = "SteP on WebArena; your copies of its sites, checkouts of both."
    vocabulary = Vocabulary(
        name="step",
        navigate=("click", "type", "goto", "go_back"),
        recover=("goto", "go_back"),
        finish=("stop",),
        calls=(
            *("find_commits", "search_issues", "create_project", "create_group"),
            *("find_subreddit", "find_user", "find_customer_review", "find_order"),
            *("search_customer", "search_order", "list_products", "search_reviews"),
            *("find_directions", "search_nearest_place"),
        ),
        other=("hover", "scroll", "note"),
        asks_again="REASON:\nThe page did not load, so I load it again.\nACTION:\ngoto [{url}]",
    )
    artifacts: ClassVar = (f"{_WORK}/{_RESULT}/*/*.json", f"{_WORK}/{_RESULT}/*/*.csv")
    setup_help: ClassVar = (
        "Needs checkouts of asappresearch/webagents-step and web-arena-x/webarena, and running"
        " copies of the sites of its tasks, named in sites = { map = 'http://127.0.0.1:3000' }."
        " SteP has the addresses of its makers' sites in its code; the proxy serves your copies"
        " under them. Tasks with a login need options.auth."
    )
    arming_help: ClassVar = (
        "first_page for answers with a page, held 25 s at most, otherwise first_llm_call, since a"
        " first page that fails ends the whole evaluation; off again at the stop that ends the"
        " task, not at one that ends a subroutine"
    )
    recipe: ClassVar = Recipe(
        pythons=("3.11",),
        installs=(
            Install((*PACKAGES, "pandas", "pyyaml")),
            Install(("litellm",), dependencies=False),
        ),
        pins="pins/step.txt",
        files={**SUPPORT, **_EMPTY},
        check=_CHECK,
        variables={"PYTHONPATH": f"{{dir}}/{_STAND_INS}"},
    )
    options_model: ClassVar = StepOptions
    options: StepOptions
    project: ClassVar = "SteP"
    checkout_files: ClassVar = (_SCRIPT,)
    webarena_option: ClassVar = "webarena"
    site_names: ClassVar = tuple(ADDRESSES)
    mock_model_name: ClassVar = "gpt-4-turbo-2024-04-09"

    def address(self, site: str) -> str:
        """Return a site's address in SteP's code."""
        return ADDRESSES[site]

    def default_arm(self, scenario: Scenario, task: str) -> Arm:
        """Return ``first_page`` for faults that its first navigation survives."""
        return arm_on_first_page(scenario)

    def check(self, tasks: Sequence[str], agents: Sequence[AgentSpec], *, direct: bool) -> None:
        """Raise CampaignError also for a task whose login is missing."""
        super().check(tasks, agents, direct=direct)
        auth = self.options.auth
        for task in tasks:
            state = self.raw_tasks[task].get("storage_state")
            if state and not (auth and (self.table.path(auth) / Path(state).name).is_file()):
                raise CampaignError(
                    f"step's task {task} begins logged in, by {Path(state).name}: have WebArena's"
                    " browser_env/auto_login.py make it, and name its folder in"
                    " benchmark.options.auth"
                )

    def needs_proxy(self) -> str:
        """Return why SteP always needs the proxy."""
        return "SteP's sites have addresses that only the proxy can serve from elsewhere"

    def maps(self, task: str) -> tuple[str, ...]:
        """Return the maps that serve the user's copies under SteP's addresses."""
        sites = self.table.sites.items()
        return maps_of({origin_of(ADDRESSES[site]): origin_of(target) for site, target in sites})

    def command(self, job: Job, environment: TaskEnvironment) -> Command:
        """Return the evaluation script for one task, with a configuration of its own."""
        work = job.folder.absolute() / _WORK
        self.write_task(work / "tasks/webarena", job.task, ADDRESSES)
        if self.options.auth is not None:
            (work / ".auth").symlink_to(self.table.path(self.options.auth))
        (work / "config.yml").write_text(json.dumps(self._configuration(job)), "utf-8")
        folders = (self.webarena, self.checkout / "src", self.virtualenv().folder / _STAND_INS)
        variables = {"PYTHONPATH": os.pathsep.join(map(str, folders))}
        arguments = self.judged_command(_SCRIPT, ["--config", "config.yml"])
        return Command(arguments, self.harness_variables(job) | variables, work)

    def read(self, job: Job, environment: TaskEnvironment, code: int | None) -> TaskResult:
        """Return the task's line of ``summary.csv``."""
        summaries = sorted((job.folder / _WORK / _RESULT).glob("*/summary.csv"))
        if not summaries:
            last_line = last_output(job.folder / AGENT_LOG)
            return no_result(
                code, f"the evaluation ended with code {code} and no result{last_line}"
            )
        try:
            with summaries[-1].open(encoding="utf-8", newline="") as lines:
                row = next(csv.DictReader(lines))
            score = min(max(float(row["success"]), 0.0), 1.0)
            over = row["action_limit_exceeded"] == "True"
            answer = _answer(summaries[-1].with_name(f"{job.task}.json"))
        except (OSError, ValueError, LookupError, StopIteration, TypeError) as error:
            raise TrialVoid(f"{summaries[-1]} cannot be read: {error!r}") from None
        ending: Ending = "reported_infeasible" if answer == "N/A" else "answered"
        return TaskResult("step_limit" if over else ending, score, None if over else answer)

    def _configuration(self, job: Job) -> dict[str, Any]:
        """Return SteP's configuration with the campaign's values."""
        path = self.checkout / _CONFIG
        try:
            config: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
            root = self.options.root_action or ROOTS[self.raw_tasks[job.task]["sites"][0]]
            config["agent"] |= {"root_action": root, "model_name": job.agent.model}
            config["env"] |= {
                "task_ids": [int(job.task)],
                "headless": True,
                "max_env_steps": job.agent.max_steps,
            }
        except (OSError, yaml.YAMLError, LookupError, TypeError) as error:
            raise CampaignError(
                f"benchmark.options.checkout: {path} is not a configuration of SteP's ({error!r})"
            ) from None
        return {**config, "logdir": _RESULT}


def _answer(trajectory: Path) -> str | None:
    """Return the answer of the agent's last action if that is a stop."""
    steps = json.loads(read_regular_file(trajectory))["trajectory"]
    last = str(steps[-1].get("action") or "").strip() if steps else ""
    if not last.startswith("stop"):
        return None
    return last.removeprefix("stop").strip().removeprefix("[").removesuffix("]").strip()
