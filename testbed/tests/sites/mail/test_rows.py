import pytest

from tests.sites.mail.client import HOSTS
from warex_testbed.sites.mail.model import Mailbox
from warex_testbed.sites.mail.rows import rows
from warex_testbed.sites.mail.seed import fresh


@pytest.fixture
def box() -> Mailbox:
    return fresh(HOSTS[0])


def test_a_conversation_is_one_row_by_its_newest_message_there(box: Mailbox) -> None:
    made = rows(box, box.within("inbox"))
    (row,) = (row for row in made if row.message.thread == 1)
    assert (row.message.id, row.people, row.count, row.unread) == (3, "Haru Tanabe", 3, True)
    assert (row.when, row.age) == ("9 June", "Yesterday")


def test_rows_come_newest_first(box: Mailbox) -> None:
    moments = [row.message.at for row in rows(box, box.within("inbox"))]
    assert moments == sorted(moments, reverse=True)


def test_a_sent_letter_is_known_by_who_gets_it(box: Mailbox) -> None:
    assert {row.people for row in rows(box, box.within("sent"))} == {
        "To Haru Tanabe",
        "To Mette Solberg",
        "To Sofia Brandt",
    }


def test_a_row_shows_attachments_stars_and_a_snippet(box: Mailbox) -> None:
    made = {row.message.subject: row for row in rows(box, box.within("inbox"))}
    assert made["Bracket loads, first numbers"].attached
    assert made["Site visit on Friday"].starred
    assert made["Site visit on Friday"].snippet.startswith("Hi Nora, we meet at")
