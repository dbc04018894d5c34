from collections import Counter

import pytest

from warex_testbed.sites.forum.brands import BRANDS
from warex_testbed.sites.forum.model import NOW
from warex_testbed.sites.forum.seed import fresh, read_moment

SLUGS = BRANDS.values()


@pytest.mark.parametrize("slug", SLUGS)
def test_every_brand_starts_with_enough_to_look_through(slug: str) -> None:
    forum = fresh(slug)
    assert 20 <= len(forum.topics) <= 30
    assert len(forum.people) >= 10
    assert any(topic.poll for topic in forum.topics.values())
    assert any(topic.accepted for topic in forum.topics.values())
    assert any(forum.is_mine(post) for post in forum.posts.values())


@pytest.mark.parametrize("slug", SLUGS)
def test_nothing_is_from_the_future_and_no_reply_before_its_topic(slug: str) -> None:
    forum = fresh(slug)
    for topic in forum.topics.values():
        thread = forum.thread(topic)
        assert thread[0].id == topic.post
        assert thread[-1].at <= NOW
        for post in thread:
            assert post.parent is None or forum.posts[post.parent].at <= post.at
        assert topic.accepted is None or forum.posts[topic.accepted] in thread
        assert not topic.poll or len(topic.poll.options) == len(topic.poll.counts)


@pytest.mark.parametrize("slug", SLUGS)
def test_no_two_topics_would_have_the_same_name(slug: str) -> None:
    titles = Counter(topic.title for topic in fresh(slug).topics.values())
    assert max(titles.values()) == 1


def test_no_topic_is_on_two_brands() -> None:
    titles = Counter(topic.title for slug in SLUGS for topic in fresh(slug).topics.values())
    assert max(titles.values()) == 1


def test_a_fresh_forum_is_not_the_last_one() -> None:
    used = fresh("uplink")
    used.reply(1, "x")
    used.vote(2, 1)
    used.join(3, True)
    assert fresh("uplink").as_json() != used.as_json()
    assert fresh("uplink").as_json() == fresh("uplink").as_json()


def test_a_moment_without_a_year_is_of_this_one() -> None:
    assert read_moment("06-10 10:40") == NOW
    assert read_moment("2025-11-03 08:00").year == 2025
