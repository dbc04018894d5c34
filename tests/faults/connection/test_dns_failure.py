import pytest
from pydantic import ValidationError

from warex.effects import DnsError
from warex.exchange import Exchange, Request
from warex.faults.connection.dns_failure import DnsFailure
from warex.seeds import KeyedRng

ATTEMPT = Exchange("a1", Request("CONNECT", "https://shop.test:443/"))
LUCK = KeyedRng(1, "gone")


@pytest.mark.parametrize("code", ["nxdomain", "servfail", "timeout"])
def test_the_name_stays_without_an_address(code: str) -> None:
    effects, state = DnsFailure.model_validate({"code": code}).effects(ATTEMPT, {}, LUCK)

    [effect] = effects
    assert isinstance(effect, DnsError)
    assert effect.code == code
    assert state == {}


def test_dns_failure_hits_names_and_needs_a_namespace() -> None:
    assert DnsFailure.point == "name"
    assert DnsFailure.needs_namespace


def test_an_unknown_code_is_refused_by_name() -> None:
    with pytest.raises(ValidationError, match="code"):
        DnsFailure.model_validate({"code": "refused"})


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("nxdomain", "is told that the host's name does not exist (NXDOMAIN); so is"),
        ("servfail", "is told that the host's name cannot be resolved now (SERVFAIL); so is"),
        ("timeout", "is left without an answer when it asks for the host's name; so is"),
    ],
)
def test_the_explanation_has_the_faults_values(code: str, words: str) -> None:
    assert DnsFailure.model_validate({"code": code}).explain().startswith(words)


def test_only_a_silent_resolver_keeps_its_client_waiting() -> None:
    assert [DnsFailure(code=it).gives_up_after_s for it in ("nxdomain", "servfail", "timeout")] == [
        0,
        0,
        2,
    ]
