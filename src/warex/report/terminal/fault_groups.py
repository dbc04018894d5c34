"""Groups of faults of a trial with the same result."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from warex.analysis.recovery import Recovery
from warex.analysis.trial.injections import InjectionRecord
from warex.analysis.trial.record import TrialRecord

type _Judged = tuple[InjectionRecord, Recovery | None]


@dataclass(frozen=True, slots=True)
class FaultGroup:
    """At least one injection of a rule, with the same URL pattern, fate and verdict."""

    members: tuple[_Judged, ...]

    @property
    def where(self) -> str:
        """Their URL, or their pattern: ``https://shop.example/static/*.js``."""
        urls = {injection.url for injection, _ in self.members}
        return urls.pop() if len(urls) == 1 else url_pattern(self.members[0][0].url)


def grouped(trial: TrialRecord) -> tuple[FaultGroup, ...]:
    """Return a trial's injections in groups, in the order of their first injections."""
    groups: dict[tuple[object, ...], list[_Judged]] = {}
    for injection, recovery in _judged(trial):
        verdict = recovery and (
            *(recovery.verdict, recovery.confidence),
            *(recovery.detected, recovery.disagreement),
        )
        alike = (injection.rule, injection.kind, injection.fate, injection.reason, verdict)
        key = (*alike, url_pattern(injection.url))
        groups.setdefault(key, []).append((injection, recovery))
    return tuple(FaultGroup(tuple(members)) for members in groups.values())


def each_alone(trial: TrialRecord) -> tuple[FaultGroup, ...]:
    """Return a group for each injection."""
    return tuple(FaultGroup((one,)) for one in _judged(trial))


def _judged(trial: TrialRecord) -> Iterator[_Judged]:
    evidence = {recovery.fault_seq: recovery for recovery in trial.recoveries}
    return ((one, evidence.get(one.fate_seq or -1)) for one in trial.injections)


def url_pattern(url: str) -> str:
    """Return a URL without its query, with a star as its last name: ``…/static/*.js``."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    path = PurePosixPath(parts.path or "/")
    name = f"{str(path.parent).rstrip('/')}/*{path.suffix}" if path.name else "/"
    return f"{parts.scheme}://{parts.netloc}{name}"
