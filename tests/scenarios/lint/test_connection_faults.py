"""Foolish combinations of connection faults are named."""

import pytest
from pydantic import JsonValue

from tests.scenarios.builders import one, rule, scenario
from warex.scenarios.lint.linter import lint

REFUSED: dict[str, JsonValue] = {"kind": "connection_refused"}
SHOP: JsonValue = {"url": "https://shop.test/*"}


def warnings_of(arm: str | None = None, **keys: JsonValue) -> str:
    return "\n".join(lint(one(arm, (), **{"match": SHOP, "fault": REFUSED, **keys})))


def test_a_sensible_rule_gives_no_warning() -> None:
    assert warnings_of(trigger={"first": 1}) == ""
    assert warnings_of(trigger={"first": 1, "after_step": 2}) == ""
    assert warnings_of(trigger={"first": 1}, fault={"kind": "dns_failure"}) == ""


def test_a_tls_error_on_plain_http_can_never_apply() -> None:
    words = warnings_of(match={"url": "http://shop.test:8080"}, fault={"kind": "tls_error"})
    assert "can never apply: `http://shop.test:8080` is plain HTTP" in words


@pytest.mark.parametrize("url", ["http://127.0.0.1:7770/*", "https://[::1]"])
def test_an_address_is_looked_up_by_nobody(url: str) -> None:
    assert "needs no lookup" in warnings_of(match={"url": url}, fault={"kind": "dns_failure"})


def test_a_dns_rule_after_the_first_lookup_gives_a_warning() -> None:
    fault: JsonValue = {"kind": "dns_failure"}
    assert "may have the address already" in warnings_of("first_llm_call", fault=fault)
    assert "may have the address already" in warnings_of(
        fault=fault, trigger={"always": True, "after_step": 1}
    )
    assert "may have the address already" in warnings_of(
        fault=fault, trigger={"always": True, "between": [5, 50]}
    )


def test_arming_by_first_page_warns_of_rules_beyond_the_sites() -> None:
    assert "all others once the first page has been asked for" in warnings_of("first_page")
    sites: JsonValue = {"url": "{sites}"}
    for kind in ("connection_refused", "dns_failure"):
        assert warnings_of("first_page", match=sites, per="url", fault={"kind": kind}) == ""
    assert warnings_of("first_llm_call") == ""


def test_a_window_shorter_than_the_hold_gives_a_warning() -> None:
    words = warnings_of(trigger={"always": True, "between": [0, 2]})
    assert "longer than its window of 2 s" in words
    assert warnings_of(trigger={"always": True, "between": [0, 3]}) == ""


def test_a_rule_without_hold_counts_a_browsers_second_try_by_itself() -> None:
    assert "another occurrence" in warnings_of(fault={**REFUSED, "hold": 0})


def test_hosts_numbered_together_come_in_any_order() -> None:
    for url in ("{sites}", "*", "https://*.test/*"):
        words = warnings_of(match={"url": url}, trigger={"first": 1})
        assert "`per: url` numbers each host and port by itself" in words
        assert warnings_of(match={"url": url}, trigger={"first": 1}, per="url") == ""


def test_two_rules_collide_only_where_the_same_attempt_meets_both() -> None:
    def both(second: str) -> str:
        fault: JsonValue = {"kind": second}
        return "\n".join(
            lint(scenario(rule("a", match=SHOP, fault=REFUSED), rule("b", match=SHOP, fault=fault)))
        )

    assert both("connection_timeout").startswith(
        "Rule 'b' can never apply: rule 'a' comes before it and already answers every connection"
        " try it would hit"
    )
    assert both("dns_failure") == both("tls_error") == ""
    assert "superseded" not in both("http_error")


@pytest.mark.parametrize(
    ("kind", "site", "other", "why"),
    [
        ("tls_error", "http://shop.test", "https://shop.test", "plain HTTP"),
        ("dns_failure", "https://127.0.0.1:7770", "https://shop.test", "needs no lookup"),
    ],
)
def test_what_none_of_the_sites_named_can_meet_can_never_apply(
    kind: str, site: str, other: str, why: str
) -> None:
    on = one(None, (), match={"url": "{sites}"}, fault={"kind": kind}, trigger={"always": True})

    assert any(why in words for words in lint(on, (site,)))
    assert lint(on, (site, other)) == lint(on, (other,)) == lint(on) == ()
