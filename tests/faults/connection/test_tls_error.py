import pytest
from pydantic import ValidationError

from warex.effects import BadCertificate, Cut
from warex.exchange import Exchange, Request
from warex.faults.connection.tls_error import TlsError
from warex.seeds import KeyedRng

ATTEMPT = Exchange("a1", Request("CONNECT", "https://shop.test:443/"))
LUCK = KeyedRng(1, "gone")


@pytest.mark.parametrize("how", ["expired", "wrong_host", "self_signed", "unknown_ca"])
def test_the_certificate_is_wrong_in_the_way_that_is_asked_for(how: str) -> None:
    effects, _ = TlsError.model_validate({"how": how}).effects(ATTEMPT, {}, LUCK)

    [effect] = effects
    assert isinstance(effect, BadCertificate)
    assert effect.wrong == how


def test_a_cut_is_an_orderly_close_without_a_certificate() -> None:
    assert TlsError(how="cut").effects(ATTEMPT, {}, LUCK) == ((Cut("close"),), {})


def test_a_tls_error_is_about_handshakes_and_needs_no_namespace() -> None:
    assert TlsError.point == "tls"
    assert not TlsError.needs_namespace


def test_an_unknown_way_is_refused_by_name() -> None:
    with pytest.raises(ValidationError, match="how"):
        TlsError.model_validate({"how": "rudely"})


def test_the_explanation_has_the_faults_values() -> None:
    assert TlsError(hold=0).explain() == "is shown a certificate that has expired"
    assert TlsError(how="cut").explain().startswith("is cut off when TLS begins")
