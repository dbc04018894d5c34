"""A configuration that its writer has not read is the one that the proxy reads."""

from pathlib import Path

import pytest

from warex.errors import ScenarioError
from warex.lane.config import ProxyConfig
from warex.proxy.process.unvalidated_config import UnvalidatedConfig
from warex.scenarios.load import load_scenario


def test_an_unvalidated_config_serialises_like_the_real_one() -> None:
    values = {"ca": "/ca", "out": "/out", "seed": 7, "scenario": "paper/server-error"}
    read = ProxyConfig.model_validate_json(UnvalidatedConfig("namespace", values).model_dump_json())
    assert read == ProxyConfig(
        ca=Path("/ca"),
        out=Path("/out"),
        seed=7,
        scenario=load_scenario("paper/server-error"),
        capture="namespace",
    )


def test_a_scenario_that_does_not_exist_is_reported_when_it_is_read() -> None:
    written = UnvalidatedConfig("forward", {"ca": "/ca", "scenario": "paper/none"})
    with pytest.raises(ScenarioError, match="paper/none"):
        ProxyConfig.model_validate_json(written.model_dump_json())
