import pytest

from tests.sites.mail.client import HOSTS, Client
from warex_testbed.sites.mail.seed import fresh
from warex_testbed.sites.mail.writing import answer, forward

LETTER = {"to": "priya@halden.test", "subject": "S", "body": "B"}


@pytest.fixture
def client() -> Client:
    return Client()


def test_an_answer_to_all_leaves_out_the_owner_and_who_is_answered() -> None:
    box = fresh(HOSTS[0])
    party = box.messages[11]
    assert answer(party, box.owner, everyone=False).cc == ""
    begun = answer(party, box.owner, everyone=True)
    assert begun.to == "mette@halden.test"
    assert begun.cc == "priya@halden.test, jonas@weberstructures.test"
    assert begun.subject == "Re: Summer party: who brings what"


def test_an_answer_to_ones_own_letter_goes_to_who_got_it() -> None:
    box = fresh(HOSTS[0])
    assert answer(box.messages[2], box.owner, everyone=False).to == "haru@quaydev.test"
    assert answer(box.messages[3], box.owner, everyone=False).subject.count("Re:") == 1


def test_a_forward_has_no_recipient_yet() -> None:
    begun = forward(fresh(HOSTS[0]).messages[5])
    assert (begun.to, begun.forwards) == ("", 5)
    assert begun.subject == "Fwd: Bracket loads, first numbers"


def test_a_letter_is_sent_and_the_browser_sent_on(client: Client) -> None:
    sent = client.post("/compose", **LETTER, cc="Ivo Marin", attachment="model-photos.zip")
    assert (sent.status, sent.location) == (303, "/sent?done=sent")
    letter = client.message("S")
    assert (letter["to"], letter["cc"]) == (["priya@halden.test"], ["ivo@marinlight.test"])
    assert (letter["body"], letter["attachments"]) == ("B", ["model-photos.zip"])
    assert 'aria-label="Message sent"' in client.get(sent.location or "")


def test_a_letter_posted_twice_is_sent_twice(client: Client) -> None:
    before = len(client.state("sent"))
    for _ in range(2):
        assert client.post("/compose", **LETTER).status == 303
        assert client.call("/api/messages", **LETTER)[0] == 201
    assert len(client.state("sent")) == before + 4


def test_an_answer_is_shown_in_its_conversation(client: Client) -> None:
    sent = client.post("/compose", **LETTER, reply_to="4")
    assert sent.location == "/t/4?done=sent"
    assert client.get(sent.location or "").count("<article") == 1
    assert client.message("S")["thread"] == 4


def test_a_letter_that_cannot_be_sent_comes_back_as_typed(client: Client) -> None:
    answer = client.post("/compose", to="nobody", subject="Kept", body="also <b>")
    html = answer.body.decode()
    assert answer.status == 422
    assert "“nobody” is not an e-mail address" in html
    assert 'value="Kept"' in html
    assert "also &lt;b&gt;" in html
    assert len(client.state("sent")) == 3


def test_without_a_subject_one_is_asked_once(client: Client) -> None:
    fields = LETTER | {"subject": ""}
    asked = client.post("/compose", **fields)
    assert asked.status == 422
    assert "Send anyway" in asked.body.decode()
    assert client.call("/api/messages", **fields)[1]["confirm"] is True
    assert client.post("/compose", **fields, no_subject="yes").status == 303


def test_a_script_gets_the_errors_or_the_next_page(client: Client) -> None:
    status, reply = client.call("/api/messages", **LETTER | {"to": ""})
    assert (status, reply["error"], reply["confirm"]) == (422, "Say who the message is for.", False)
    status, reply = client.call("/api/messages", **LETTER, reply_to=4)
    assert reply["location"] == "/t/4?in=inbox&done=sent"


def test_a_draft_is_kept_changed_sent_and_then_gone(client: Client) -> None:
    assert client.post("/compose", **LETTER, do="draft").location == "/drafts?done=drafted"
    client.call("/api/drafts", **LETTER | {"body": "C"}, draft="2")
    assert [draft["body"] for draft in client.state("drafts")][1:] == ["C"]
    client.post("/compose", **LETTER, draft="2")
    assert len(client.state("drafts")) == 1
    client.post("/compose", draft="1", do="discard")
    assert client.state("drafts") == []


def test_a_dialogs_form_is_a_piece_and_a_pages_form_a_page() -> None:
    assert 'data-sheet="/compose/pane"' in Client(HOSTS[0]).get("/")
    assert "<html" not in Client(HOSTS[0]).get("/compose/pane?reply=4&all=1")
    assert 'class="compose" href="/compose"' in Client(HOSTS[1]).get("/")
    assert Client(HOSTS[0]).ask("/compose?reply=99").status == 404
