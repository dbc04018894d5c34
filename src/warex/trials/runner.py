"""Runs one attempt of one trial: task environment, proxy, canary, agent, scoring.

A failure of WAREX or of the machine makes the trial void, and it is run again. A failure of the
agent counts.
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from secrets import token_hex

from warex.benchmarks import AGENT_LOG, Command, Job, TaskEnvironment, TaskResult
from warex.benchmarks.scoring.user_commands import stopped_when
from warex.errors import InputError, ProcessDied, TraceError, TrialVoid, WarexError
from warex.files.private import make_private_dir, restrict_to_owner
from warex.lane.config import ProxyConfig
from warex.plugins import plugin_failure
from warex.proxy.process.client import Proxy
from warex.sandbox.canary import fetch_canary
from warex.sandbox.command import CompletedCommand, run_command
from warex.sandbox.environment import Environment, direct_environment
from warex.sandbox.isolation import open_sandbox
from warex.traces import (
    CRASHED_BEFORE_A_FAULT,
    EVENTS,
    Counted,
    FaultDelivered,
    LlmCall,
    Outcome,
    Trace,
    Unscored,
    Void,
    discard_answers,
    keep_out,
    publish_answers,
    read_trace,
    redact_file,
    redact_learned,
    secrets_of,
    without_learned,
    write_error,
    write_outcome,
)
from warex.traffic import Capture
from warex.trials.addresses import AGENT_ENDED, agent_ended_url
from warex.trials.context import TrialContext, TrialSpec
from warex.trials.defence_check import require_defence_applied
from warex.trials.page_checks import (
    first_page_is_proof,
    require_first_page,
    require_model_answer,
    require_pages,
)
from warex.trials.playbook import serve_playbook
from warex.trials.proxy_config import (
    host_ports,
    llm_hosts,
    model_url,
    proxy_config,
    shared_answers_of,
    with_model_name,
)

PLACEHOLDER_KEY = "no-key-is-set"
"""Value of an API key that a client requires and that is not set."""


class TrialInterrupted(Exception):
    """The trial was stopped; it has no outcome and is run again."""


def run_trial(spec: TrialSpec, attempt: int, folder: Path, context: TrialContext) -> Outcome:
    """Run one attempt in its own folder; write its outcome last.

    The attempt is void if a process of WAREX is killed or a plug-in fails. Raises MachineError if
    the machine lacks something, InputError if the configuration cannot work or the folder holds an
    attempt, TrialInterrupted if it was stopped.
    """
    keep_out(context.traffic.redact_strings)
    try:
        make_private_dir(folder)
    except OSError as error:
        raise write_error(folder, error) from None
    if any(folder.iterdir()):
        raise InputError(f"{folder} holds an attempt already; each needs a folder of its own")
    try:
        with stopped_when(context.stop.is_set), _void_if_plugin_fails():
            outcome = _run(spec, attempt, folder, context)
    except TrialVoid as void:
        outcome = Void(reason=str(void), died=isinstance(void, ProcessDied))
    finally:
        restrict_to_owner(folder)
    if context.stop.is_set():
        raise TrialInterrupted
    shared = shared_answers_of(spec, context)
    if shared is not None and isinstance(outcome, Void):
        discard_answers(folder)
    elif shared is not None:
        publish_answers(folder, shared)
    write_outcome(folder, outcome)
    return outcome


@contextmanager
def _void_if_plugin_fails() -> Iterator[None]:
    """Raise TrialVoid, which names the package, in place of an error of a plug-in."""
    try:
        yield
    except WarexError:
        raise
    except Exception as error:
        if (failure := plugin_failure(error)) is None:
            raise
        raise TrialVoid(failure) from error


def _run(spec: TrialSpec, attempt: int, folder: Path, context: TrialContext) -> Outcome:
    started = context.benchmark.start_environment(
        spec.key.task, folder, context.ca, direct=not spec.proxied
    )
    with started as environment, _with_its_model(spec, context) as context:
        if spec.proxied:
            return _run_behind(spec, attempt, environment, folder, context)
        place = direct_environment(context.base_environment, context.ca, environment.direct_hosts)
        with _agent_command(spec, folder, context, environment, place) as agent:
            job, command, variables = agent
            finished = run_command(
                command.arguments,
                variables,
                folder / AGENT_LOG,
                timeout_s=context.timeout_s,
                stop=context.stop.is_set,
                cwd=command.cwd,
            )
        result = context.benchmark.read(job, environment, finished.code)
        return _outcome(_scored(job, context, result, None), finished)


@contextmanager
def _with_its_model(spec: TrialSpec, context: TrialContext) -> Iterator[TrialContext]:
    """Serve the trial's own playbook, if it has one, else the embedded model, if it needs it."""
    with ExitStack() as stack:
        port = context.model_port
        if spec.playbook is not None:
            manager = tempfile.TemporaryDirectory(prefix="warex-playbook-")
            scratch = Path(stack.enter_context(manager))
            port = stack.enter_context(serve_playbook(spec.playbook, scratch))
        elif context.model is not None and spec.agent.is_mock:
            port = stack.enter_context(context.model.port())
        yield replace(context, model_port=port)


def _run_behind(
    spec: TrialSpec, attempt: int, environment: TaskEnvironment, folder: Path, context: TrialContext
) -> Outcome:
    """Run the agent behind a proxy; redact what the proxy learned in all that is kept."""
    lanes = list[Proxy]()
    try:
        with _void_if_plugin_fails():
            outcome = _outcome_behind(spec, attempt, environment, folder, context, lanes)
    except TrialVoid as void:
        outcome = Void(reason=str(void), died=isinstance(void, ProcessDied))
    finally:
        learned = [secret for lane in lanes for secret in lane.learned]
        for path in _left_behind(folder, context):
            redact_learned(path, learned)
    return without_learned(outcome, learned)


def _outcome_behind(
    spec: TrialSpec,
    attempt: int,
    environment: TaskEnvironment,
    folder: Path,
    context: TrialContext,
    lanes: list[Proxy],
) -> Outcome:
    # A nonce, so that no page can report the agent's end in place of the harness.
    ended = token_hex(16)

    def configure(capture: Capture) -> ProxyConfig:
        return proxy_config(spec, attempt, folder, environment, context, capture, ended)

    with open_sandbox(
        context.isolation,
        context.forkserver,
        configure,
        context.ca,
        context.base_environment,
        host_ports=host_ports(spec, context),
    ) as place:
        proxy = place.proxy
        lanes.append(proxy)

        def died() -> ProcessDied | None:
            # Whatever killed the reaper may have killed the agent's processes, too.
            return place.died() or place.reaper_died

        def stop() -> bool:
            # A void trial need not run to its end.
            return context.stop.is_set() or proxy.broken is not None or died() is not None

        void = result = finished = reached = None
        try:
            if not first_page_is_proof(context):
                fetch_canary(context.chromium, place, stop)
            known = {**place.environment.variables, AGENT_ENDED: agent_ended_url(ended)}
            behind = replace(place.environment, variables=known)
            with _agent_command(spec, folder, context, environment, behind) as agent:
                job, command, variables = agent
                finished = place.run(
                    command.arguments,
                    folder / AGENT_LOG,
                    variables=variables,
                    timeout_s=context.timeout_s,
                    stop=stop,
                    cwd=command.cwd,
                )
            result = context.benchmark.read(job, environment, finished.code)
            reached = context.benchmark.was_visited(environment)
        except TrialVoid as error:
            void = error
        # A killed process is the cause of the other errors.
        void = died() or void
    # After the sandbox has closed, the proxy's state is final.
    if proxy.void is not None and not isinstance(void, ProcessDied):
        raise proxy.void if isinstance(proxy.void, TrialVoid) else TrialVoid(str(proxy.void))
    if void is not None or finished is None or result is None:
        raise void or TrialVoid("the trial ended before its agent began")
    trace = _trace(folder)
    result = _scored(job, context, result, trace)
    outcome = _outcome(result, finished, trace.events(FaultDelivered), trace.events(LlmCall))
    if first_page_is_proof(context):
        require_first_page(trace, context.benchmark.sites(spec.key.task), reached)
    require_pages(
        trace,
        context.benchmark.sites(spec.key.task),
        context.benchmark.judge_user_agents,
        reached=reached,
        isolation=context.isolation,
    )
    require_model_answer(trace)
    require_defence_applied(trace, spec.defence, outcome, llm_hosts(spec, context))
    return outcome


@contextmanager
def _agent_command(
    spec: TrialSpec,
    folder: Path,
    context: TrialContext,
    environment: TaskEnvironment,
    place: Environment,
) -> Iterator[tuple[Job, Command, dict[str, str]]]:
    """Yield the job, its command and its variables; redact what it wrote when the block ends."""
    benchmark = context.benchmark
    with tempfile.TemporaryDirectory(prefix="warex-job-", ignore_cleanup_errors=True) as scratch:
        base_url = model_url(spec.agent, context, proxied=spec.proxied)
        job = Job(
            spec.key.task,
            replace(with_model_name(spec.agent, benchmark), base_url=base_url),
            folder,
            Path(scratch),
            spec.seed,
            context.chromium,
            place.browser_arguments,
            spec.proxied,
        )
        command = benchmark.command(job, environment)
        keys = dict.fromkeys(benchmark.api_key_variables, PLACEHOLDER_KEY)
        variables = {**keys, **place.variables, **command.variables}
        try:
            yield job, command, variables
        finally:
            # Before the benchmark reads the files, since the outcome may quote them.
            _redact(folder, context, variables)


def _scored(job: Job, context: TrialContext, result: TaskResult, trace: Trace | None) -> TaskResult:
    benchmark = context.benchmark
    try:
        return benchmark.score_after_trial(job, result, trace)
    finally:
        # A judge may have written files.
        _redact(job.folder, context, {**context.base_environment, **benchmark.variables})


def _redact(folder: Path, context: TrialContext, variables: Mapping[str, str]) -> None:
    """Redact the log and the artifacts; the trace is redacted as it is written."""
    secrets = secrets_of(variables) | set(context.traffic.redact_strings)
    for path in _left_behind(folder, context):
        redact_file(path, secrets, bytes.fromhex(context.redaction_key))


def _left_behind(folder: Path, context: TrialContext) -> list[Path]:
    """Return the log and the artifacts."""
    artifacts = context.benchmark.artifacts
    files = {path for each in (AGENT_LOG, *artifacts) for path in folder.glob(each)}
    return sorted(files - {folder / EVENTS})


def _outcome(
    result: TaskResult,
    finished: CompletedCommand,
    delivered: Iterable[FaultDelivered] = (),
    calls: Iterable[LlmCall] = (),
) -> Counted | Unscored:
    """Return the outcome of the attempt.

    Raises TrialVoid if the harness failed before any fault was delivered, or the model failed
    without a fault.
    """
    hit = {fault.exchange for fault in delivered}
    model_was_hit = any(call.exchange in hit for call in calls)
    if result.void_reason is not None:
        if result.ending != "model_error" or not model_was_hit:
            raise TrialVoid(result.void_reason)
        result = replace(result, score=0.0, reasons=(result.void_reason,))
    if result.ending == "harness_crashed" and not hit:
        raise TrialVoid(f"{CRASHED_BEFORE_A_FAULT}: {'; '.join(result.reasons)}")
    latency = round(finished.seconds, 3)
    # Whatever the benchmark's score: a crashed harness did not finish the task.
    score = 0.0 if result.ending == "harness_crashed" else result.score
    if score is None:
        return Unscored(ending=result.ending, latency_s=latency)
    return Counted(
        ending=result.ending,
        score=score,
        latency_s=latency,
        answer=result.answer,
        reasons=result.reasons,
    )


def _trace(folder: Path) -> Trace:
    try:
        return read_trace(folder / EVENTS)
    except TraceError as error:
        raise TrialVoid(str(error)) from None
