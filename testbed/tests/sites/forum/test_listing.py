import pytest

from warex_testbed.sites.forum.forum import Forum
from warex_testbed.sites.forum.listing import SORTS, Search, cut, search, thread, topics
from warex_testbed.sites.forum.seed import fresh


@pytest.fixture
def forum() -> Forum:
    return fresh("uplink")


def test_pages_hold_everything_once_and_stay_within() -> None:
    items = list(range(21))
    pages = [cut(items, number, 8) for number in (1, 2, 3)]
    assert [item for page in pages for item in page.items] == items
    assert cut(items, 99, 8).page == 3
    assert cut([], 1, 8).pages == 1


@pytest.mark.parametrize("sort", [sort for sort in SORTS if sort != "unanswered"])
def test_every_order_lists_every_topic(forum: Forum, sort: str) -> None:
    assert {topic.id for topic in topics(forum, sort)} == set(forum.topics)


def test_the_orders_are_what_they_say(forum: Forum) -> None:
    scores = [forum.score(forum.opening(topic)) for topic in topics(forum, "top")]
    assert scores == sorted(scores, reverse=True)
    times = [forum.opening(topic).at for topic in topics(forum, "new")]
    assert times == sorted(times, reverse=True)
    assert not any(forum.replies(topic) for topic in topics(forum, "unanswered"))
    forum.reply(topics(forum, "unanswered")[0].id, "x")
    assert len(topics(forum, "active")) == len(forum.topics)


def test_a_pinned_topic_comes_first_by_activity_only() -> None:
    forum = fresh("freewheel")
    assert topics(forum, "active")[0].pinned
    assert not topics(forum, "new")[0].pinned


def test_a_board_or_tag_lists_its_own(forum: Forum) -> None:
    assert {topic.board for topic in topics(forum, "hot", board=2)} == {2}
    assert all("vlan" in topic.tags for topic in topics(forum, "hot", tag="vlan"))


def test_a_search_finds_each_topic_once_by_all_words(forum: Forum) -> None:
    results = search(forum, Search(words="DNS resolver"))
    assert [forum.topics[post.topic].title for post in results] == [
        "DNS stops every night at 03:00 exactly"
    ]
    assert search(forum, Search(words="no such words")) == []


def test_the_filters_narrow_a_search(forum: Forum) -> None:
    settled = search(forum, Search(settled="yes"))
    assert {forum.topics[post.topic].accepted is None for post in settled} == {False}
    opened = search(forum, Search(settled="no"))
    assert len(settled) + len(opened) == len(forum.topics)
    assert all(post.author == 3 for post in search(forum, Search(author="Kestrel")))
    assert Search(words=" ").empty
    assert not Search(board=1).empty


def test_a_thread_is_read_by_time_or_with_answers_below(forum: Forum) -> None:
    topic = forum.topics[1]
    flat = thread(forum, topic, "time")
    assert [branch.number for branch in flat] == [2, 3, 4, 5, 6]
    assert {branch.depth for branch in flat} == {0}
    best = thread(forum, topic, "best")
    assert [branch.depth for branch in best] == [0, 1, 0, 1, 0]
    roots = [forum.score(branch.post) for branch in best if branch.depth == 0]
    assert roots == sorted(roots, reverse=True)
    assert {branch.post.id for branch in best} == {branch.post.id for branch in flat}
    newest = next(iter(thread(forum, topic, "new"))).post
    assert newest.at == max(post.at for post in forum.answers(topic))


def test_the_accepted_answer_comes_before_more_liked_ones(forum: Forum) -> None:
    topic = forum.topics[1]
    worst = min(forum.answers(topic), key=forum.score)
    forum.accept(worst.id)
    assert thread(forum, forum.topics[1], "best")[0].post == worst
