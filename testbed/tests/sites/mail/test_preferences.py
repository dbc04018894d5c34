import pytest

from tests.sites.mail.client import Client


@pytest.fixture
def client() -> Client:
    return Client()


def test_saved_general_settings_take_effect_immediately(client: Client) -> None:
    client.post("/settings", signature="N.", density="compact")
    assert client.state("settings")["signature"] == "N."
    html = client.get("/")
    assert "is-compact" in html
    assert '<span class="snippet">' not in html


def test_saving_one_page_leaves_the_others(client: Client) -> None:
    away = {"on": "yes", "first": "2026-07-06", "body": "Away."}
    assert client.post("/settings/away", **away).location == "/settings/away?done=away"
    client.post("/settings", signature="N.", density="comfortable", previews="on")
    assert client.state("settings")["vacation"]["on"] is True
    client.post("/settings/away", on="no")
    assert client.state("settings")["signature"] == "N."
    assert client.state("settings")["vacation"]["on"] is False


def test_what_cannot_be_saved_comes_back_as_typed(client: Client) -> None:
    answer = client.post("/settings/away", on="yes", first="July", body="Away.")
    assert answer.status == 422
    assert 'value="July"' in answer.body.decode()
    assert client.post("/settings", signature="x" * 9000).status == 422
    assert client.post("/settings/rules", contains="").status == 422
    assert client.post("/settings/labels", name="Projects").status == 422
    assert client.post("/settings/labels/1", name="Permits").status == 422


def test_a_rule_is_added_applied_on_demand_and_removed(client: Client) -> None:
    rule = {"field": "from", "contains": "jonas@", "deed": "star", "label": "Permits"}
    client.post("/settings/rules", **rule)
    assert not client.message("Holiday from 20 July")["starred"]
    client.post("/settings/rules", **rule, now="on")
    assert client.message("Holiday from 20 July")["starred"]
    assert len(client.state("rules")) == 3
    client.post("/settings/rules/3/delete")
    assert len(client.state("rules")) == 2
    assert client.post("/settings/rules/3/delete").status == 404


def test_labels_are_added_renamed_and_removed(client: Client) -> None:
    client.post("/settings/labels", name="Site photos")
    client.post("/settings/labels/2", name="Authorities")
    client.post("/settings/labels/4/delete")
    assert client.state("labels") == ["Projects", "Authorities", "Invoices", "Site photos"]
    assert client.message("Your application 2026/0391")["labels"] == ["Authorities"]
