"""WebVoyager with its own agent, which reads screenshots and drives Chrome by Selenium."""

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar, cast

from pydantic import Field

from warex.benchmarks.artifacts import harness_crash, last_output
from warex.benchmarks.base import no_proxy_refused
from warex.benchmarks.checkout import CheckoutBenchmark, CheckoutOptions, describe_path
from warex.benchmarks.installation.recipe import Install, Recipe
from warex.benchmarks.job import AgentSpec, Command, Job, TaskEnvironment, TaskResult
from warex.benchmarks.table import Text
from warex.benchmarks.task_file import NamedTask, read_task_file
from warex.errors import CampaignError, TrialVoid
from warex.files.reading import read_regular_file, read_text_file
from warex.llm.actions.vocabulary import Vocabulary
from warex.sandbox.doctor.finding import Finding
from warex.sandbox.env_mode.browser_shims import write_wrapper
from warex.scenarios import Arm, Scenario
from warex.traces import Ending
from warex.traces.paths import AGENT_LOG
from warex.traffic import origin_of

ENDPOINT = "https://api.openai.com/v1"
"""Hard-coded in the client that WebVoyager pins."""

_IGNORED = "OPENAI_BASE_URL"
"""The variable that later versions of that client read."""

_TASKS = "data/WebVoyager_data.jsonl"
_TASKS_WANTED = (
    'give a file with a task on each line, as {"id": "a", "ques": "Tell the price of green tea.",'
    ' "web": "https://shop.example/"}'
)
_RUN, _JUDGE = "run.py", "evaluation/auto_eval.py"
_WORK, _RESULTS, _VERDICT_FILE = "webvoyager", "results", "judge.log"

_VERDICT = re.compile(r"^Auto_eval_res: (0|1|None)$", re.MULTILINE)
_NO_ANSWER = "Not find answer for "
_FAILED = re.compile(r"Error type: (\w+)")
_ANSWER = re.compile(r"ANSWER[; ]+\[?(.[^\]]*)\]?")

_CHECK = """
import importlib.metadata as m, json
import numpy, openai, PIL, selenium
names = ("selenium", "openai", "httpx", "numpy")
print(json.dumps({"versions": {n: m.version(n) for n in names}}))
"""


class WebVoyagerOptions(CheckoutOptions, frozen=True, extra="forbid"):
    """Options of the adapter."""

    checkout: Text = Field(description="Folder of a checkout of MinorJerry/WebVoyager.")
    tasks: Text | None = Field(
        default=None,
        description=f"A JSONL file of tasks: id, ques, web; left out, the checkout's {_TASKS}.",
    )
    judge: bool = Field(
        default=False, description=f"Whether {_JUDGE} judges each run, by the agent's endpoint."
    )
    judge_model: Text = Field(default="gpt-4-vision-preview", description="The judge's model.")
    images: Annotated[int, Field(ge=1, le=15, strict=True)] = Field(
        default=3, description="How many screenshots go to the model, and to the judge."
    )


class WebVoyagerTask(NamedTask, frozen=True, extra="ignore", coerce_numbers_to_str=True):
    """One line of a task file."""

    ques: str
    web: str


class WebVoyagerBenchmark(CheckoutBenchmark):
    """WebVoyager's ``run.py`` on a file of one task."""

    name: ClassVar = "webvoyager"
    summary: ClassVar = "WebVoyager with its own agent (Selenium); needs a checkout."
    # Type presses Enter, so it leads to a page.
    vocabulary = Vocabulary(
        name="webvoyager",
        navigate=("Click", "Type", "GoBack", "Google"),
        recover=("GoBack", "Google"),
        finish=("ANSWER",),
        noop=("Wait",),
        other=("Scroll",),
    )
    artifacts: ClassVar = (
        f"{_WORK}/{_RESULTS}/*/*/*.json",
        f"{_WORK}/{_RESULTS}/*/*/agent.log",
        f"{_WORK}/{_VERDICT_FILE}",
    )
    setup_help: ClassVar = (
        "Needs a checkout of MinorJerry/WebVoyager, chromedriver on the PATH, and an"
        " OPENAI_API_KEY, which goes on its command line, where other users of this machine can"
        " read it. A task's success is the word of a judge, a model too: without"
        " options.judge = true its trials are unscored."
    )
    arming_help: ClassVar = (
        "first_page, as in the paper: Selenium shows the browser's own page for a page that"
        " fails; first_llm_call for names and connections that fail, at which it raises, and for"
        " popups, since it clicks the middle of its first page before it asks its model"
    )
    recipe: ClassVar = Recipe(
        pythons=("3.10", "3.11"),
        # Its requirements.txt lacks numpy, and allows an httpx that its openai cannot use.
        installs=(Install(("openai", "httpx", "selenium", "pillow", "numpy", "requests")),),
        pins="pins/webvoyager.txt",
        check=_CHECK,
    )
    options_model: ClassVar = WebVoyagerOptions
    options: WebVoyagerOptions
    project: ClassVar = "WebVoyager"
    checkout_files: ClassVar = (_RUN,)
    # Without --text_only the model gets a screenshot with marks, and the marked elements' texts.
    observations: ClassVar = (frozenset({"html", "screenshot"}), frozenset({"axtree"}))
    site_names: ClassVar = None
    api_key_variables = ("OPENAI_API_KEY",)
    mock_model_name: ClassVar = "gpt-4-vision-preview"

    def tasks(self) -> tuple[str, ...]:
        """Return the names of the file's tasks."""
        return tuple(self._all)

    @cached_property
    def _all(self) -> Mapping[str, WebVoyagerTask]:
        tasks_file = self.options.tasks
        path = self.checkout / _TASKS if tasks_file is None else self.table.path(tasks_file)
        if tasks_file is None and not path.is_file():
            raise self.checkout_lacks(_TASKS)
        where = f"benchmark.options.{'checkout' if tasks_file is None else 'tasks'}: {path}"
        try:
            return read_task_file(path, where, ".jsonl", WebVoyagerTask, describe_path(path))
        except CampaignError as error:
            raise CampaignError(f"{error}; {_TASKS_WANTED}") from None

    def sites(self, task: str) -> tuple[str, ...]:
        """Return the origin of the task's page."""
        return (origin_of(self._all[task].web),)

    def site_names_of(self, task: str) -> tuple[str, ...]:
        """Return the site in the task's id: Google Map for ``Google Map--0``."""
        site, mark, _ = task.rpartition("--")
        return (site,) if mark else super().site_names_of(task)

    def default_arm(self, scenario: Scenario, task: str) -> Arm:
        """Return ``first_page``, except for faults that make Selenium raise or cover the page."""
        # Selenium's ``get`` raises if no connection opens, and ``run.py`` does not catch it.
        raises = any(
            effect.traits.opens_no_connection
            for rule in scenario.rules
            for effect in rule.fault.effects_on_page()
        )
        # ``run.py`` clicks the middle of its first page before its model has seen it.
        clicked = any(rule.fault.covers_page for rule in scenario.rules)
        return "first_llm_call" if raises or clicked else "first_page"

    def endpoints(self, agent: AgentSpec) -> tuple[str, ...]:
        """Return OpenAI's endpoint, which its client hard-codes."""
        return (ENDPOINT,)

    def check(self, tasks: Sequence[str], agents: Sequence[AgentSpec], *, direct: bool) -> None:
        """Raise CampaignError also for an endpoint that is ignored or needs the proxy."""
        super().check(tasks, agents, direct=direct)
        ignored = os.environ.get(_IGNORED)
        for agent in agents:
            if ignored and agent.base_url is None and not agent.is_mock:
                raise CampaignError(
                    f"agent {agent.name!r}: {_IGNORED} is {ignored!r}, but WebVoyager's client"
                    " reads no such variable; write that as the agent's base_url, or"
                    f" {ENDPOINT!r} to ask there"
                )
            if direct and (agent.base_url is not None or agent.is_mock):
                raise no_proxy_refused(
                    f"the model of agent {agent.name!r} stands in for {ENDPOINT}, which only the"
                    " proxy can do"
                )

    def findings(self) -> Iterator[Finding]:
        """Yield the checkout and Selenium's driver."""
        yield from super().findings()
        driver = shutil.which("chromedriver")
        yield Finding(
            "chromedriver",
            "ok" if driver else "missing",
            driver or "none on the PATH: install your system's chromium-driver package",
        )

    def command(self, job: Job, environment: TaskEnvironment) -> Command:
        """Return ``run.py`` on a file of one task, followed by the judge."""
        work = job.folder.absolute() / _WORK
        for folder in (work / "downloads", job.scratch / "judged"):
            folder.mkdir(parents=True)
        (work / "task.jsonl").write_text(self._all[job.task].model_dump_json() + "\n", "utf-8")
        python, images = str(self.virtualenv().python), str(self.options.images)
        run = [python, "-u", str(self.checkout / _RUN), "--headless", "--fix_box_color"]
        run += ["--test_file", "task.jsonl", "--output_dir", _RESULTS]
        run += ["--api_model", job.agent.model, "--max_iter", str(job.agent.max_steps)]
        run += ["--max_attached_imgs", images, "--seed", str(job.seed % 2**31)]
        if not job.agent.screenshot:
            run.append("--text_only")
        judge = [python, str(self.checkout / _JUDGE), "--max_attached_imgs", images]
        judge += ["--process_dir", str(job.scratch / "judged")]
        judge += ["--api_model", self.options.judge_model]
        config = {
            "run": run,
            "judge": judge if self.options.judge else [],
            "results": _RESULTS,
            "judged": str(job.scratch / "judged"),
            "verdict": _VERDICT_FILE,
        }
        arguments = self.driver_command("webvoyager_task.py", config)
        return Command(arguments, self._variables(job), work)

    def _variables(self, job: Job) -> dict[str, str]:
        """Return the variables by which Selenium finds the trial's browser as ``chrome``."""
        folder, path = job.scratch / "bin", os.environ.get("PATH", os.defpath)
        # Chromium's sandbox does not work for root.
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        write_wrapper(folder / "chrome", job.browser, [*job.browser_arguments, *sandbox])
        variables = {
            "PATH": f"{folder}{os.pathsep}{path}",
            "SE_CACHE_PATH": str(job.scratch / "selenium"),
            "SE_AVOID_STATS": "true",
            **self.virtualenv().variables,
        }
        if shutil.which("chromedriver", path=path):
            # Otherwise Selenium Manager searches the network for a newer one.
            variables["SE_OFFLINE"] = "true"
        return variables

    def read(self, job: Job, environment: TaskEnvironment, code: int | None) -> TaskResult:
        """Return the ending and, with a judge, its verdict."""
        work = job.folder / _WORK
        left = sorted((work / _RESULTS).glob("*/task*/interact_messages.json"))
        if not left and code is None:
            return TaskResult("time_limit", 0.0 if self.options.judge else None)
        if not left:
            why = last_output(job.folder / AGENT_LOG)
            return harness_crash(f"run.py ended with code {code} and no result{why}")
        try:
            messages = json.loads(read_regular_file(left[-1]))
            replies = [str(each["content"]) for each in messages if each["role"] == "assistant"]
            log = read_text_file(left[-1].with_name("agent.log"), "replace")
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise TrialVoid(f"{left[-1]} cannot be read: {error!r}") from None
        if not replies:
            why = f": {failed[-1]}" if (failed := _FAILED.findall(log)) else ""
            return TaskResult("model_error", 0.0, void_reason=f"the model never answered{why}")
        answer = _ANSWER.search(replies[-1])
        ending = "answered" if answer else _ending(log)
        score = self._score(work / _VERDICT_FILE) if self.options.judge else None
        return TaskResult(ending, score, answer[1].strip() if answer else None)

    def _score(self, verdict: Path) -> float:
        """Return the judge's verdict; it counts a run without an answer as failed."""
        text = verdict.read_text("utf-8", "replace") if verdict.is_file() else ""
        verdicts = _VERDICT.findall(text)
        if not verdicts and _NO_ANSWER in text:
            return 0.0
        if not verdicts or verdicts[-1] == "None":
            raise TrialVoid(f"{_JUDGE} gave no verdict{last_output(verdict)}")
        return float(verdicts[-1])


def _ending(log: str) -> Ending:
    """Return the ending without an answer, from its log."""
    ends = [
        (log.rfind("Error occurred, retrying"), "model_error"),
        (log.rfind("Driver error when"), "agent_crashed"),
        (log.rfind("API call complete"), "step_limit"),
    ]
    return cast(Ending, max(ends)[1])
