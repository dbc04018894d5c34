import json

import pytest
from pydantic import ValidationError

from warex.effects import Reply
from warex.exchange import Exchange, Request
from warex.faults.lies.lost_write import LostWrite
from warex.seeds import KeyedRng

FORM = "https://shop.test/order/new?a=1&b=2"


def answered(fault: LostWrite, method: str = "POST", **headers: str) -> Reply:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    exchange = Exchange("1", Request(method, "https://shop.test/order", sent))
    ((effect,), _) = fault.effects(exchange, {}, KeyedRng(1, "r"))
    assert isinstance(effect, Reply)
    return effect


def test_the_site_does_not_get_the_write() -> None:
    with pytest.raises(ValidationError, match="stage"):
        LostWrite.model_validate({"stage": "response"})


def test_a_form_is_answered_with_a_page_that_says_saved_and_leads_back() -> None:
    reply = answered(LostWrite(), sec_fetch_dest="document", referer=FORM)

    assert reply.status == 200
    assert b'<a href="/order/new?a=1&amp;b=2">' in reply.body


def test_a_form_may_lead_back_to_the_page_it_stood_on() -> None:
    reply = answered(LostWrite(answer="back"), sec_fetch_dest="document", referer=FORM)

    assert (reply.status, reply.headers["location"]) == (303, "/order/new?a=1&b=2")


@pytest.mark.parametrize("referer", ["", "https://other.test/", "http://shop.test/", "https://[/"])
def test_the_way_back_never_leads_to_another_site(referer: str) -> None:
    reply = answered(LostWrite(answer="back"), sec_fetch_dest="document", referer=referer)

    assert reply.status == 200
    assert b'<a href="/">' in reply.body


@pytest.mark.parametrize(("method", "status"), [("POST", 201), ("PUT", 200), ("DELETE", 200)])
def test_a_script_is_given_what_it_sent_with_success(method: str, status: int) -> None:
    reply = answered(LostWrite(), method, sec_fetch_dest="empty")

    assert (reply.status, reply.echo_json) == (status, True)
    document = json.loads(reply.body)
    assert document["success"] is True
    assert ("id" in document) == (method == "POST")


def test_the_explanation_describes_the_fault() -> None:
    assert "a form with the page it stood on" in LostWrite(answer="back").explain()
