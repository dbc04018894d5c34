"""WebArena with its own agent, ``run.py``, on the user's copies of its sites."""

import html
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, StringConstraints

from warex.benchmarks.arming import arm_on_first_page
from warex.benchmarks.artifacts import harness_crash, last_output, read_text_or_empty
from warex.benchmarks.base import (
    AGENT_LOG,
    AgentSpec,
    Benchmark,
    Command,
    Job,
    TaskEnvironment,
    TaskResult,
)
from warex.benchmarks.installation.checkouts import describe_path
from warex.benchmarks.installation.playwright_browsers import browsers_for
from warex.benchmarks.installation.recipe import Install, Recipe
from warex.benchmarks.installation.virtualenv import Virtualenv
from warex.benchmarks.table import BenchmarkConfig
from warex.errors import CampaignError
from warex.files.reading import read_regular_file
from warex.llm.actions.parser import Vocabulary
from warex.proxy.certificates.ca import CertificateAuthority
from warex.sandbox.doctor.finding import Finding
from warex.scenarios import Arm, Scenario
from warex.traces import Ending
from warex.traffic import origin_of

type Text = Annotated[str, StringConstraints(min_length=1)]

SITES: Mapping[str, str] = {
    "shopping": "SHOPPING",
    "shopping_admin": "SHOPPING_ADMIN",
    "reddit": "REDDIT",
    "gitlab": "GITLAB",
    "wikipedia": "WIKIPEDIA",
    "map": "MAP",
    "homepage": "HOMEPAGE",
}
"""WebArena's sites, each with the variable of its address."""

TASKS = "config_files/test.raw.json"
"""All tasks, with placeholders for the addresses; a path in a checkout."""

NLTK = "nltk_data"
_PUNKT = ("abbrev_types.txt", "collocations.tab", "ortho_context.tab", "sent_starters.txt")

SUPPORT: Mapping[str, str] = {f"{NLTK}/tokenizers/punkt_tab/english/{name}": "" for name in _PUNKT}
"""Empty tables in place of a download; with them NLTK splits words but knows no abbreviations."""

_WORK = "webarena"
_RESULT = "result"
_DRIVER = Path(__file__).with_name("drivers") / "judged_script.py"
_JUDGE = {"module": "evaluation_harness.evaluators", "function": "evaluator_router"}

_VERDICT = re.compile(r"\[Result\] \((PASS|FAIL)\)")
_ERROR = re.compile(r"\[(OpenAI|Unhandled) Error\] (.*)")
_STOP, _STOP_ENDS = "<pre>stop [", "]</pre></div></div>"
_EARLY = "Early stop: "

_CHECK = """
import importlib.metadata as m, json
import beartype, gymnasium, nltk, openai, playwright, tiktoken, transformers
names = ("playwright", "openai", "gymnasium", "transformers", "tiktoken")
print(json.dumps({"versions": {n: m.version(n) for n in names}}))
"""


class WebArenaOptions(BaseModel, frozen=True, extra="forbid"):
    """Options of the adapter."""

    checkout: Text = Field(description="Folder of a checkout of web-arena-x/webarena.")
    prompt: Annotated[str, StringConstraints(pattern=r"^[\w.-]+$")] = Field(
        default="p_cot_id_actree_2s", description="A file of agent/prompts/raw, without its .py."
    )


class WebArenaBenchmark(Benchmark):
    """WebArena's own harness, one process for each task."""

    name: ClassVar = "webarena"
    summary: ClassVar = (
        "WebArena with its own agent (run.py); your copies of its sites, a checkout."
    )
    vocabulary = Vocabulary(
        name="webarena",
        navigate=(
            *("click", "type", "press", "goto", "go_back", "go_forward"),
            *("new_tab", "tab_focus", "close_tab"),
        ),
        recover=("goto", "go_back", "go_forward"),
        finish=("stop",),
        other=("hover", "scroll"),
        asks_again="The page did not load, so I load it again. In summary, the next action"
        " I will perform is ```goto [{url}]```",
    )
    artifacts: ClassVar = (
        f"{_WORK}/log_files/*.log",
        f"{_WORK}/{_RESULT}/*.html",
        f"{_WORK}/{_RESULT}/*.txt",
        f"{_WORK}/{_RESULT}/*.json",
    )
    setup_help: ClassVar = (
        "Needs a checkout of web-arena-x/webarena and running copies of the sites of its tasks,"
        " named in sites = { map = 'http://host:3000' }. A copy on this machine's loopback gets a"
        " name of its own, http://map.webarena.test:3000, since browsers keep loopback from any"
        " proxy: that is the address to configure the copy with. agent.model must be a name that"
        " tiktoken knows."
    )
    arming_help: ClassVar = (
        "first_page for answers with a page, held 25 s at most, on tasks without a login;"
        " otherwise first_llm_call, since a failed login or first page ends the task before the"
        " agent begins"
    )
    example: ClassVar = """\
name = "webarena-map"
[benchmark]
name = "webarena"
dir = "webarena-env"
sites = { map = "http://127.0.0.1:3000" }
options = { checkout = "webarena" }
[tasks]
names = ["70", "71"]
[[agents]]
name = "webarena"
model = "gpt-3.5-turbo"
[[conditions]]
name = "clean"
[[conditions]]
name = "server-error"
scenario = "paper/server-error"
"""
    recipe: ClassVar = Recipe(
        pythons=("3.10",),
        # litellm contains the tokenizer files that tiktoken would download.
        installs=(
            Install(
                (
                    *("playwright", "gymnasium", "Pillow", "openai", "tiktoken", "aiolimiter"),
                    *("beartype", "flask", "nltk", "requests", "numpy", "tqdm", "setuptools"),
                    *("text-generation", "transformers", "huggingface-hub"),
                )
            ),
            Install(("litellm",), dependencies=False),
        ),
        pins="pins/webarena.txt",
        files=SUPPORT,
        check=_CHECK,
    )
    options_model: ClassVar = WebArenaOptions
    observations: ClassVar = (frozenset({"axtree"}),)
    site_names: ClassVar = tuple(SITES)
    # Its judges use the shop's REST interface.
    judge_user_agents = ("python-requests",)
    api_key_variables = ("OPENAI_API_KEY",)
    base_url_variable = "OPENAI_API_BASE"
    mock_model_name: ClassVar = "gpt-3.5-turbo"

    def __init__(self, table: BenchmarkConfig | None = None) -> None:
        super().__init__(table)
        options = cast(WebArenaOptions, self.options)
        self._prompt = options.prompt
        self.checkout = self.table.path(options.checkout)

    def tasks(self) -> tuple[str, ...]:
        """Return the numbers of all tasks."""
        return tuple(self._all)

    @cached_property
    def _all(self) -> Mapping[str, dict[str, Any]]:
        return raw_tasks(self.checkout, "checkout")

    def sites(self, task: str) -> tuple[str, ...]:
        """Return the origins of the task's sites."""
        return tuple(origin_of(self._address(site)) for site in self._all[task]["sites"])

    def site_names_of(self, task: str) -> tuple[str, ...]:
        """Return WebArena's names of the sites that the task needs."""
        return tuple(self._all[task]["sites"])

    def arm(self, scenario: Scenario, task: str) -> Arm:
        """Return ``first_llm_call`` for a task with a login, else as for any first page."""
        login = self._all[task].get("storage_state")
        return scenario.arm or ("first_llm_call" if login else arm_on_first_page(scenario))

    def validate(
        self, tasks: Sequence[str], agents: Sequence[AgentSpec], *, direct: bool = False
    ) -> None:
        """Raise CampaignError for an invalid checkout or prompt, or a site without an address."""
        super().validate(tasks, agents, direct=direct)
        if not (self.checkout / "run.py").is_file():
            raise CampaignError(f"benchmark.options.checkout: {self.checkout} holds no run.py")
        if not (self.checkout / "agent/prompts/raw" / f"{self._prompt}.py").is_file():
            raise CampaignError(
                f"benchmark.options.prompt: {self.checkout / 'agent/prompts/raw'} holds no"
                f" {self._prompt}.py"
            )
        require_sites(self.name, tasks, self._all, self.table.sites)

    def needs_proxy(self) -> str | None:
        """Return a message if a site on loopback has a name of its own."""
        maps = self._maps()
        name = maps[0].partition("=")[0] if maps else None
        return f"{name} is a name that only the proxy knows: the site has none" if name else None

    def diagnose(self) -> Iterator[Finding]:
        """Yield the environment and the checkout."""
        yield from super().diagnose()
        there = (self.checkout / "run.py").is_file() and (self.checkout / TASKS).is_file()
        yield Finding(
            "webarena checkout",
            "ok" if there else "missing",
            f"{self.checkout}: {'run.py and its tasks' if there else 'no checkout of WebArena'}",
            needed=True,
        )

    def start_environment(
        self, task: str, folder: Path, ca: CertificateAuthority, *, direct: bool
    ) -> AbstractContextManager[TaskEnvironment]:
        """Return the maps of the user's sites."""
        return nullcontext(TaskEnvironment(maps=self._maps()))

    def command(self, job: Job, stage: TaskEnvironment) -> Command:
        """Return ``run.py`` on one task, in a folder of symlinks, since it writes to its cwd."""
        work = job.folder.absolute() / _WORK
        (work / "config_files").mkdir(parents=True)
        config = fill_site_urls(self._all[job.task], {site: self._address(site) for site in SITES})
        (work / f"config_files/{job.task}.json").write_text(json.dumps(config), "utf-8")
        (work / "agent/prompts").mkdir(parents=True)
        (work / "agent/prompts/raw").symlink_to(self.checkout / "agent/prompts/raw")
        (work / "browser_env").symlink_to(self.checkout / "browser_env")
        # Playwright's recordings are unredacted, so they go to the scratch folder.
        traces = job.scratch / "traces"
        traces.mkdir()
        (work / _RESULT).mkdir()
        (work / _RESULT / "traces").symlink_to(traces)
        made = self.virtualenv()
        arguments = ["--instruction_path", f"agent/prompts/jsons/{self._prompt}.json"]
        arguments += ["--test_start_idx", job.task, "--test_end_idx", str(int(job.task) + 1)]
        arguments += ["--model", job.agent.model, "--max_steps", str(job.agent.max_steps)]
        arguments += ["--result_dir", _RESULT]
        variables = {
            **{SITES[site]: self._address(site) for site in SITES},
            **offline_data_variables(made.site_packages, made.folder),
            **browsers_for(made, job.scratch / "browsers", job.browser, job.browser_arguments),
            "PYTHONPATH": str(self.checkout),
            # It runs its login by `python`.
            "PATH": f"{made.python.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            **made.variables,
        }
        if job.agent.base_url is not None:
            variables["OPENAI_API_BASE"] = job.agent.base_url
        return Command(judged_command(made, self.checkout / "run.py", arguments), variables, work)

    def read(self, task: str, stage: TaskEnvironment, folder: Path, code: int | None) -> TaskResult:
        """Return the result in its log: PASS, FAIL, or the error that it caught."""
        result = folder / _WORK / _RESULT
        (result / "traces").unlink(missing_ok=True)
        log = "".join(map(read_text_or_empty, sorted((folder / _WORK / "log_files").glob("*.log"))))
        verdicts, errors = _VERDICT.findall(log), _ERROR.findall(log)
        if verdicts:
            rendered = read_text_or_empty(result / f"render_{task}.html")
            ending, answer, reasons = _ending(stop_answers(rendered))
            return TaskResult(ending, float(verdicts[-1] == "PASS"), answer, reasons)
        if errors:
            who, what = errors[-1]
            why = f"{who.replace('Unhandled', 'unhandled')} error: {what[:300]}"
            if who == "OpenAI":
                return TaskResult("model_error", 0.0, void_reason=why)
            return harness_crash(why)
        if code is None:
            return TaskResult("time_limit", 0.0)
        why = f"run.py ended with code {code} and no verdict{last_output(folder / AGENT_LOG)}"
        return harness_crash(why)

    def _address(self, site: str) -> str:
        return address(site, self.table.sites.get(site))[0]

    def _maps(self) -> tuple[str, ...]:
        maps = (address(site, target)[1] for site, target in self.table.sites.items())
        return tuple(filter(None, maps))


def judged_command(made: Virtualenv, script: Path, arguments: Sequence[str]) -> list[str]:
    """Return the command of a script that judges by WebArena's evaluators.

    They open pages in the agent's browser, so the driver first reports that the agent has ended.
    """
    told = {"script": str(script), "arguments": list(arguments), "judge": _JUDGE}
    return [str(made.python), str(_DRIVER), json.dumps(told)]


def raw_tasks(checkout: Path, option: str) -> Mapping[str, dict[str, Any]]:
    """Return WebArena's tasks by number; raise CampaignError if the checkout holds none."""
    path = checkout / TASKS
    wanted = "give the folder of its checkout"
    try:
        tasks = {str(task["task_id"]): task for task in json.loads(read_regular_file(path))}
    except (OSError, ValueError, LookupError, TypeError) as error:
        why = error.strerror if isinstance(error, OSError) else repr(error)
        raise CampaignError(
            f"benchmark.options.{option}: {path} holds no tasks of WebArena ({why});"
            f" {checkout}: {describe_path(checkout)}; {wanted}"
        ) from None
    if not tasks:
        raise CampaignError(
            f"benchmark.options.{option}: {path} holds no tasks of WebArena (its list is empty);"
            f" {wanted}"
        )
    return tasks


def fill_site_urls(task: Mapping[str, Any], addresses: Mapping[str, str]) -> Any:
    """Return a task with the placeholders replaced by the sites' addresses."""
    text = json.dumps(task)
    for site, url in addresses.items():
        text = text.replace(f"__{SITES[site]}__", json.dumps(url)[1:-1])
    return json.loads(text)


def address(site: str, target: str | None) -> tuple[str, str | None]:
    """Return a site's address for the harness, and its map, if it needs one.

    A site on loopback gets a name, since browsers bypass the proxy for loopback. A site that is not
    served gets an address, too: WebArena needs one for each.
    """
    name = f"{site.replace('_', '-')}.webarena.test"
    if target is None:
        return f"http://{name}", None
    parts = urlsplit(target)
    if not re.fullmatch(r"::1|127\..*|(.*\.)?localhost", parts.hostname or ""):
        return target.rstrip("/"), None
    port = f":{parts.port}" if parts.port else ""
    origin = f"{parts.scheme}://{name}{port}"
    return f"{origin}{parts.path.rstrip('/')}", f"{origin}={origin_of(target)}"


def require_sites(
    name: str,
    tasks: Sequence[str],
    known: Mapping[str, Mapping[str, Any]],
    sites: Mapping[str, str],
) -> None:
    """Raise CampaignError for the first task with a site that has no address."""
    for task in tasks:
        for site in known[task]["sites"]:
            if site not in sites:
                raise CampaignError(
                    f"benchmark.sites: {name}'s task {task} is done on {site!r}; say where your"
                    f' copy is: sites = {{ {site} = "http://host:port" }}'
                )


def offline_data_variables(site_packages: Path, folder: Path) -> dict[str, str]:
    """Return the variables of tiktoken's and NLTK's data; the user's own take precedence."""
    ours = {
        "TIKTOKEN_CACHE_DIR": site_packages / "litellm/litellm_core_utils/tokenizers",
        "NLTK_DATA": folder / NLTK,
    }
    return {name: os.environ.get(name) or str(path) for name, path in ours.items()}


def stop_answers(rendered: str) -> list[str]:
    """Return the texts of the stop actions."""
    parts = (part.partition(_STOP) for part in rendered.split(_STOP_ENDS)[:-1])
    return [said for _, mark, said in parts if mark]


def _ending(stops: Sequence[str]) -> tuple[Ending, str | None, tuple[str, ...]]:
    """Return ending, answer and reasons by the last stop action."""
    if not stops:
        return "answered", None, ()
    answer = html.unescape(stops[-1])
    if answer.startswith(_EARLY):
        why = answer.removeprefix(_EARLY)
        return "step_limit", None, (f"the harness stopped it: {why}",)
    return ("reported_infeasible" if answer == "N/A" else "answered"), answer, ()
