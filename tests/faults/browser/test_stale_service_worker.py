import pytest
from pydantic import ValidationError

from tests.faults.browser.injected import URL, script, settings
from warex.exchange import Exchange, Request
from warex.faults.browser.stale_service_worker import StaleServiceWorker
from warex.seeds import KeyedRng

PAGE = Exchange("1", Request("GET", URL))
ELSEWHERE = Exchange("2", Request("GET", "https://other.test/"))


def test_a_site_gets_one_worker() -> None:
    fault = StaleServiceWorker()
    _, state = fault.effects(PAGE, {}, KeyedRng(1, "r"))

    assert not fault.spares(PAGE, {})
    assert fault.spares(PAGE, state)
    assert not fault.spares(ELSEWHERE, state)


def test_the_worker_has_its_pages_key_and_does_not_name_warex() -> None:
    text = script(StaleServiceWorker()).with_key("k1").worker_script

    assert text.endswith('("k1");')
    assert text.isascii()
    assert not any(it in text.lower() for it in ("warex", "fault", "inject"))


def test_the_worker_gets_the_parameters_that_end_the_fault() -> None:
    fields = settings(StaleServiceWorker(heals="wait", lasts=2.5))

    assert (fields["heals"], fields["lasts"]) == ("wait", 2500)


def test_the_explanation_says_what_ends_the_fault() -> None:
    assert StaleServiceWorker().explain() == (
        "is handled by the site, and registers a service worker that answers with pages and scripts"
        " as they were seen first, until it is reloaded by force"
    )
    assert StaleServiceWorker(heals="reload").outcome().endswith("each until it is loaded again")
    assert StaleServiceWorker(heals="wait", lasts=5).outcome().endswith("for 5 s")


@pytest.mark.parametrize("fields", [{"heals": "never"}, {"lasts": -1}, {"lasts": 5}])
def test_what_does_not_fit_is_refused_by_name(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=next(iter(fields))):
        StaleServiceWorker.model_validate(fields)
