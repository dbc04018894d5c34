from http import HTTPStatus

import pytest

from tests.sites.mail.client import HOSTS
from tests.visit import answered, asked
from warex_testbed.sites.mail.base_view import HERE, BaseView, done, initials
from warex_testbed.sites.mail.seed import brand, fresh
from warex_testbed.web import static


@pytest.fixture
def view() -> BaseView:
    return BaseView(brand(HOSTS[0]), fresh(HOSTS[0]))


def test_a_picture_has_the_first_and_the_last_letter() -> None:
    assert initials("Nora van Lindqvist") == "NL"
    assert initials("Quay 7") == "Q"
    assert initials("") == "@"


def test_static_files_are_small_and_cacheable() -> None:
    files = [answered(file) for file in static(HERE).values()]
    assert all(file.cacheable for file in files)
    assert sum(len(file.body) for file in files) < 60_000


def test_unread_conversations_are_counted_once_each(view: BaseView) -> None:
    before = view.counts()["inbox"]
    thread = view.mailbox.thread(1)
    view.mailbox.change(thread, read=False, folder="inbox")
    assert view.counts()["inbox"] == before
    view.mailbox.change(thread, read=True)
    assert view.counts()["inbox"] == before - 1
    assert view.counts()["starred"] == 1
    assert view.label_counts()["Family"] == 2


def test_a_page_that_is_missing_says_so_without_the_sites_tools(view: BaseView) -> None:
    answer = answered(view.missing(asked("/nowhere")))
    html = answer.body.decode()
    assert answer.status == HTTPStatus.NOT_FOUND
    assert "Page not found" in html
    assert "Compose" not in html
    assert 'aria-label="Inbox"' not in html


def test_what_was_done_is_reported_by_the_address(view: BaseView) -> None:
    assert answered(done("/sent", "sent")).location == "/sent?done=sent"
    assert answered(done("/search?q=x", "read")).location == "/search?q=x&done=read"
    answer = answered(view.page("missing.html", asked("/?done=sent"), heading="x"))
    assert 'aria-label="Message sent"' in answer.body.decode()
