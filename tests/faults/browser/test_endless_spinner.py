import pytest
from pydantic import ValidationError

from tests.faults.browser.injected import URL, script, settings
from warex.exchange import Exchange, Request
from warex.faults import FaultState
from warex.faults.browser.endless_spinner import EndlessSpinner
from warex.faults.pages.wording import languages
from warex.seeds import KeyedRng

PAGE = Exchange("1", Request("GET", URL))
NOTHING_KNOWN: FaultState = {}
OTHER = Exchange("2", Request("GET", f"{URL}other"))


def test_the_page_asks_where_nobody_answers() -> None:
    edit = script(EndlessSpinner())

    assert edit.hanging == f"{edit.report}?1"
    assert settings(EndlessSpinner())["isEarly"] is True


def test_a_spinner_of_ours_speaks_every_language() -> None:
    words = settings(EndlessSpinner())["words"]

    assert set(words) == set(languages())
    assert all(values["text"].strip() for values in words.values())


@pytest.mark.parametrize("reload", [True, False])
def test_a_page_that_is_loaded_again_goes_on_only_if_it_should(reload: bool) -> None:
    fault = EndlessSpinner(reload=reload)
    _, state = fault.effects(PAGE, {}, KeyedRng(1, "r"))

    assert not fault.still_applies(PAGE, {})
    assert fault.still_applies(PAGE, state) is not reload
    assert not fault.still_applies(OTHER, state)


def test_only_so_many_pages_are_remembered() -> None:
    fault, state = EndlessSpinner(reload=False), NOTHING_KNOWN
    for number in range(120):
        page = Exchange("1", Request("GET", f"{URL}{number}"))
        _, state = fault.effects(page, state, KeyedRng(1, "r"))

    assert len(str(state["stuck"]).split()) == 100


def test_the_explanation_describes_the_fault() -> None:
    assert EndlessSpinner().explain() == (
        "is handled by the site, and its page goes on loading without an end"
    )
    assert EndlessSpinner(reload=False).outcome().endswith(", also when it is loaded again")


@pytest.mark.parametrize("reload", ["no", 0, None])
def test_what_is_not_yes_or_no_is_refused_by_name(reload: object) -> None:
    with pytest.raises(ValidationError, match="reload"):
        EndlessSpinner.model_validate({"reload": reload})
