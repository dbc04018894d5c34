"""WebArena with its own agent, ``run.py``, on the user's copies of its sites."""

import html
import os
import re
from collections.abc import Sequence
from typing import Annotated, ClassVar
from urllib.parse import urlsplit

from pydantic import Field, StringConstraints

from warex.benchmarks.adapters.webarena_tasks import PACKAGES, SITES, SUPPORT, TASKS, WebArenaTasks
from warex.benchmarks.arming import arm_on_first_page
from warex.benchmarks.artifacts import harness_crash, last_output, no_result, read_text_or_empty
from warex.benchmarks.checkout import CheckoutOptions
from warex.benchmarks.installation.recipe import Install, Recipe
from warex.benchmarks.job import AgentSpec, Command, Job, TaskEnvironment, TaskResult
from warex.benchmarks.table import Text
from warex.errors import CampaignError
from warex.llm.actions.vocabulary import Vocabulary
from warex.scenarios import Arm, Scenario
from warex.traces import Ending
from warex.traces.paths import AGENT_LOG
from warex.traffic import origin_of

_SCRIPT = "run.py"
_WORK = "webarena"
_RESULT = "result"

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


class WebArenaOptions(CheckoutOptions, frozen=True, extra="forbid"):
    """Options of the adapter."""

    checkout: Text = Field(description="Folder of a checkout of web-arena-x/webarena.")
    prompt: Annotated[str, StringConstraints(pattern=r"^[\w.-]+$")] = Field(
        default="p_cot_id_actree_2s", description="A file of agent/prompts/raw, without its .py."
    )


class WebArenaBenchmark(WebArenaTasks):
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
    recipe: ClassVar = Recipe(
        pythons=("3.10",),
        installs=(Install(PACKAGES), Install(("litellm",), dependencies=False)),
        pins="pins/webarena.txt",
        files=SUPPORT,
        check=_CHECK,
    )
    options_model: ClassVar = WebArenaOptions
    options: WebArenaOptions
    project: ClassVar = "WebArena"
    checkout_files: ClassVar = (_SCRIPT, TASKS)
    site_names: ClassVar = tuple(SITES)
    mock_model_name: ClassVar = "gpt-3.5-turbo"

    def address(self, site: str) -> str:
        """Return a site's address, for one on loopback with a name of its own."""
        return address_and_map(site, self.table.sites.get(site))[0]

    def default_arm(self, scenario: Scenario, task: str) -> Arm:
        """Return ``first_llm_call`` for a task with a login, else as for any first page."""
        login = self.raw_tasks[task].get("storage_state")
        return "first_llm_call" if login else arm_on_first_page(scenario)

    def check(self, tasks: Sequence[str], agents: Sequence[AgentSpec], *, direct: bool) -> None:
        """Raise CampaignError also for an invalid prompt."""
        super().check(tasks, agents, direct=direct)
        prompts = self.checkout / "agent/prompts/raw"
        if not (prompts / f"{self.options.prompt}.py").is_file():
            raise CampaignError(
                f"benchmark.options.prompt: {prompts} holds no {self.options.prompt}.py"
            )

    def needs_proxy(self) -> str | None:
        """Return a message if a site on loopback has a name of its own."""
        for site, target in self.table.sites.items():
            if mapped := address_and_map(site, target)[1]:
                name = mapped.partition("=")[0]
                return f"{name} is a name that only the proxy knows: the site has none"
        return None

    def maps(self, task: str) -> tuple[str, ...]:
        """Return the maps of the user's sites on loopback."""
        maps = (address_and_map(site, target)[1] for site, target in self.table.sites.items())
        return tuple(filter(None, maps))

    def command(self, job: Job, environment: TaskEnvironment) -> Command:
        """Return ``run.py`` on one task, in a folder of symlinks, since it writes to its cwd."""
        work = job.folder.absolute() / _WORK
        self.write_task(work / "config_files", job.task, SITES)
        (work / "agent/prompts").mkdir(parents=True)
        for folder in ("agent/prompts/raw", "browser_env"):
            (work / folder).symlink_to(self.checkout / folder)
        # Playwright's recordings are unredacted, so they go to the scratch folder.
        traces = job.scratch / "traces"
        traces.mkdir()
        (work / _RESULT).mkdir()
        (work / _RESULT / "traces").symlink_to(traces)
        arguments = ["--instruction_path", f"agent/prompts/jsons/{self.options.prompt}.json"]
        arguments += ["--test_start_idx", job.task, "--test_end_idx", str(int(job.task) + 1)]
        arguments += ["--model", job.agent.model, "--max_steps", str(job.agent.max_steps)]
        arguments += ["--result_dir", _RESULT]
        programs = self.virtualenv().python.parent
        variables = {
            **{variable: self.address(site) for site, variable in SITES.items()},
            **self.harness_variables(job),
            "PYTHONPATH": str(self.checkout),
            # It runs its login by `python`.
            "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        }
        return Command(self.judged_command(_SCRIPT, arguments), variables, work)

    def read(self, job: Job, environment: TaskEnvironment, code: int | None) -> TaskResult:
        """Return the result in its log: PASS, FAIL, or the error that it caught."""
        work = job.folder / _WORK
        result = work / _RESULT
        (result / "traces").unlink(missing_ok=True)
        log = "".join(map(read_text_or_empty, sorted((work / "log_files").glob("*.log"))))
        verdicts, errors = _VERDICT.findall(log), _ERROR.findall(log)
        if verdicts:
            rendered = read_text_or_empty(result / f"render_{job.task}.html")
            ending, answer, reasons = _ending(stop_answers(rendered))
            return TaskResult(ending, float(verdicts[-1] == "PASS"), answer, reasons)
        if errors:
            who, what = errors[-1]
            why = f"{who.replace('Unhandled', 'unhandled')} error: {what[:300]}"
            if who == "OpenAI":
                return TaskResult("model_error", 0.0, void_reason=why)
            return harness_crash(why)
        last_line = last_output(job.folder / AGENT_LOG)
        return no_result(code, f"run.py ended with code {code} and no verdict{last_line}")


def address_and_map(site: str, target: str | None) -> tuple[str, str | None]:
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


def stop_answers(rendered: str) -> list[str]:
    """Return the texts of the stop actions."""
    parts = (part.partition(_STOP) for part in rendered.split(_STOP_ENDS)[:-1])
    return [answer for _, mark, answer in parts if mark]


def _ending(stops: Sequence[str]) -> tuple[Ending, str | None, tuple[str, ...]]:
    """Return ending, answer and reasons by the last stop action."""
    if not stops:
        return "answered", None, ()
    answer = html.unescape(stops[-1])
    if answer.startswith(_EARLY):
        why = answer.removeprefix(_EARLY)
        return "step_limit", None, (f"the harness stopped it: {why}",)
    return ("reported_infeasible" if answer == "N/A" else "answered"), answer, ()
