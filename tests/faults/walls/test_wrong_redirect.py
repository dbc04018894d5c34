import pytest
from pydantic import ValidationError

from warex.effects import Reply
from warex.exchange import Exchange, Request
from warex.faults.walls.wrong_redirect import WrongRedirect
from warex.seeds import KeyedRng


def leads(fault: WrongRedirect, url: str) -> str:
    (reply,), _ = fault.effects(Exchange("1", Request("GET", url)), {}, KeyedRng(1, "rule"))
    assert isinstance(reply, Reply)
    assert reply.status == 302
    return reply.headers["location"]


def test_a_page_leads_to_the_start_page_of_the_same_site() -> None:
    assert leads(WrongRedirect(), "https://shop.test/cart?a=1") == "/"


@pytest.mark.parametrize("url", ["https://shop.test/", "https://shop.test", "https://shop.test/?a"])
def test_the_wrong_page_itself_leads_elsewhere_and_not_to_itself(url: str) -> None:
    assert leads(WrongRedirect(), url) == "/404"


@pytest.mark.parametrize(
    "to", ["//evil.test/", "https://evil.test/", "a", "/a\r\nb: c", "/\\e.test"]
)
def test_a_path_that_leaves_the_site_is_refused(to: str) -> None:
    with pytest.raises(ValidationError, match="to"):
        WrongRedirect(to=to)
