"""What the campaign says of each condition, as its manifest keeps it."""

from collections.abc import Mapping
from dataclasses import dataclass

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
        """Where the condition stands on each axis; nothing without a scenario.

        A scenario that is not dosed is as strong as it is: intensity 1. How often it hits is its
        own affair, so that on the other axis it stands nowhere.
        """
        if self.scenario is None:
            return ()
        of = self.scenario + (f" + {self.defence}" if self.defence else "")
        often = f", frequency {self.frequency}" if self.frequency else ""
        often += f", first {self.first}" if self.first else ""
        hard = f", intensity {self.intensity:g}" if self.intensity else ""
        found = [Dose("intensity", self.intensity or 1.0, of + often)]
        if self.frequency:
            found.append(Dose("frequency", float(self.frequency), of + hard))
        if self.first:
            found.append(Dose("first", float(self.first), of + hard))
        return tuple(found)

    @property
    def dose(self) -> Dose | None:
        """The dose that was set; the intensity where both were."""
        told = {
            "intensity": self.intensity,
            "frequency": self.frequency,
            "first": self.first,
        }
        return next((dose for dose in self.doses if told[dose.axis]), None)


def recorded_conditions(manifest: Manifest | None) -> Mapping[str, RecordedCondition]:
    """Return the conditions of a campaign by name; none where nothing is known of it."""
    listed = manifest.campaign.get("conditions") if manifest else None
    if not isinstance(listed, list):
        return {}
    return {
        name: _setup(item)
        for item in listed
        if isinstance(item, dict) and isinstance(name := item.get("name"), str)
    }


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
