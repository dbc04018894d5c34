"""Ids, classes, test ids and names of fields are called something else, as after a new build."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import JsonValue

from warex.faults.variation.base import VariationFault
from warex.seeds import KeyedRng


class IdDrift(VariationFault, frozen=True):
    """Rename a share of what no script or style speaks of; the site is sent its own names."""

    summary: ClassVar = "Rename ids, classes, test ids and fields that no script or style mentions."
    meets: ClassVar = "has other names for some of its ids, classes, test ids and fields"

    reads_code: ClassVar = True

    kind: Literal["id_drift"] = "id_drift"

    def settings(self, rng: KeyedRng) -> Mapping[str, JsonValue]:
        """Return nothing more: the page's script draws from the seed and the page's names."""
        return {}
