"""The testbed (small sites on this machine) with the reference agent."""

import json
import sys
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from warex.benchmarks.adapters.testbed_pool import TestbedPool, own_testbed
from warex.benchmarks.artifacts import harness_crash, last_output, read_json_or_empty
from warex.benchmarks.base import Benchmark
from warex.benchmarks.job import AgentSpec, Command, Job, TaskEnvironment, TaskResult
from warex.benchmarks.table import BenchmarkConfig
from warex.errors import CampaignError, InputError, ProcessDied, TrialVoid
from warex.extras import require_extra
from warex.llm.actions.vocabulary import Vocabulary
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Arm, Scenario
from warex.scenarios.mistakes import unknown_name
from warex.traces import Ending
from warex.traces.paths import AGENT_LOG

if TYPE_CHECKING:
    from warex_testbed.tasks import Task, Verdict

_RESULT = "result.json"
_UNUSABLE = {3: "the agent found no Chromium", 4: "the agent's model endpoint cannot be used"}
_ENDINGS: Mapping[str, Ending] = {
    "answered": "answered",
    "reported_infeasible": "reported_infeasible",
    "step_limit": "step_limit",
}


def require_testbed() -> None:
    """Raise MachineError if the testbed, a separate distribution, is not installed."""
    require_extra("demo", "the benchmark testbed", "warex_testbed")


class TestbedBenchmark(Benchmark):
    """The testbed with the reference agent."""

    __test__ = False  # Not a test class.

    name: ClassVar = "testbed"
    summary: ClassVar = "The embedded sites and the reference agent; needs no network and no key."
    vocabulary = Vocabulary(
        name="reference-agent",
        navigate=("click", "press", "goto", "go_back", "reload"),
        recover=("reload", "goto", "go_back"),
        retry=("reload",),
        finish=("send_msg_to_user", "report_infeasible"),
        infeasible=("report_infeasible",),
        noop=("noop",),
        other=("fill", "select_option", "scroll"),
        first_only=True,
        asks_again="The page did not load, so I load it again.\nreload()",
    )
    artifacts: ClassVar = (_RESULT,)
    api_key_variables = ("OPENAI_API_KEY",)
    base_url_variable = "OPENAI_BASE_URL"
    opens_page_first: ClassVar = True
    observations: ClassVar = (
        *(frozenset({"axtree"}), frozenset({"axtree", "screenshot"})),
        *(frozenset({"compact-axtree"}), frozenset({"compact-axtree", "screenshot"})),
    )
    headless: ClassVar = True
    setup_help: ClassVar = "Nothing: the sites, the agent and a scripted model come with WAREX."
    arming_help: ClassVar = "first_page, as in the paper: the reference agent bears any first page"

    def __init__(self, table: BenchmarkConfig | None = None) -> None:
        super().__init__(table)
        require_testbed()
        from warex_testbed.tasks import load_tasks

        self._pool: TestbedPool | None = None
        self._tasks: dict[str, Task] = {task.name: task for task in load_tasks()}

    def tasks(self) -> tuple[str, ...]:
        """Return the names of all tasks in the order of their files."""
        return tuple(self._tasks)

    def scripted_task_files(self) -> tuple[Path, ...]:
        """Return the task files, whose oracles the scripted model follows."""
        from warex_testbed.tasks import FILES

        return FILES

    def sites(self, task: str) -> tuple[str, ...]:
        """Return the origin of the task's site."""
        return (f"https://{self.task(task).host}",)

    def default_arm(self, scenario: Scenario, task: str) -> Arm:
        """Return ``first_page``, as in the paper: the reference agent accepts any first page."""
        return "first_page"

    def check(self, tasks: Sequence[str], agents: Sequence[AgentSpec], *, direct: bool) -> None:
        """Raise MachineError if the reference agent's Playwright is not installed."""
        require_extra("demo", "the reference agent", "playwright")

    def start_environment(
        self, task: str, folder: Path, ca: CertificateAuthority, *, direct: bool
    ) -> AbstractContextManager[TaskEnvironment]:
        """Start fresh sites for the trial; without a proxy they serve TLS."""
        return self._served(self.task(task).host, ca if direct else None)

    @contextmanager
    def _served(self, host: str, tls: CertificateAuthority | None) -> Iterator[TaskEnvironment]:
        lent = own_testbed(tls) if self._pool is None else self._pool.acquire(tls)
        with lent as ports:
            yield TaskEnvironment(
                maps=(f"https://{host}=http://127.0.0.1:{ports['port']}",),
                direct_hosts={host: ports["port"]},
                port=ports["admin_port"],
            )

    @contextmanager
    def shared_environment(self) -> Iterator[None]:
        """Keep the testbeds running between trials; reset them before each."""
        with TestbedPool() as pool:
            self._pool = pool
            try:
                yield
            finally:
                self._pool = None

    def command(self, job: Job, environment: TaskEnvironment) -> Command:
        """Return the reference agent's command for the task."""
        task, agent = self.task(job.task), job.agent
        command = [sys.executable, "-m", "warex.agents.reference", "--goal", task.goal]
        command += ["--start-url", task.start_url(), "--model", agent.model]
        command += ["--max-steps", str(agent.max_steps), "--result", str(job.folder / _RESULT)]
        command += ["--browser", str(job.browser)]
        command += [f"--browser-arg={argument}" for argument in job.browser_arguments]
        if agent.base_url is not None:
            command += ["--base-url", agent.base_url]
        if "compact-axtree" in (agent.observation or ()):
            command.append("--compact")
        if agent.screenshot:
            command.append("--screenshot")
        return Command(command)

    def was_visited(self, environment: TaskEnvironment) -> bool:
        """Return whether any request came to the sites."""
        return bool(_ask(environment.port, "health")["requests"])

    def read(self, job: Job, environment: TaskEnvironment, code: int | None) -> TaskResult:
        """Score the site's state and the agent's answer."""
        result = read_json_or_empty(job.folder / _RESULT)
        if code in _UNUSABLE:
            why = result.get("error") or "its log says why"
            return TaskResult("model_error", 0.0, void_reason=f"{_UNUSABLE[code]}: {why}")
        ending = _ENDINGS.get(result.get("ending", ""))
        if code is None:
            ending = "time_limit"
        answer = result.get("answer") if ending == "answered" else None
        verdict = self.judge(job.task, environment, answer)
        if ending is None:
            why = f"the agent ended with code {code}{last_output(job.folder / AGENT_LOG)}"
            return harness_crash(why)
        return TaskResult(ending, verdict.score, answer, verdict.reasons)

    def judge(self, task: str, environment: TaskEnvironment, answer: str | None) -> "Verdict":
        """Return the verdict of the task's check on the site's state and the answer.

        Raises TrialVoid if the site does not return its state, InputError if the state is invalid.
        """
        definition = self.task(task)
        state = _ask(environment.port, f"state?host={definition.host}")
        try:
            return definition.judge(state, answer)
        except ValueError as error:
            raise InputError(str(error)) from None

    def task(self, name: str) -> "Task":
        """Return a task by its name; raise CampaignError for an unknown one."""
        if name not in self._tasks:
            raise CampaignError(unknown_name("the testbed has no task", name, tuple(self._tasks)))
        return self._tasks[name]


def _ask(admin_port: int, what: str) -> dict[str, Any]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://127.0.0.1:{admin_port}/{what}", timeout=10) as answer:
            return cast(dict[str, Any], json.loads(answer.read()))
    except OSError as error:
        raise ProcessDied(f"the testbed does not tell its {what}: {error}") from None
    except ValueError as error:
        raise TrialVoid(f"the testbed does not tell its {what}: {error}") from None
