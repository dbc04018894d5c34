"""Which hosts are read, and that the others are not."""

from pathlib import Path

import pytest

from tests.proxy.support.lanes import configured
from warex.faults.server.http_error import HttpError
from warex.lane.hosts.host_routing import HostRouting
from warex.lane.hosts.own_hosts import CANARY_HOST
from warex.scenarios import Injector, Match, Rule, Scenario, Trigger


def host_routing(url: str | None = None, **config: object) -> HostRouting:
    rules: tuple[Rule, ...] = ()
    if url is not None:
        rule = Rule(
            name="rule", match=Match(url=url), trigger=Trigger(always=True), fault=HttpError()
        )
        rules = (rule,)
    made = configured(ca=Path("ca"), **config)
    return HostRouting(made, Injector(Scenario(name="test", rules=rules), 1, sites=made.sites))


def test_everything_is_read_by_default() -> None:
    assert host_routing().passthrough_reason("shop.example") is None


@pytest.mark.parametrize("host", ["bank.example", "BANK.example", "a.b.pay.example"])
def test_a_host_that_is_passed_through_is_not_read(host: str) -> None:
    assert host_routing(pass_through=("bank.example", "*.pay.example")).passthrough_reason(host)
    assert host_routing(pass_through=("*.pay.example",)).passthrough_reason("pay.example") is None


def test_the_browsers_own_hosts_are_not_read() -> None:
    assert host_routing().passthrough_reason("update.googleapis.com") == "background"


@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("shop.example", None),
        ("www.shop.example", "not_concerned"),
        ("api.openai.com", None),
        ("model.local", None),
        ("other.example", "not_concerned"),
    ],
)
def test_only_rules_and_models_concern_where_that_is_wanted(host: str, why: str | None) -> None:
    tested = host_routing("https://shop.example/*", record="concerned", llm_hosts=("model.local",))
    assert tested.passthrough_reason(host) == why


def test_a_rule_about_the_sites_concerns_the_sites_hosts() -> None:
    tested = host_routing("{sites}/*", record="concerned", sites=("https://shop.example",))
    assert tested.passthrough_reason("shop.example") is None
    assert tested.passthrough_reason("other.example") == "not_concerned"


def test_a_host_whose_client_refused_us_is_passed_through_from_then_on() -> None:
    tested = host_routing()
    tested.note_rejected("Pinned.example")
    assert tested.passthrough_reason("pinned.example") == "tls_rejected"


def test_the_canary_is_always_read() -> None:
    assert (
        host_routing(record="concerned", pass_through=(CANARY_HOST,)).passthrough_reason(
            CANARY_HOST
        )
        is None
    )


def test_a_mapped_origin_has_its_target_and_no_other_port_does() -> None:
    tested = host_routing(maps=("https://shop.example=http://127.0.0.1:8001",))
    target = tested.map_target("SHOP.example", 443)
    assert target is not None
    assert target.target_port == 8001
    assert tested.map_target("shop.example", 80) is None
