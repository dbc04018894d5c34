import json

from tests.cli.conftest import Warex
from warex.faults import CATALOGUE


def test_every_fault_is_listed_and_can_be_shown(warex: Warex) -> None:
    kinds = [row["kind"] for row in json.loads(warex("faults", "--json").out)]

    assert kinds == [fault.model_fields["kind"].default for fault in CATALOGUE]
    for fault, kind in zip(CATALOGUE, kinds, strict=True):
        said = warex("faults", "show", kind).out
        assert said.startswith(f"{kind}: {fault.summary}")
        assert all(f"  {key} " in said for key in fault.model_fields if key != "kind")
