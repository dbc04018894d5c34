"""What has become of an injection that changes a page."""

from tests.lane.support.traffic import exchange_of, injected, request_head
from warex.lane.response_faults.page_change import PageChange
from warex.lane.response_faults.stream_rewriter import BodyReader
from warex.rewriting.base import ValueChange


class Changing(BodyReader):
    applied = True
    changes = (ValueChange("price", "1" * 400, None),)


def change() -> PageChange:
    exchange = exchange_of(request_head())
    return PageChange(injected(), exchange, lambda met: None)


def test_what_has_no_rewriter_has_changed_nothing() -> None:
    page = change()
    assert (page.applied, page.is_bomb, page.changes) == (False, False, [])


def test_reported_changes_are_short_and_name_their_observer() -> None:
    page = change()
    page.rewriter = Changing()
    page.shown = (ValueChange("title", "", "Hi"),)
    page.reported = (ValueChange("text", "a", "b"),)

    assert page.applied
    assert [(it.where, len(it.before), it.after, it.reported_by) for it in page.changes] == [
        ("price", 300, None, "proxy"),
        ("title", 0, "Hi", "proxy"),
        ("text", 1, "b", "page"),
    ]


def test_a_bomb_is_one_from_its_beginning_or_later() -> None:
    page = change()
    page.met_bomb = True
    assert page.is_bomb

    page = change()
    page.rewriter = Changing()
    assert not page.is_bomb
    page.rewriter.is_bomb = True
    assert page.is_bomb
