"""A run folder, read whole."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from warex.analysis.reading import read_trials
from warex.analysis.trial import CLEAN, NO_PROXY, TrialRecord
from warex.errors import TraceError
from warex.files import stands
from warex.llm.actions import Vocabulary
from warex.llm.prices import Price, PriceTable, built_in_prices
from warex.traces.manifest import Manifest, read_manifest
from warex.traces.paths import MANIFEST, TrialKey, find_trials

_OWN_PRICES: TypeAdapter[dict[str, Price]] = TypeAdapter(dict[str, Price])


@dataclass(frozen=True, slots=True)
class Run:
    """All trials of a run, and what they had in common."""

    path: Path
    manifest: Manifest | None
    attempts: tuple[TrialRecord, ...]
    """Every attempt on disk, the void and unfinished ones too."""
    agents: tuple[str, ...]
    """In the campaign's order."""
    conditions: tuple[str, ...]
    """In the campaign's order, ``no-proxy`` and ``clean`` first."""
    prices: PriceTable

    @property
    def trials(self) -> tuple[TrialRecord, ...]:
        """The attempt that stands for each trial: the last one with an outcome."""
        standing: dict[TrialKey, TrialRecord] = {}
        for attempt in self.attempts:
            if attempt.outcome is not None or attempt.key not in standing:
                standing[attempt.key] = attempt
        return tuple(standing.values())

    def void_attempts(self, agent: str, condition: str) -> int:
        """Count the attempts that ended void, also those followed by one that counts."""
        at = (agent, condition)
        return sum(a.void and (a.key.agent, a.key.condition) == at for a in self.attempts)

    @property
    def name(self) -> str:
        """The campaign's name, else the folder's."""
        name = self.manifest.campaign.get("name") if self.manifest else None
        return name if isinstance(name, str) else self.path.resolve().name


def load_run(path: Path, prices: PriceTable | None = None) -> Run:
    """Read a run folder; ``prices`` is the built-in table after the campaign's own unless given.

    A missing manifest is no error: the order of the conditions is then by name. Raises TraceError
    for a folder that is no run, and for a damaged file in it.
    """
    found = list(find_trials(path))
    manifest = read_manifest(path / MANIFEST) if stands(path / MANIFEST) else None
    if manifest is None and not found:
        raise TraceError(
            f"{path} is no run: it has neither a {MANIFEST} nor a trial. Name the folder that"
            " `warex run` made."
        )
    prices = prices or prices_of(manifest)
    benchmarks = {key.benchmark for key, _, _ in found}
    words = {benchmark: vocabulary(manifest, benchmark) for benchmark in benchmarks}
    attempts = read_trials([(folder, words[key.benchmark]) for key, _, folder in found], prices)
    return Run(
        path=path,
        manifest=manifest,
        attempts=tuple(attempts),
        agents=_order(_named(manifest, "agents"), [a.key.agent for a in attempts]),
        conditions=_order(
            (NO_PROXY, CLEAN, *_named(manifest, "conditions")), [a.key.condition for a in attempts]
        ),
        prices=prices,
    )


def vocabulary(manifest: Manifest | None, benchmark: str) -> Vocabulary | None:
    """Return a benchmark's vocabulary as frozen into the manifest, or None.

    Raises TraceError if what stands there is none.
    """
    frozen = manifest.vocabularies.get(benchmark) if manifest else None
    if frozen is None:
        return None
    try:
        return Vocabulary.model_validate(frozen)
    except ValidationError as error:
        raise _damaged(error, "vocabularies", benchmark) from None


def prices_of(manifest: Manifest | None) -> PriceTable:
    """Return the built-in prices after those frozen into the manifest.

    Raises TraceError if what stands there are none.
    """
    frozen = manifest.campaign.get("prices", {}) if manifest else {}
    try:
        return built_in_prices().with_own(_OWN_PRICES.validate_python(frozen))
    except ValidationError as error:
        raise _damaged(error, "campaign", "prices") from None


def _damaged(error: ValidationError, *place: str) -> TraceError:
    first = error.errors(include_url=False)[0]
    where = ".".join(map(str, (*place, *first["loc"])))
    return TraceError(f"{MANIFEST}: {where}: {first['msg']}.")


def _named(manifest: Manifest | None, what: str) -> tuple[str, ...]:
    """Return the names in a list of the campaign's configuration, in order."""
    listed: Any = manifest.campaign.get(what) if manifest else None
    if not isinstance(listed, list):
        return ()
    names = [item.get("name") if isinstance(item, dict) else item for item in listed]
    return tuple(name for name in names if isinstance(name, str))


def _order(first: Sequence[str], present: Iterable[str]) -> tuple[str, ...]:
    there = set(present)
    known = [name for name in dict.fromkeys(first) if name in there]
    return (*known, *sorted(there - set(known)))
