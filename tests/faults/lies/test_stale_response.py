from warex.effects import ReplayFirst
from warex.exchange import Exchange, Request
from warex.faults.lies.stale_response import StaleResponse
from warex.seeds import KeyedRng

PAGE = Exchange("1", Request("GET", "https://shop.test/", {"sec-fetch-dest": "document"}))


def test_the_earlier_answer_is_given() -> None:
    assert StaleResponse().effects(PAGE, {"seen": 1}, KeyedRng(1, "r")) == (
        (ReplayFirst(),),
        {"seen": 1},
    )


def test_the_fault_is_about_pages_and_their_data() -> None:
    assert StaleResponse.default_resource == ("document", "xhr")


def test_the_site_is_not_asked() -> None:
    assert StaleResponse().stage == "request"
    assert ReplayFirst.traits.is_terminal
