"""AgentLab's GenericAgent on BrowserGym: MiniWoB++, WebArena, and other installed task sets.

MiniWoB++ is served from its wheel. The sites of WebArena are the user's; those on loopback get a
host name, so that browsers send their traffic to the proxy.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, cast
from urllib.parse import urlsplit

from pydantic import BaseModel, Field

from warex.benchmarks.artifacts import harness_crash, read_json_or_empty
from warex.benchmarks.base import Benchmark
from warex.benchmarks.file_server import ServedFolder, serve_folder
from warex.benchmarks.installation.playwright_browsers import browsers_for
from warex.benchmarks.installation.recipe import Install, Recipe
from warex.benchmarks.job import AgentSpec, Command, Job, TaskEnvironment, TaskResult, maps_of
from warex.errors import CampaignError, MachineError
from warex.llm.actions.vocabulary import Vocabulary
from warex.proxy.certificates.ca import CertificateAuthority
from warex.sandbox.doctor.finding import Finding
from warex.scenarios import Arm, Scenario
from warex.scenarios.scenario import Rule
from warex.traces import Ending
from warex.traffic import origin_of

MINIWOB = "https://miniwob.warex.test"
"""The origin of MiniWoB++ in the browser."""

LONGEST_WAIT = 3.0
"""Seconds that a MiniWoB++ page may be late: BrowserGym waits five for it, scripts included."""

_RESULTS = "agentlab"
_JOB = "agentlab.json"
_SITES = ("shopping", "shopping_admin", "reddit", "gitlab", "wikipedia", "map", "homepage")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_TOKENS = "litellm/litellm_core_utils/tokenizers"
_NLTK = "nltk/tokenizers/punkt_tab"

# The packages themselves list the tasks' names and their WebArena sites.
_CHECK = """
import importlib, json
from importlib.metadata import version
from importlib.resources import files
import agentlab.experiments.loop, agentlab.agents.generic_agent, litellm
import gymnasium
versions = {n: version(n) for n in ("agentlab", "browsergym-core", "miniwob", "playwright")}
families = "miniwob webarena webarenalite visualwebarena assistantbench workarena".split()
for name in families:
    try:
        importlib.import_module(f"browsergym.{name}")
    except ImportError:
        continue
sites = {}
for family, place, name in (
    ("webarena", "webarena", "test.raw.json"),
    ("webarenalite", "browsergym.webarenalite", "test_webarena_lite.raw.json"),
):
    for task in json.loads(files(place).joinpath(name).read_text()):
        sites[f"{family}.{task['task_id']}"] = task["sites"]
from webarena.evaluation_harness.evaluators import evaluator_router
ids = [name.removeprefix("browsergym/") for name in gymnasium.registry if "browsergym/" in name]
tasks = [name for name in ids if not name.startswith("openended")]
print(json.dumps({"versions": versions, "tasks": tasks, "sites": sites}))
"""


class AgentLabOptions(BaseModel, frozen=True, extra="forbid"):
    """Options of the adapter."""

    agent: str = Field(
        default="AGENT_4o_MINI",
        pattern=r"^AGENT_\w+$",
        description="A configuration in agentlab.agents.generic_agent, but for its model.",
    )
    temperature: float = Field(default=0.1, ge=0, le=2, description="As AgentLab's own default.")
    task_seed: int | None = Field(
        default=None, ge=0, lt=2**31, description="Left out: each trial's, by the campaign's seed."
    )
    slow_mo: int | None = Field(
        default=None, ge=0, description="Milliseconds after each action; left out: the task's own."
    )


@dataclass(frozen=True, slots=True)
class _WithPages(TaskEnvironment):
    pages: ServedFolder | None = None


class AgentLabBenchmark(Benchmark):
    """AgentLab's GenericAgent on BrowserGym's tasks."""

    name: ClassVar = "agentlab"
    summary: ClassVar = (
        "AgentLab's GenericAgent on BrowserGym: MiniWoB++ out of its wheel, WebArena on your sites."
    )
    vocabulary = Vocabulary(
        name="browsergym",
        navigate=(
            *("click", "dblclick", "press", "keyboard_press", "goto", "go_back", "go_forward"),
            *("new_tab", "tab_focus", "tab_close", "mouse_click", "mouse_dblclick"),
        ),
        recover=("goto", "go_back", "go_forward", "new_tab"),
        finish=("send_msg_to_user", "report_infeasible"),
        infeasible=("report_infeasible",),
        noop=("noop",),
        other=(
            *("fill", "select_option", "hover", "scroll", "clear", "focus", "drag_and_drop"),
            *("mouse_move", "mouse_down", "mouse_up", "mouse_drag_and_drop", "upload_file"),
            *("keyboard_type", "keyboard_down", "keyboard_up", "keyboard_insert_text"),
        ),
        asks_again="<think>\nThe page did not load, so I load it again.\n</think>\n\n"
        "<action>\ngoto('{url}')\n</action>",
    )
    artifacts: ClassVar = (_JOB, f"{_RESULTS}/*/summary_info.json", f"{_RESULTS}/*/experiment.log")
    options_model: ClassVar = AgentLabOptions
    options: AgentLabOptions
    site_names: ClassVar = _SITES
    judge_user_agents = ("python-requests/",)
    api_key_variables = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY")
    base_url_variable = "OPENAI_BASE_URL"
    recipe: ClassVar = Recipe(
        pythons=("3.12", "3.11"),
        pins="pins/agentlab.txt",
        installs=(
            Install(
                (
                    *("browsergym-core==0.14.3", "browsergym-experiments==0.14.3"),
                    *("browsergym-miniwob==0.14.3", "miniwob==1.1.0", "openai<2", "anthropic"),
                    *("litellm==1.80.0", "pyyaml", "joblib", "python-dotenv", "huggingface-hub"),
                    *("requests", "pandas", "gitpython", "python-slugify", "nltk", "beartype"),
                    *("text-generation", "aiolimiter"),
                )
            ),
            # Without dependencies, which are 7 GB and not needed for one task.
            Install(
                (
                    *("agentlab==0.4.2", "browsergym-webarena==0.14.3"),
                    *("browsergym-webarenalite==0.14.3", "libwebarena==0.0.4"),
                ),
                dependencies=False,
            ),
        ),
        # BrowserGym checks for this NLTK table at import, and never uses it.
        folders=(_NLTK,),
        check=_CHECK,
        variables={
            "NLTK_DATA": "{dir}/nltk",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            **{f"WA_{site.upper()}": f"http://{site}.invalid" for site in _SITES},
            **{site.upper(): f"http://{site}.invalid" for site in _SITES},
        },
    )
    setup_help: ClassVar = (
        "An environment of about 450 MB (`warex benchmarks setup agentlab --dir DIR`, Python 3.12"
        " or 3.11) and an OpenAI-compatible model, or one of AgentLab's own names for a model"
        " (openrouter/…, anthropic/…). MiniWoB++ needs nothing else. A task of WebArena needs its"
        ' sites: sites = { map = "http://127.0.0.1:3000" }. Other packages of BrowserGym\'s that'
        " you install there are found when you run setup once more."
    )
    arming_help: ClassVar = (
        "first_llm_call: a fault in BrowserGym's set-up ends the task before the agent begins."
        " Pages of MiniWoB++ have no traffic after that, so what leaves them whole begins at"
        f" first_page: waits of {LONGEST_WAIT:g} s at most, and faults of pictures and styles"
    )

    def tasks(self) -> tuple[str, ...]:
        """Return BrowserGym's own names of its tasks, ``miniwob.click-test``."""
        return tuple(self._check_output["tasks"])

    @cached_property
    def _check_output(self) -> Mapping[str, Any]:
        return self.virtualenv().check_output

    def sites(self, task: str) -> tuple[str, ...]:
        """Return the origins of the task's sites."""
        if task.startswith("miniwob."):
            return (MINIWOB,)
        return tuple(origin_of(self._seen(site)) for site in self._sites_of(task))

    def site_names_of(self, task: str) -> tuple[str, ...]:
        """Return WebArena's names of the task's sites, or ``miniwob``."""
        return ("miniwob",) if task.startswith("miniwob.") else self._sites_of(task)

    def default_arm(self, scenario: Scenario, task: str) -> Arm:
        """Return ``first_page`` for faults under which a MiniWoB++ page still loads."""
        loads = task.startswith("miniwob.") and all(map(_page_still_loads, scenario.rules))
        return "first_page" if loads else "first_llm_call"

    def endpoints(self, agent: AgentSpec) -> tuple[str, ...]:
        """Return OpenRouter's hard-coded address for its models."""
        return ("https://openrouter.ai/api/v1",) if agent.model.startswith("openrouter/") else ()

    def check(self, tasks: Sequence[str], agents: Sequence[AgentSpec], *, direct: bool) -> None:
        """Raise CampaignError for a task's site without an address."""
        for task in tasks:
            for site in self._sites_of(task):
                if site not in self.table.sites:
                    raise CampaignError(
                        f"the task {task!r} needs the site {site!r}: name in benchmark.sites where"
                        f' it is, as in sites = {{ {site} = "http://127.0.0.1:3000" }}'
                    )

    def findings(self) -> Iterator[Finding]:
        """Yield also the data that BrowserGym would otherwise download."""
        try:
            made = self.virtualenv()
        except (CampaignError, MachineError):
            return
        remedy = f"run `warex benchmarks setup agentlab --dir {made.folder} --again`"
        pages = made.site_packages / "miniwob" / "html"
        for name, path, what in (
            ("pages", pages / "miniwob", "the pages of MiniWoB++"),
            ("nltk", made.folder / _NLTK, "the folder that BrowserGym asks NLTK for at import"),
            ("tokens", made.site_packages / _TOKENS, "the token tables, which litellm brings"),
        ):
            if path.is_dir():
                yield Finding(name, "ok", f"{what}: {path}")
            else:
                yield Finding(name, "broken", f"{path} is not there, {what}: {remedy}")

    @contextmanager
    def start_environment(
        self, task: str, folder: Path, ca: CertificateAuthority, *, direct: bool
    ) -> Iterator[TaskEnvironment]:
        """Serve MiniWoB++, or map the hosts of WebArena's sites."""
        if task.startswith("miniwob."):
            with serve_folder(self.virtualenv().site_packages / "miniwob" / "html") as pages:
                yield _WithPages(maps=(f"{MINIWOB}=http://127.0.0.1:{pages.port}",), pages=pages)
            return
        sites = self.table.sites.items()
        yield _WithPages(
            maps_of({origin_of(self._seen(s)): origin_of(target) for s, target in sites})
        )

    def command(self, job: Job, environment: TaskEnvironment) -> Command:
        """Return the driver's command for one ``ExpArgs``."""
        made, options, agent = self.virtualenv(), self.options, job.agent
        results = str((job.folder / _RESULTS).absolute())
        pages = cast(_WithPages, environment).pages
        local = MINIWOB if job.proxied or pages is None else f"http://127.0.0.1:{pages.port}"
        addresses = {site: self._seen(site) for site in _SITES}
        if not job.proxied:
            addresses |= self.table.sites
        config = {
            "task": job.task,
            "agent": options.agent,
            "model": agent.model,
            "temperature": options.temperature,
            "screenshot": agent.screenshot,
            "seed": job.seed % 2**31 if options.task_seed is None else options.task_seed,
            "max_steps": agent.max_steps,
            "slow_mo": options.slow_mo,
            "results": results,
        }
        variables = {
            "NLTK_DATA": str(made.folder / "nltk"),
            # Otherwise tables of tokens and of prices are downloaded.
            "TIKTOKEN_CACHE_DIR": str(made.site_packages / _TOKENS),
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "AGENTLAB_EXP_ROOT": results,
            "MINIWOB_URL": f"{local}/miniwob/",
            **{f"WA_{site.upper()}": address for site, address in addresses.items()},
            **browsers_for(made, job.scratch / "browsers", job.browser, job.browser_arguments),
            **self.endpoint_variables(agent),
        }
        command = self.driver_command("agentlab_task.py", config, job.folder / _JOB)
        return Command(command, variables)

    def was_visited(self, environment: TaskEnvironment) -> bool | None:
        """Return whether MiniWoB++ got a request; unknown for other sites."""
        pages = cast(_WithPages, environment).pages
        return None if pages is None else pages.requests > 0

    def read(self, job: Job, environment: TaskEnvironment, code: int | None) -> TaskResult:
        """Return the reward in AgentLab's summary."""
        summaries = list((job.folder / _RESULTS).glob("*/summary_info.json"))
        summary = read_json_or_empty(summaries[0]) if summaries else {}
        if code is None:
            return TaskResult("time_limit", float(summary.get("cum_reward", 0.0) > 0))
        if not summary:
            return harness_crash(f"it ended with code {code} and left no summary_info.json")
        error = summary.get("err_msg")
        if error and "Failed to get a response from the API" in error:
            return TaskResult(
                "model_error", 0.0, void_reason=f"its model gave no answer: {_brief(error)}"
            )
        if error:
            return harness_crash(_brief(error))
        reward = float(summary["cum_reward"])
        # BrowserGym truncates at the step limit, and after an invalid action.
        ending: Ending = "answered" if summary.get("terminated") else "step_limit"
        return TaskResult(ending, min(max(reward, 0.0), 1.0))

    def _sites_of(self, task: str) -> tuple[str, ...]:
        return tuple(self._check_output.get("sites", {}).get(task, ()))

    def _seen(self, site: str) -> str:
        """Return a site's address in the browser, which is never loopback."""
        target = self.table.sites.get(site, "")
        parts = urlsplit(target)
        if target and parts.hostname not in _LOOPBACK:
            return target
        host = f"{site.replace('_', '-')}.webarena.warex.test"
        return f"http://{host}{parts.path}"


def _page_still_loads(rule: Rule) -> bool:
    """Return whether a MiniWoB++ page can be set up under the rule's fault."""
    short_enough = rule.fault.held_s <= LONGEST_WAIT
    lets_through = rule.fault.target == "site" and all(
        effect.traits.holds for effect in rule.fault.effects_on_page()
    )
    skipped = bool(rule.resources) and not {"document", "script", "xhr"} & set(rule.resources)
    return short_enough and (lets_through or skipped)


def _brief(text: str) -> str:
    return " ".join(text.split())[:300]
