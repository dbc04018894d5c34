"""WebArena-Infinity: applications on this machine, each with many tasks and checks.

Its own runner does one task with browser-use. It serves the application on localhost, for which
browsers bypass the proxy; so the adapter starts the server itself, again for each trial, and gives
the runner another host name.
"""

import json
import os
import re
import select
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from warex.benchmarks.adapters.browser_use import QUIET, BrowserUseBenchmark
from warex.benchmarks.artifacts import harness_crash, last_output, no_result
from warex.benchmarks.checkout import CheckoutBenchmark, CheckoutOptions
from warex.benchmarks.installation.playwright_browsers import VARIABLE
from warex.benchmarks.installation.recipe import Install, Recipe
from warex.benchmarks.job import AgentSpec, Command, Job, TaskEnvironment, TaskResult
from warex.benchmarks.single_page import spa_warnings
from warex.benchmarks.table import Text
from warex.errors import CampaignError, TrialVoid
from warex.files.reading import read_regular_file
from warex.proxy.certificates.ca import CertificateAuthority
from warex.sandbox.env_mode.browser_shims import write_wrapper
from warex.scenarios import Scenario
from warex.traces import Ending
from warex.traces.paths import AGENT_LOG

MODELS = ("gpt", "claude", "gemini-flash", "gemini-pro")
"""The runner's names of models."""

_HOST, _PORT = "infinity.warex.test", 8001
_SERVER = Path(__file__).with_name("drivers") / "infinity_app.py"
_RUNNER = "evaluation/run_eval_parallel.py"
_RESULTS = "results"
_READY_S = 30.0
_TRIES = 3

_CRASHED = "Agent crashed: "
_TIMED_OUT = "Timed out after "
_UNASKED = re.compile(
    r"Verifier exception: .*(HTTPConnectionPool\(|Connection aborted|Read timed out|urlopen error)",
    re.DOTALL,
)
"""The runner's message if a check could not reach the application, or WAREX before it."""

_CHECK = """
import dotenv, json, requests
from importlib.metadata import version
from browser_use import Agent, BrowserSession
versions = {name: version(name) for name in ("browser-use", "cdp-use", "openai")}
print(json.dumps({"versions": versions}))
"""


class InfinityOptions(CheckoutOptions, frozen=True, extra="forbid"):
    """Options of the adapter."""

    checkout: Text = Field(description="Folder of a checkout of web-arena-x/webarena-infinity.")
    suite: Literal["real-tasks", "function-tasks"] = Field(
        default="real-tasks", description="Which of an application's lists of tasks."
    )


class InfinityBenchmark(CheckoutBenchmark):
    """WebArena-Infinity's own runner, one process and one fresh application for each task."""

    name: ClassVar = "webarena-infinity"
    summary: ClassVar = "WebArena-Infinity's 13 applications with browser-use; needs a checkout."
    vocabulary = BrowserUseBenchmark.vocabulary
    artifacts: ClassVar = (
        f"{_RESULTS}/*/*.json",
        f"{_RESULTS}/*/*.html",
        f"{_RESULTS}/*/*/*.json",
        f"{_RESULTS}/*/*/conversations/*",
    )
    setup_help: ClassVar = (
        "Needs a checkout of web-arena-x/webarena-infinity; everything else runs on this machine."
        " A task is called APPLICATION/ID, as gmail/task_e1. agent.model is the runner's own word:"
        f" {', '.join(MODELS)}; base_url goes with gpt."
    )
    arming_help: ClassVar = (
        "first_llm_call, since a first page that fails ends the run before the agent begins; the"
        " runner's and the checks' own requests, by python-requests, are never touched"
    )
    recipe: ClassVar = Recipe(
        pythons=("3.12", "3.13"),
        installs=(Install(("browser-use", "pillow", "requests", "python-dotenv")),),
        pins="pins/browser-use.txt",
        check=_CHECK,
    )
    options_model: ClassVar = InfinityOptions
    options: InfinityOptions
    project: ClassVar = "WebArena-Infinity"
    checkout_files: ClassVar = (_RUNNER,)
    # The runner resets the application, and the checks read its state.
    judge_user_agents = ("python-requests",)
    api_key_variables = ("OPENAI_API_KEY",)
    base_url_variable = "OPENAI_BASE_URL"
    mock_model_name: ClassVar = "gpt"

    def tasks(self) -> tuple[str, ...]:
        """Return APPLICATION/ID for all tasks of the suite, application by application."""
        return tuple(self._applications)

    @cached_property
    def _applications(self) -> Mapping[str, Path]:
        """The application's folder by task."""
        tasks: dict[str, Path] = {}
        files = sorted((self.checkout / "apps").glob(f"*/{self.options.suite}.json"))
        for path in files:
            try:
                ids = [str(task["id"]) for task in json.loads(read_regular_file(path))]
            except (OSError, ValueError, LookupError, TypeError) as error:
                why = error.strerror if isinstance(error, OSError) else repr(error)
                raise CampaignError(
                    f"benchmark.options.checkout: {path} is not a list of tasks with an id each"
                    f" ({why}); bring it to what WebArena-Infinity's repository holds"
                ) from None
            tasks |= {f"{path.parent.name}/{name}": path.parent for name in ids}
        if not tasks:
            if files:
                raise CampaignError(
                    f"benchmark.options.checkout: {self.checkout} holds no task: the list in"
                    f" {files[0]} is empty; give another options.suite, or another checkout"
                )
            raise self.checkout_lacks(f"apps/*/{self.options.suite}.json")
        return tasks

    def sites(self, task: str) -> tuple[str, ...]:
        """Return the application's origin for the runner."""
        return (f"http://{_HOST}:{_PORT}",)

    def lint(self, scenario: Scenario, task: str) -> Iterator[str]:
        """Yield the lint warnings for single-page applications."""
        arm = self.arm(scenario, task)
        yield from spa_warnings(scenario, arm, "WebArena-Infinity's applications")

    def check(self, tasks: Sequence[str], agents: Sequence[AgentSpec], *, direct: bool) -> None:
        """Raise CampaignError also for a model that the runner does not know."""
        super().check(tasks, agents, direct=direct)
        for agent in agents:
            if agent.model not in MODELS and not agent.is_mock:
                raise CampaignError(
                    f"agent {agent.name!r}: the runner knows no model {agent.model!r}; it knows"
                    f" {', '.join(MODELS)}"
                )
            if agent.base_url is not None and agent.model != "gpt" and not agent.is_mock:
                raise CampaignError(
                    f"agent {agent.name!r}: base_url goes with the model 'gpt', which alone takes"
                    " one"
                )

    @contextmanager
    def start_environment(
        self, task: str, folder: Path, ca: CertificateAuthority, *, direct: bool
    ) -> Iterator[TaskEnvironment]:
        """Start the application; without a proxy the runner starts it on localhost."""
        if direct:
            yield TaskEnvironment(port=_free_port())
            return
        app, made = self._applications[task], self.virtualenv()
        for _ in range(_TRIES):
            port = _free_port()
            with subprocess.Popen(
                [str(made.python), "-u", str(_SERVER), str(port)],
                cwd=app,
                env={**os.environ, **made.variables},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            ) as server:
                try:
                    if _is_serving(server):
                        maps = (f"http://{_HOST}:{_PORT}=http://127.0.0.1:{port}",)
                        yield TaskEnvironment(maps=maps, port=port)
                        return
                finally:
                    server.kill()
        raise TrialVoid(f"{app / 'server.py'} did not start")

    def command(self, job: Job, environment: TaskEnvironment) -> Command:
        """Return the driver's command that has the runner do one task with one worker."""
        app = str(self._applications[job.task])
        host, port = (_HOST, _PORT) if job.proxied else ("localhost", environment.port)
        arguments = ["--model", job.agent.model, "--workers", "1", "--web-app", app]
        arguments += ["--task-suite", self.options.suite, "--task-id", _id(job.task)]
        arguments += ["--max-steps", str(job.agent.max_steps)]
        arguments += ["--env-host", host, "--base-port", str(port)]
        arguments += ["--output-dir", str(job.folder.absolute() / _RESULTS)]
        if job.agent.screenshot:
            arguments.append("--use-vision")
        browsers, temporary = job.scratch / "browsers", job.scratch / "tmp"
        temporary.mkdir()
        # The first path that browser-use tries.
        starter = browsers / "chromium-1/chrome-linux/chrome"
        write_wrapper(starter, job.browser, job.browser_arguments)
        variables = {
            **QUIET,
            **self.virtualenv().variables,
            VARIABLE: str(browsers),
            "BROWSER_USE_CONFIG_DIR": str(job.scratch / "config"),
            "TMPDIR": str(temporary),
            **self.endpoint_variables(job.agent),
        }
        config = {
            "runner": str(self.checkout / _RUNNER),
            "arguments": arguments,
            "max_steps": job.agent.max_steps,
        }
        return Command(self.driver_command("infinity_run.py", config), variables, job.scratch)

    def was_visited(self, environment: TaskEnvironment) -> bool | None:
        """Return whether a browser has sent its state to the application's server."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            opener.open(f"http://127.0.0.1:{environment.port}/api/state", timeout=10).close()
        except urllib.error.HTTPError:
            return False
        except OSError as error:
            raise TrialVoid(f"the application does not tell its state: {error}") from None
        return True

    def read(self, job: Job, environment: TaskEnvironment, code: int | None) -> TaskResult:
        """Return the runner's result: whether the task's check passed, and its message."""
        results = sorted((job.folder / _RESULTS).glob(f"*/{_id(job.task)}/result.json"))
        if not results:
            # It continues after a browser that did not start.
            last_line = last_output(job.folder / AGENT_LOG, about="failed")
            return no_result(code, f"the runner ended with code {code} and no result{last_line}")
        try:
            result = json.loads(read_regular_file(results[-1]))
            return _result(result, results[-1].with_name("history.json"))
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise TrialVoid(f"{results[-1]} cannot be read: {error!r}") from None


def _id(task: str) -> str:
    return task.rpartition("/")[2]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _is_serving(server: subprocess.Popen[bytes]) -> bool:
    """Wait for the line that it prints once it listens; return False if it does not."""
    if server.stdout is None or not select.select([server.stdout], [], [], _READY_S)[0]:
        return False
    return server.stdout.readline().startswith(b"Serving on")


def _result(result: Mapping[str, Any], history: Path) -> TaskResult:
    words, score = str(result["verifier_message"]), float(bool(result["passed"]))
    if words.startswith(_CRASHED):
        return harness_crash(words)
    if _UNASKED.match(words):
        why = f"the task's check could not ask the application: {words[:300]}"
        return TaskResult("harness_crashed", 0.0, void_reason=why)
    if words.startswith(_TIMED_OUT):
        return TaskResult("time_limit", score, reasons=(words,))
    steps = _steps(history)
    acted = any((step.get("model_output") or {}).get("action") for step in steps)
    if not result["is_done"] and not acted:
        errors = [str(error) for error in result["errors"] if error]
        why = f": {errors[-1][:300]}" if errors else ""
        return TaskResult("model_error", 0.0, void_reason=f"the model never said what to do{why}")
    ending: Ending = "step_limit"
    if result["is_done"]:
        # The agent says that it did not do the task.
        gave_up = bool(steps) and any(r.get("success") is False for r in steps[-1]["result"])
        ending = "reported_infeasible" if gave_up else "answered"
    answer = result["final_result"]
    return TaskResult(ending, score, None if answer is None else str(answer), (words,))


def _steps(history: Path) -> list[dict[str, Any]]:
    """Return the agent's steps; step 0 is browser-use's own, to the first page."""
    steps: list[dict[str, Any]] = json.loads(read_regular_file(history))["history"]
    return [step for step in steps if (step.get("metadata") or {}).get("step_number", 1) > 0]
