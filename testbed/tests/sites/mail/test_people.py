import pytest

from tests.sites.mail.client import Client


@pytest.fixture
def client() -> Client:
    return Client()


def test_people_are_listed_by_name_and_found_by_a_part_of_it(client: Client) -> None:
    html = client.get("/contacts")
    assert html.index("Elin Lindqvist") < html.index("Priya Nair")
    assert "Priya Nair" not in client.get("/contacts?name=marin").split("<main")[1]


def test_an_entry_shows_its_facts_and_recent_letters(client: Client) -> None:
    html = client.get("/contacts/1")
    assert "+47 555 0131" in html
    assert "Site visit on Friday" in html


def test_an_entry_is_added_changed_and_removed(client: Client) -> None:
    added = client.post("/contacts", name="Sofia Brandt", email="sofia@landform.test")
    assert added.location == "/contacts/8?done=contact"
    client.post("/contacts/8", name="Sofia B.", email="sofia@landform.test")
    assert client.state("contacts")[-1]["name"] == "Sofia B."
    client.post("/contacts/8/delete")
    assert len(client.state("contacts")) == 7
    assert client.ask("/contacts/8").status == 404


def test_a_form_that_cannot_be_kept_comes_back_as_typed(client: Client) -> None:
    answer = client.post("/contacts", name="Sofia", email="sofia")
    html = answer.body.decode()
    assert answer.status == 422
    assert 'value="Sofia"' in html
    assert 'aria-invalid="true"' in html
    assert client.post("/contacts/2", name="J", email="priya@halden.test").status == 422
    assert len(client.state("contacts")) == 7


def test_a_stranger_can_be_added_from_a_letter(client: Client) -> None:
    assert "Add to contacts" in client.get("/t/14")
    assert "Add to contacts" not in client.get("/t/4")
    assert 'value="Sofia Brandt"' in client.get("/contacts/new?name=Sofia+Brandt&email=s@l.test")
