"""Starts and ends what all trials of a campaign share on one machine."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from warex.benchmarks import Benchmark
from warex.proxy.certificates.ca import ensure_ca
from warex.proxy.process.forkserver import Forkserver
from warex.sandbox.isolation import Isolation
from warex.traffic import TrafficOptions
from warex.trials.context import TrialContext, TrialSpec
from warex.trials.scripted_model import SCRIPTED_PREFIX, ScriptedModelProcess


@contextmanager
def context_for(
    benchmark: Benchmark,
    specs: Sequence[TrialSpec],
    timeout_s: float,
    traffic: TrafficOptions,
    isolation: Isolation,
    cache: Path | None = None,
    redaction_key: str = "",
) -> Iterator[TrialContext]:
    """Start the proxies' forkserver and, if a trial uses it, the scripted model.

    ``cache`` is the folder of the run's LLM cache, or None; ``redaction_key`` is the key of its
    traces. Raises MachineError.
    """
    with benchmark.shared_environment(), ExitStack() as services:
        forkserver = Forkserver()
        forkserver.ensure_started()
        services.enter_context(closing(forkserver))
        model, tasks = None, benchmark.scripted_task_files()
        if tasks and any(spec.agent.model.startswith(SCRIPTED_PREFIX) for spec in specs):
            model = services.enter_context(ScriptedModelProcess(tasks))
        yield TrialContext(
            benchmark=benchmark,
            forkserver=forkserver,
            ca=ensure_ca(),
            chromium=benchmark.find_browser(),
            isolation=isolation,
            timeout_s=timeout_s,
            model=model,
            traffic=traffic,
            llm_cache=cache,
            redaction_key=redaction_key,
        )
