"""Ids, classes, test ids and field names differ, as after a new build."""

from typing import ClassVar, Literal

from warex.faults.variation.base import VariationFault


class IdDrift(VariationFault, frozen=True):
    """Rename a share of those that no script or style uses; the site receives its own names."""

    summary: ClassVar = "Rename ids, classes, test ids and fields that no script or style mentions."
    meets: ClassVar = "has other names for some of its ids, classes, test ids and fields"

    reads_code: ClassVar = True

    kind: Literal["id_drift"] = "id_drift"
