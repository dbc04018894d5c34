import json

from tests.cli.conftest import Warex
from warex.faults import CATALOGUE


def test_every_fault_is_listed_and_can_be_shown(warex: Warex) -> None:
    kinds = [row["kind"] for row in json.loads(warex("faults", "--json").out)]

    assert kinds == [fault.model_fields["kind"].default for fault in CATALOGUE]
    for fault, kind in zip(CATALOGUE, kinds, strict=True):
        output = warex("faults", "show", kind).out
        assert output.startswith(f"{kind}: {fault.summary}")
        assert "None" not in output
        assert all(f"  {key} " in output for key in fault.model_fields if key != "kind")


def test_what_a_parameter_may_be_is_shown(warex: Warex) -> None:
    shown = " ".join(warex("faults", "show", "llm_error").out.split())

    assert "Allowed: request, response. delay" in shown
    assert "refused for. Allowed: rate_limited, server_error, unavailable, overloaded," in shown
    assert "Allowed: 0 to 3600." in shown
    share = " ".join(warex("faults", "show", "llm_cut").out.split())
    assert "Allowed: 0 to below 1." in share
    truncated = " ".join(warex("faults", "show", "truncated_body").out.split())
    assert "Allowed: 0 to 1000000000." in truncated
    assert "Allowed: above 0 to below 1." in truncated
    assert "Allowed: above 0 to 3600." in warex("faults", "show", "slow_page").out
    assert "Allowed: expired, wrong_host, self_signed, unknown_ca, cut." in " ".join(
        warex("faults", "show", "tls_error").out.split()
    )
