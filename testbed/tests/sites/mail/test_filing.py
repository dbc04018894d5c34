import pytest

from tests.sites.mail.client import Client


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.mark.parametrize(
    ("deed", "key", "value"),
    [
        ("archive", "folder", "archive"),
        ("delete", "folder", "bin"),
        ("spam", "folder", "spam"),
        ("move:quay7", "folder", "quay7"),
        ("label:Permits", "labels", ["Projects", "Permits"]),
        ("read", "read", True),
        ("unstar", "starred", False),
    ],
)
def test_a_deed_is_done_to_what_was_chosen(
    client: Client, deed: str, key: str, value: object
) -> None:
    answer = client.post("/actions", t4="1", in_="inbox", do=deed)
    assert answer.status == 303
    assert (answer.location or "").startswith("/inbox?done=")
    assert client.message("Site visit on Friday")[key] == value
    assert client.message("Dad's present")["folder"] == "inbox"


def test_the_target_may_come_from_a_list_of_choices(client: Client) -> None:
    client.post("/actions", t4="1", do="move", folder="receipts", label="Permits")
    assert client.message("Site visit on Friday")["folder"] == "receipts"
    assert client.message("Site visit on Friday")["labels"] == ["Projects"]


def test_several_conversations_are_filed_at_once(client: Client) -> None:
    client.post("/actions", t4="1", t5="1", do="archive", in_="inbox")
    assert client.message("Bracket loads, first numbers")["folder"] == "archive"
    assert client.message("Site visit on Friday")["folder"] == "archive"


def test_what_the_owner_sent_stays_where_it_is(client: Client) -> None:
    client.post("/actions", t1="1", do="archive", in_="inbox")
    folders = {each["id"]: each["folder"] for each in client.state("messages")}
    assert (folders[1], folders[2], folders[3]) == ("archive", "sent", "archive")


def test_unread_is_the_newest_message_of_a_conversation(client: Client) -> None:
    client.get("/t/1")
    client.post("/actions", t1="1", do="unread")
    assert [each["id"] for each in client.state("messages") if each["thread"] == 1] == [1, 2, 3]
    assert [each["read"] for each in client.state("messages") if each["thread"] == 1] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize("deed", ["burn", "move:attic", "label:None", ""])
def test_an_invalid_deed_changes_nothing(client: Client, deed: str) -> None:
    before = client.site.state()
    assert client.post("/actions", t4="1", do=deed).location == "/inbox"
    assert client.site.state() == before


def test_without_a_choice_nothing_is_done(client: Client) -> None:
    assert client.post("/actions", do="delete").location == "/inbox?done=nothing"


def test_one_is_sent_back_to_the_list_one_came_from(client: Client) -> None:
    for fields, back in [
        ({"in_": "search", "q": "is:unread"}, "/search?q=is%3Aunread&done=read"),
        ({"in_": "label-1"}, "/label/1?done=read"),
        ({"in_": "//elsewhere.test"}, "/%2F%2Felsewhere.test?done=read"),
    ]:
        assert client.post("/actions", t4="1", do="read", **fields).location == back


def test_a_conversation_that_does_not_exist_is_missing(client: Client) -> None:
    assert client.post("/actions", t99="1", do="archive").status == 404


def test_labels_are_set_as_ticked(client: Client) -> None:
    answer = client.post("/t/4/labels", **{"label-2": "on", "in": "inbox"})
    assert answer.location == "/t/4?in=inbox&done=label"
    assert client.message("Site visit on Friday")["labels"] == ["Permits"]


def test_only_bin_and_spam_can_be_emptied(client: Client) -> None:
    client.post("/empty", folder="inbox")
    assert any(each["folder"] == "inbox" for each in client.state("messages"))
    client.post("/empty", folder="spam")
    assert not any(each["folder"] == "spam" for each in client.state("messages"))
    assert any(each["folder"] == "bin" for each in client.state("messages"))


def test_a_star_is_set_and_taken_by_the_script(client: Client) -> None:
    assert client.call("/api/star", message=5, starred=True) == (200, {"starred": True, "count": 2})
    assert client.message("Bracket loads, first numbers")["starred"]
    assert client.call("/api/star", message="5", starred=True)[0] == 422
    assert client.call("/api/star", message=99, starred=True)[0] == 404
