"""The campaign's configuration of each condition, as recorded in the manifest."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from warex.analysis.stats.dose_response import Dose
from warex.traces.manifest import Manifest


@dataclass(frozen=True, slots=True)
class RecordedCondition:
    """What one condition varies."""

    scenario: str | None = None
    """As the campaign names it."""
    defence: str | None = None
    intensity: float | None = None
    frequency: int | None = None
    first: int | None = None
    control: bool = False

    @property
    def doses(self) -> tuple[Dose, ...]:
        """The condition's dose on each axis; empty without a scenario.

        A scenario without a dose has intensity 1 and no dose on the other axes.
        """
        if self.scenario is None:
            return ()
        of = self.scenario + (f" + {self.defence}" if self.defence else "")
        often = f", frequency {self.frequency}" if self.frequency else ""
        often += f", first {self.first}" if self.first else ""
        hard = f", intensity {self.intensity:g}" if self.intensity else ""
        doses = [Dose("intensity", self.intensity or 1.0, of + often)]
        doses += [Dose("frequency", float(self.frequency), of + hard)] if self.frequency else []
        doses += [Dose("first", float(self.first), of + hard)] if self.first else []
        return tuple(doses)

    @property
    def dose(self) -> Dose | None:
        """The dose that was set; the intensity if several were."""
        return next((dose for dose in self.doses if getattr(self, dose.axis)), None)


def recorded_conditions(manifest: Manifest | None) -> Mapping[str, RecordedCondition]:
    """Return the conditions of a campaign by name; empty without a manifest."""
    return {
        name: _setup(table)
        for table in campaign_tables(manifest, "conditions")
        if isinstance(name := table.get("name"), str)
    }


def campaign_list(manifest: Manifest | None, key: str) -> list[Any]:
    """Return a list of the campaign's configuration; empty if there is none."""
    listed = manifest.campaign.get(key) if manifest else None
    return listed if isinstance(listed, list) else []


def campaign_tables(manifest: Manifest | None, key: str) -> list[dict[str, Any]]:
    """Return the tables in a list of the campaign's configuration."""
    return [item for item in campaign_list(manifest, key) if isinstance(item, dict)]


def _setup(item: Mapping[str, JsonValue]) -> RecordedCondition:
    scenario, defence = item.get("scenario"), item.get("defence")
    intensity, frequency, first = (item.get(key) for key in ("intensity", "frequency", "first"))
    if isinstance(defence, dict):
        defence = defence.get("name")
    return RecordedCondition(
        scenario=scenario if isinstance(scenario, str) else None,
        defence=defence if isinstance(defence, str) else None,
        intensity=float(intensity) if isinstance(intensity, int | float) and intensity else None,
        frequency=frequency if isinstance(frequency, int) and frequency else None,
        first=first if isinstance(first, int) and first else None,
        control=item.get("control") is True,
    )
