"""A lane's configuration is the same on the other side of the channel."""

from pathlib import Path

from warex.faults import AnyFault
from warex.faults.connection.connection_cut import ConnectionCut
from warex.faults.connection.network_error import NetworkError
from warex.faults.scripts.javascript_failure import JavascriptFailure
from warex.faults.server.http_error import HttpError
from warex.lane.config import ProxyConfig
from warex.scenarios import Match, Random, Rule, Scenario, Trigger
from warex.traffic import TrafficOptions


def test_a_configuration_crosses_the_channel_whole() -> None:
    faults: tuple[AnyFault, ...] = (
        HttpError(status=503, retry_after=None),
        NetworkError(delay=1.5),
        JavascriptFailure(mode="delay"),
        ConnectionCut(how="close", stage="response"),
    )
    triggers = (
        Trigger(nth=(2, 5), between=(1.0, 2.0)),
        Trigger(random=Random(times=3)),
        Trigger(always=True, after_step=2),
        Trigger(probability=0.25),
    )
    rules = tuple(
        Rule(name=f"r{number}", match=Match(url_regex="a|b"), trigger=triggers[number], fault=fault)
        for number, fault in enumerate(faults)
    )
    config = ProxyConfig(
        ca=Path("ca"),
        scenario=Scenario(name="test", rules=rules, never=("*x*",)),
        schedule=frozenset({(1, "rule", "GET http://a/", 3)}),
        traffic=TrafficOptions(maps=("a=http://b",), upstream="http://user:p%40ss@host:3128"),
    )
    assert ProxyConfig.model_validate_json(config.model_dump_json()) == config
