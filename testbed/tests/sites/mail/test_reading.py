import re

import pytest

from tests.sites.mail.client import HOSTS, Client


@pytest.fixture
def client() -> Client:
    return Client()


def subjects(html: str) -> list[str]:
    return re.findall(r'<span class="subject">([^<]*)</span>', html)


def test_opening_a_conversation_marks_it_as_read(client: Client) -> None:
    assert not client.message("Site visit on Friday")["read"]
    client.get("/t/4?in=inbox")
    assert client.message("Site visit on Friday")["read"]


def test_a_list_is_only_looked_at(client: Client) -> None:
    before = client.site.state()
    for path in ("/", "/starred", "/label/1", "/search?q=x", "/contacts", "/compose?reply=4"):
        client.get(path)
    assert client.site.state() == before


def test_only_the_newest_message_is_unfolded_until_asked(client: Client) -> None:
    html = client.get("/t/1")
    assert html.count("<article") == 1
    assert "€ 465,000 to 490,000" not in html
    assert "€ 465,000 to 490,000" in client.get("/t/1?open=2")
    assert client.get("/t/1?open=all").count("<article") == 3


def test_the_piece_that_a_script_asks_for_is_the_conversation_alone(client: Client) -> None:
    html = client.get("/t/4/pane?in=inbox")
    assert "4417#" in html
    assert "<html" not in html
    assert "Select all" not in html


def test_an_opened_conversation_knows_the_list_it_came_from(client: Client) -> None:
    for place, back in [
        ("archive", 'href="/archive"'),
        ("label-2", 'href="/label/2"'),
        ("search&q=is%3Aunread", 'href="/search?q=is%3Aunread"'),
        ("nowhere", 'href="/inbox"'),
        ("label-99", 'href="/inbox"'),
        ("//elsewhere.test", 'href="/inbox"'),
    ]:
        assert f'class="tool back" {back}' in client.get(f"/t/4?in={place}")


def test_a_long_list_goes_on_on_another_page() -> None:
    client = Client(HOSTS[1])
    first, second = subjects(client.get("/")), subjects(client.get("/?page=2"))
    assert (len(first), len(second)) == (12, 6)
    assert not set(first) & set(second)
    assert subjects(client.get("/?page=99")) == second
    assert subjects(client.get("/?page=x")) == first


def test_the_form_of_the_advanced_search_leads_to_the_search(client: Client) -> None:
    answer = client.ask("/search/run?from=paper&attachment=on")
    assert (answer.status, answer.location) == (303, "/search?q=from%3Apaper+has%3Aattachment")
    assert subjects(client.get(answer.location or "")) == ["Invoice PP-20614", "Invoice PP-20377"]


def test_an_attachment_shows_what_is_in_it(client: Client) -> None:
    assert "€ 372.40" in client.get("/attachment/15/0")
    assert client.ask("/attachment/15/1").status == 404
    assert "no preview" in client.get("/attachment/25/0")


def test_a_brand_uses_its_own_words() -> None:
    assert "Junk" in Client(HOSTS[1]).get("/")
    assert "Junk" not in Client(HOSTS[0]).get("/")
    assert "Unwanted" in Client(HOSTS[2]).get("/")


def test_drafts_can_be_taken_up_again(client: Client) -> None:
    assert "Cantilever over the loading bay" in client.get("/drafts")
    assert "could the beam line move" in client.get("/compose/pane?draft=1")
    assert client.ask("/compose?draft=9").status == 404
