"""Reads a run folder."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from warex.analysis.run.conditions import campaign_list, campaign_tables
from warex.analysis.run.folder_hints import folder_hint
from warex.analysis.run.parallel_read import read_trials
from warex.analysis.trial.record import TrialRecord
from warex.errors import TraceError
from warex.files.reading import path_exists
from warex.llm.actions.vocabulary import Vocabulary
from warex.llm.embedded import is_mock_model
from warex.llm.prices.table import Price, PriceTable
from warex.llm.prices.user_table import current_prices, read_prices
from warex.traces import CLEAN, NO_PROXY
from warex.traces.manifest import Manifest, read_manifest
from warex.traces.paths import MANIFEST, PRICES, TrialKey, find_trials

_OWN_PRICES: TypeAdapter[dict[str, Price]] = TypeAdapter(dict[str, Price])


@dataclass(frozen=True, slots=True)
class Run:
    """All trials of a run, its manifest and its prices."""

    path: Path
    manifest: Manifest | None
    attempts: tuple[TrialRecord, ...]
    """Every attempt on disk, including void and unfinished ones."""
    agents: tuple[str, ...]
    """In the campaign's order."""
    conditions: tuple[str, ...]
    """In the campaign's order, ``no-proxy`` and ``clean`` first."""
    prices: PriceTable

    @property
    def trials(self) -> tuple[TrialRecord, ...]:
        """The last attempt with an outcome of each trial, or its first one if none has any."""
        latest: dict[TrialKey, TrialRecord] = {}
        for attempt in self.attempts:
            if attempt.outcome is not None or attempt.key not in latest:
                latest[attempt.key] = attempt
        return tuple(latest.values())

    def void_attempts(self, agent: str, condition: str) -> int:
        """Count the void attempts, including those followed by a counted one."""
        at = (agent, condition)
        return sum(a.void and (a.key.agent, a.key.condition) == at for a in self.attempts)

    def by_condition(
        self, trials: Sequence[TrialRecord]
    ) -> Iterator[tuple[str, str, list[TrialRecord]]]:
        """Yield each agent and condition that has any of these trials, with them, in order."""
        for agent, condition in product(self.agents, self.conditions):
            if of := [t for t in trials if (t.key.agent, t.key.condition) == (agent, condition)]:
                yield agent, condition, of

    @property
    def scripted(self) -> tuple[str, ...]:
        """The agents whose model is scripted by WAREX, in order."""
        known = scripted_agents(self.manifest) | {
            attempt.key.agent
            for attempt in self.attempts
            if attempt.llm and any(is_mock_model(call.model) for call in attempt.llm.calls)
        }
        return tuple(agent for agent in self.agents if agent in known)

    @property
    def name(self) -> str:
        """The campaign's name, or else the folder's."""
        name = self.manifest.campaign.get("name") if self.manifest else None
        return name if isinstance(name, str) else self.path.resolve().name


def refuse_damage(error: TraceError) -> None:
    """Raise the error of a damaged attempt."""
    raise error


def load_run(
    path: Path,
    prices: PriceTable | None = None,
    on_damage: Callable[[TraceError], None] = refuse_damage,
) -> Run:
    """Read a run folder; ``prices`` overrides the run's own prices (see ``prices_of``).

    ``on_damage`` is called with the error of each attempt whose files are damaged; unless it
    raises, the run is without the attempt.

    Without a manifest, the conditions are ordered by name. Raises TraceError for a folder that is
    not a run, and for a damaged file in it.
    """
    trials = list(find_trials(path))
    manifest = read_manifest(path / MANIFEST) if path_exists(path / MANIFEST) else None
    if manifest is None and not trials:
        raise TraceError(
            f"{path} is not a run: it has neither a {MANIFEST} nor trials. {folder_hint(path)}"
        )
    prices = prices or prices_of(path, manifest)
    benchmarks = {key.benchmark for key, _, _ in trials}
    words = {benchmark: benchmark_vocabulary(manifest, benchmark) for benchmark in benchmarks}
    read = list[TrialRecord]()
    for record in read_trials(
        [(folder, words[key.benchmark]) for key, _, folder in trials], prices
    ):
        if isinstance(record, TraceError):
            on_damage(record)
        else:
            read.append(record)
    scripted = scripted_agents(manifest)
    attempts = _unknown_where_unseen(a.scripted() if a.key.agent in scripted else a for a in read)
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


def _unknown_where_unseen(attempts: Iterable[TrialRecord]) -> list[TrialRecord]:
    """Return the attempts; if no call of an agent was ever seen, its calls are unknown."""
    attempts = list(attempts)
    heard = {a.key.agent for a in attempts if a.llm is not None and a.llm.calls}
    return [a if a.key.agent in heard else a.with_calls_unknown() for a in attempts]


def benchmark_vocabulary(manifest: Manifest | None, benchmark: str) -> Vocabulary | None:
    """Return a benchmark's vocabulary from the manifest; None if it has none.

    Raises TraceError if it is invalid.
    """
    frozen = manifest.vocabularies.get(benchmark) if manifest else None
    if frozen is None:
        return None
    try:
        return Vocabulary.model_validate(frozen)
    except ValidationError as error:
        raise _damaged(error, "vocabularies", benchmark) from None


def scripted_agents(manifest: Manifest | None) -> frozenset[str]:
    """Return the agents of a campaign whose model is scripted by WAREX."""
    return frozenset(
        str(agent.get("name"))
        for agent in campaign_tables(manifest, "agents")
        if is_mock_model(str(agent.get("model")))
    )


def prices_of(run: Path | None, manifest: Manifest | None) -> PriceTable:
    """Return the price table saved with a run, overridden by the prices of its campaign.

    If no table is saved, as in a run without a campaign, the current prices are used. Raises
    TraceError if the manifest's prices are invalid, InputError if a table cannot be read.
    """
    table = (
        read_prices(run / PRICES, "without it, the prices in force would be taken: delete it")
        if run is not None and path_exists(run / PRICES)
        else current_prices()
    )
    frozen = manifest.campaign.get("prices", {}) if manifest else {}
    try:
        return table.with_own(_OWN_PRICES.validate_python(frozen))
    except ValidationError as error:
        raise _damaged(error, "campaign", "prices") from None


def _damaged(error: ValidationError, *place: str) -> TraceError:
    first = error.errors(include_url=False)[0]
    where = ".".join(map(str, (*place, *first["loc"])))
    return TraceError(f"{MANIFEST}: {where}: {first['msg']}.")


def _named(manifest: Manifest | None, what: str) -> tuple[str, ...]:
    """Return the names in a list of the campaign's configuration, in order."""
    listed = campaign_list(manifest, what)
    names = [item.get("name") if isinstance(item, dict) else item for item in listed]
    return tuple(name for name in names if isinstance(name, str))


def _order(first: Sequence[str], present: Iterable[str]) -> tuple[str, ...]:
    names = set(present)
    known = [name for name in dict.fromkeys(first) if name in names]
    return (*known, *sorted(names - set(known)))
