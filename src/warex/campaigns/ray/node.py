"""One attempt on a node of a Ray cluster.

A node shares no disk with the campaign: it receives all that a trial needs, runs it in its own
folder like a local lane, and returns the folder.
"""

import io
import os
import shutil
import socket
import tarfile
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path

from warex.benchmarks import benchmark_of
from warex.benchmarks.table import BenchmarkConfig
from warex.campaigns.run.context import context_for
from warex.errors import MachineError, WarexError
from warex.files.private import make_private_dir, restrict_to_owner
from warex.proxy.certificates.ca import ensure_ca
from warex.sandbox.cleanup.scratch import process_scratch
from warex.sandbox.isolation import Isolation, available_isolation
from warex.traces import Outcome, TrialKey, begin_llm_cache, shared_answers_dir
from warex.traffic import TrafficOptions
from warex.trials.context import TrialContext, TrialSpec
from warex.trials.runner import run_trial


@dataclass(frozen=True, slots=True)
class CampaignPayload:
    """What every node needs of a campaign; sent once."""

    benchmark: BenchmarkConfig
    specs: Mapping[TrialKey, TrialSpec]
    timeout_s: float
    traffic: TrafficOptions
    isolation: Isolation
    secret: bytes | None
    """Of the run's LLM cache; None without one."""
    redaction_key: str = field(repr=False)
    """Of the hashes in its traces, in hex."""
    variables: Mapping[str, str]
    """API keys, which a node's own environment lacks."""
    version: str = version("warex")


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The result of an attempt."""

    outcome: Outcome
    files: bytes
    """Its folder as a tar archive."""
    answers: Mapping[str, bytes]
    """New answers for the run's LLM cache, by name."""


_ready: list[tuple[TrialContext, ExitStack]] = []
"""At most one: a worker process belongs to one Ray job, which is one campaign."""


def run_attempt(
    work: CampaignPayload, key: TrialKey, number: int, answers: Mapping[str, bytes]
) -> AttemptResult | WarexError:
    """Make one attempt on this node with the shared ``answers``; errors name the node."""
    try:
        with tempfile.TemporaryDirectory(prefix="warex-ray-", ignore_cleanup_errors=True) as folder:
            return _attempt(work, key, number, answers, Path(folder))
    except WarexError as error:
        return type(error)(f"on the Ray node {socket.gethostname()}: {error}")


def _attempt(
    work: CampaignPayload, key: TrialKey, number: int, answers: Mapping[str, bytes], scratch: Path
) -> AttemptResult:
    context, folder = _context(work), scratch / "attempt"
    cache = shared = None
    if work.secret is not None:
        cache = begin_llm_cache(scratch, work.secret)
        shared = shared_answers_dir(cache, key)
        make_private_dir(shared)
        for name, content in answers.items():
            (shared / name).write_bytes(content)
    outcome = run_trial(work.specs[key], number, folder, replace(context, llm_cache=cache))
    added = {
        path.name: path.read_bytes()
        for path in (shared.iterdir() if shared and shared.is_dir() else ())
        if path.name not in answers
    }
    return AttemptResult(outcome, pack_folder(folder), added)


def _context(work: CampaignPayload) -> TrialContext:
    if _ready:
        return _ready[0][0]
    if (here := version("warex")) != work.version:
        raise MachineError(
            f"WAREX is {here} here and {work.version} where the campaign runs; install the same"
        )
    isolation, _ = available_isolation(work.isolation, ensure_ca())
    until = ExitStack()
    # Ray kills its workers without notice; their files are still removed.
    until.enter_context(process_scratch())
    context = until.enter_context(
        context_for(
            benchmark_of(work.benchmark),
            tuple(work.specs.values()),
            work.timeout_s,
            work.traffic,
            isolation,
            redaction_key=work.redaction_key,
        )
    )
    context = replace(context, base_environment={**os.environ, **work.variables})
    _ready.append((context, until))
    return context


def pack_folder(folder: Path) -> bytes:
    """Return a folder's contents as a tar archive."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        tar.add(folder, arcname=".")
    return archive.getvalue()


def unpack_folder(files: bytes, folder: Path) -> None:
    """Extract an archive into a new folder, whole or not at all. Raises OSError."""
    make_private_dir(folder.parent)
    # The draft's leading dot keeps a partial folder from being taken for an attempt.
    draft = folder.with_name(f".{folder.name}")
    shutil.rmtree(draft, ignore_errors=True)
    make_private_dir(draft)
    with tarfile.open(fileobj=io.BytesIO(files)) as tar:
        tar.extractall(draft, filter="data")
    restrict_to_owner(draft)
    draft.rename(folder)
