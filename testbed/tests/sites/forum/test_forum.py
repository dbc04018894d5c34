from collections.abc import Callable
from typing import Any

import pytest

from warex_testbed.sites.forum.forum import Forum
from warex_testbed.sites.forum.model import Problems, Settings
from warex_testbed.sites.forum.seed import fresh


@pytest.fixture
def forum() -> Forum:
    return fresh("larder")


def mine(forum: Forum, *, opening: bool) -> int:
    return next(
        post.id
        for post in forum.posts.values()
        if forum.is_mine(post) and (forum.topics[post.topic].post == post.id) == opening
    )


def theirs(forum: Forum) -> int:
    return next(post.id for post in forum.posts.values() if not forum.is_mine(post))


def test_the_same_reply_sent_twice_is_there_twice(forum: Forum) -> None:
    before = len(forum.posts)
    for _ in range(2):
        forum.reply(1, "The same.")
    posts = [post for post in forum.as_json()["posts"] if post["text"] == "The same."]
    assert len(posts) == 2
    assert len(forum.posts) == before + 2


@pytest.mark.parametrize(
    "write",
    [
        lambda forum: forum.vote(theirs(forum), 1),
        lambda forum: forum.save(theirs(forum), True),
        lambda forum: forum.follow(3, True),
        lambda forum: forum.watch(4, True),
        lambda forum: forum.join(2, True),
        lambda forum: forum.report(theirs(forum), "x", ""),
        lambda forum: forum.send(3, "x", "y"),
        lambda forum: forum.choose(10, 1),
        lambda forum: forum.accept(2),
        lambda forum: forum.read_notices(),
        lambda forum: forum.configure(Settings()),
        lambda forum: forum.edit(mine(forum, opening=True), "x"),
        lambda forum: forum.add_topic("x", 1, ("y",), "z"),
    ],
)
def test_a_write_sent_twice_shows_in_the_state(forum: Forum, write: Callable[[Forum], Any]) -> None:
    write(forum)
    write(forum)
    assert len(forum.as_json()["writes"]) == 2


def test_votes_change_the_score_and_can_be_taken_back(forum: Forum) -> None:
    post = forum.posts[theirs(forum)]
    before = forum.score(post)
    forum.vote(post.id, 1)
    assert forum.score(post) == before + 1
    forum.vote(post.id, -1)
    assert forum.score(post) == before - 1
    forum.vote(post.id, 0)
    assert forum.score(post) == before
    assert forum.as_json()["votes"] == []


@pytest.mark.parametrize(
    "write",
    [
        lambda forum: forum.vote(mine(forum, opening=True), 1),
        lambda forum: forum.edit(theirs(forum), "x"),
        lambda forum: forum.delete(theirs(forum)),
        lambda forum: forum.delete(mine(forum, opening=True)),
        lambda forum: forum.follow(forum.owner, True),
        lambda forum: forum.accept(forum.topics[3].accepted or 0),
        lambda forum: forum.accept(mine(forum, opening=True)),
    ],
)
def test_forbidden_actions_change_nothing(forum: Forum, write: Callable[[Forum], Any]) -> None:
    before = forum.as_json()
    with pytest.raises(Problems):
        write(forum)
    assert forum.as_json() == before


def test_a_deleted_reply_is_gone_unless_others_answered_it(forum: Forum) -> None:
    lonely = forum.reply(2, "first")
    forum.save(lonely.id, True)
    forum.delete(lonely.id)
    assert lonely.id not in forum.posts
    assert lonely.id not in forum.saved
    answered = forum.reply(2, "second")
    forum.reply(2, "third", answered.id)
    forum.delete(answered.id)
    assert forum.posts[answered.id].deleted
    assert forum.posts[answered.id].text == ""


def test_a_topic_without_replies_can_be_deleted_whole(forum: Forum) -> None:
    topic = forum.add_topic("A new one", 1, ("x",), "text")
    forum.watch(topic.id, True)
    forum.report(topic.post, "x", "")
    assert forum.delete(topic.post) is None
    assert topic.id not in forum.topics
    state = forum.as_json()
    assert state["watched"] == [{"topic": forum.topics[1].title}]
    assert state["reports"] == [
        {"post": topic.post, "topic": None, "author": None, "reason": "x", "details": ""}
    ]


def test_deleting_the_accepted_answer_reopens_the_question(forum: Forum) -> None:
    own = forum.reply(1, "I found it myself.")
    assert forum.accept(own.id).accepted == own.id
    forum.delete(own.id)
    assert forum.topics[1].accepted is None


def test_an_answer_to_a_post_of_another_topic_answers_the_topic(forum: Forum) -> None:
    elsewhere = forum.topics[2].post + 1
    assert forum.reply(1, "x", elsewhere).parent is None
    assert forum.reply(1, "x", forum.topics[1].post).parent is None
    assert forum.reply(1, "x", forum.topics[1].post + 1).parent == forum.topics[1].post + 1


def test_what_does_not_exist_raises(forum: Forum) -> None:
    for write in (forum.delete, forum.accept):
        with pytest.raises(KeyError):
            write(999)
    with pytest.raises(KeyError):
        forum.choose(1, 0)
    with pytest.raises(KeyError):
        forum.choose(10, 99)


def test_settings_are_read_on_the_profile(forum: Forum) -> None:
    forum.configure(Settings(place="Evora", about="New."))
    assert forum.people[forum.owner].place == "Evora"


def test_an_edited_topic_keeps_its_replies(forum: Forum) -> None:
    replies = forum.replies(forum.topics[1])
    forum.retitle(1, "Another title", 2, ("x",))
    assert forum.topics[1].title == "Another title"
    assert forum.replies(forum.topics[1]) == replies
