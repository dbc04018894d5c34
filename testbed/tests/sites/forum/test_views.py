import pytest

from tests.visit import answered, asked
from warex_testbed.sites.forum.brands import BRANDS, load
from warex_testbed.sites.forum.seed import fresh
from warex_testbed.sites.forum.views import Views

TITLE = "Longest ride of 2026 so far?"


def views(host: str) -> Views:
    return Views(load(host), fresh(BRANDS[host]))


def text(view: Views, target: str, number: int | None = None) -> str:
    request = asked(target)
    answer = view.latest(request) if number is None else view.topic(request, number)
    return answered(answer).body.decode()


def test_a_sort_keeps_the_filter_and_begins_at_the_first_page() -> None:
    html = answered(views("forum.warex.test").tagged(asked("/tagged?tag=touring&page=2")))
    assert "/tagged?tag=touring&amp;sort=top" in html.body.decode()
    assert "page=2&amp;sort" not in html.body.decode()


def test_a_long_topic_is_read_in_pages_where_the_brand_is_a_board() -> None:
    view = views("forum.warex.test")
    first, second = text(view, "/topic/3", 3), text(view, "/topic/3?page=2", 3)
    assert "Reply 8 by" in first
    assert "Reply 9 by" not in first
    assert "Reply 9 by nomad_kit" in second
    assert "Topic by tessa_v" in first
    assert "Topic by tessa_v" not in second


def test_an_unknown_sort_or_page_shows_the_usual_one() -> None:
    view = views("board.warex.test")
    assert 'aria-selected="true" data-soft="/latest?sort=hot"' in text(view, "/latest?sort=odd")
    assert text(view, "/latest?page=x") == text(view, "/latest?page=1")


@pytest.mark.parametrize("host", BRANDS)
def test_the_owner_sees_edit_where_others_are_reported(host: str) -> None:
    brand, forum = load(host), fresh(BRANDS[host])
    view = Views(brand, forum)
    for topic in forum.topics.values():
        html = answered(view.topic(asked("/x"), topic.id)).body.decode()
        for post in forum.thread(topic):
            on_this_page = f'id="post-{post.id}"' in html
            assert (f"/posts/{post.id}/edit" in html) == (on_this_page and forum.is_mine(post))
            report = f'data-path="/posts/{post.id}/report"' in html
            assert report == (on_this_page and not forum.is_mine(post))
