import pytest

from tests.scenarios.builders import one, rule, scenario
from warex.errors import ScenarioError
from warex.scenarios.namespace_only import require_namespace

HIDDEN = [
    "connection_refused",
    "connection_timeout",
    "dns_failure",
    "packet_loss",
    "packet_reorder",
]


@pytest.mark.parametrize("kind", HIDDEN)
def test_namespace_only_faults_are_refused_in_other_modes(
    kind: str,
) -> None:
    rules = one(fault={"kind": kind}).rules
    with pytest.raises(ScenarioError, match=rf"rule 'down' \({kind}\).*--isolate namespace"):
        require_namespace(rules, in_namespace=False)
    require_namespace(rules, in_namespace=True)


def test_all_faults_that_cannot_show_are_reported_together() -> None:
    kinds = [*HIDDEN, "tls_error", "http_error"]
    rules = scenario(*(rule(f"r{n}", fault={"kind": it}) for n, it in enumerate(kinds))).rules
    names = r"rules 'r0' .* 'r1' .* 'r2' .* 'r3' .* 'r4' \(packet_reorder\) cannot show here"
    with pytest.raises(ScenarioError, match=names):
        require_namespace(rules, in_namespace=False)


def test_tls_errors_and_faults_of_exchanges_show_everywhere() -> None:
    for kind in ("tls_error", "http_error", "connection_cut"):
        require_namespace(one(fault={"kind": kind}).rules, in_namespace=False)
