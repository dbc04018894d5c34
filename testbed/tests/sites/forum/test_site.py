import json
import re
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.visit import Answer, get, post, visit
from warex_testbed.sites.forum import ForumSite, make
from warex_testbed.sites.forum.brands import BRANDS, load

PATHS = [
    "/", "/latest", "/latest?sort=top&page=2", "/boards", "/tags", "/search",
    "/search?q=the&settled=no&sort=new", "/people", "/messages", "/messages?box=sent",
    "/messages/1", "/write/2", "/notifications", "/saved", "/settings",
]  # fmt: skip


@pytest.fixture(params=BRANDS)
def host(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def site(host: str) -> ForumSite:
    return make(host)


def ask(site: ForumSite, target: str) -> Answer:
    return visit(site.app, "GET", target)


def call(site: ForumSite, path: str, **fields: Any) -> Answer:
    return visit(site.app, "POST", f"/api{path}", json.dumps(fields).encode())


def pages(host: str) -> list[str]:
    url = load(host).url
    own = [url("board", 1), url("topic", 1), url("topic", 2), url("person", 1), url("person", 2)]
    return [*PATHS, *own, url("person", 2) + "?tab=about", url("new")]


def test_every_page_is_light_and_asks_nobody_else(site: ForumSite, host: str) -> None:
    scripts = 5 if load(host).transport == "fetch" else 3
    for target in pages(host):
        answer = ask(site, target)
        html = answer.body.decode()
        assert answer.status == 200, target
        assert not answer.cacheable
        assert html.count("<script ") == html.count("</script>") == scripts
        links = re.findall(r'(?:href|src|action|data-sends|data-soft|data-press)="([^"]*)"', html)
        assert all(link.startswith(("/", "#")) or not link or link == "/api" for link in links)
        assets = {path for path in links if path.startswith("/static/")}
        weight = len(answer.body) + sum(len(ask(site, path).body) for path in assets)
        assert weight < 150_000, target


def test_every_link_of_every_page_leads_somewhere(site: ForumSite, host: str) -> None:
    seen: set[str] = set()
    waiting = ["/"]
    while waiting and len(seen) < 400:
        target = waiting.pop()
        if target in seen:
            continue
        seen.add(target)
        answer = ask(site, target)
        assert answer.status == 200, target
        links = re.findall(r'(?:href|data-soft)="(/[^"#]*)', answer.body.decode())
        waiting += [link.replace("&amp;", "&") for link in links]
    assert len(seen) > 80


def test_every_static_file_a_page_names_is_cacheable(site: ForumSite) -> None:
    named = set(re.findall(r'"(/static/[^"]*)"', get(site, "/")))
    assert named
    for path in named:
        answer = ask(site, path)
        assert answer.status == 200, path
        assert answer.cacheable


def test_what_a_person_types_is_shown_as_text(site: ForumSite, host: str) -> None:
    url = load(host).url
    bad = '<script>alert("x")</script>'
    post(site, "/topics/1/reply", text=bad)
    post(site, url("new"), title=f"{bad} and more", board="1", tags="x", text=f"{bad} and more")
    post(site, "/settings", digest="daily", about=bad, place=bad)
    post(site, "/people/2/messages", subject=bad, text=bad)
    last = len(site.state()["topics"])
    for target in (url("topic", 1), url("topic", last), url("person", 1), "/settings", "/latest"):
        assert bad not in get(site, target)
    assert bad not in get(site, "/messages?box=sent")
    assert bad not in get(site, f"/search?{urlencode({'q': bad})}")
    assert bad not in get(site, f"{url('new')}?{urlencode({'title': bad})}")
    assert "<script>" not in json.loads(call(site, "/preview", text=bad).body)["html"]


def test_a_form_redirects_and_a_script_gets_the_target(site: ForumSite, host: str) -> None:
    number = len(site.state()["posts"]) + 1
    answer = post(site, "/topics/1/reply", text="By a form.")
    assert answer.status == 303
    assert answer.location is not None
    assert answer.location.endswith(f"done=reply#post-{number}")
    label = load(host).words["done_reply"]
    assert f'aria-label="{label}"' in get(site, answer.location.split("#")[0])
    reply = call(site, "/topics/1/reply", text="By a script.")
    assert json.loads(reply.body)["location"].endswith(f"#post-{number + 1}")
    texts = [each["text"] for each in site.state()["posts"]]
    assert texts[-2:] == ["By a form.", "By a script."]


def test_what_is_sent_again_is_there_again(site: ForumSite) -> None:
    before = len(site.state()["posts"])
    for _ in range(2):
        post(site, "/topics/1/reply", text="Twice.")
    assert len(site.state()["posts"]) == before + 2
    for _ in range(2):
        post(site, "/people/2/messages", subject="A", text="B")
    assert sum(each["subject"] == "A" for each in site.state()["messages"]) == 2


def test_a_vote_by_script_brings_its_new_control(site: ForumSite, host: str) -> None:
    target = next(each for each in site.state()["posts"] if not each["mine"])
    reply = json.loads(call(site, f"/posts/{target['id']}/vote", value="1").body)
    assert (
        f'<b class="score" title="{load(host).words["score"]}">{target["votes"] + 1}<'
        in (reply["html"])
    )
    assert site.state()["votes"] == [
        {key: target[key] for key in ("topic", "author")} | {"post": target["id"], "value": 1}
    ]


def test_what_is_refused_says_so_and_changes_nothing(site: ForumSite, host: str) -> None:
    own = next(each["id"] for each in site.state()["posts"] if each["mine"])
    other = next(each["id"] for each in site.state()["posts"] if not each["mine"])
    before = site.state()
    url = load(host).url
    for path, fields in [
        (f"/posts/{own}/vote", {"value": "1"}),
        (f"/posts/{other}/vote", {"value": "7"}),
        (f"/posts/{other}/delete", {}),
        (f"/posts/{other}/report", {"reason": "none of these"}),
        (f"/posts/{other}/save", {}),
        ("/topics/1/reply", {"text": " "}),
        ("/people/2/messages", {"subject": "", "text": ""}),
        ("/topics/1/poll", {"option": "x"}),
    ]:
        assert post(site, path, **fields).status == 422, path
        answer = call(site, path, **fields)
        assert answer.status == 422
        assert json.loads(answer.body)["error"].endswith(".")
    for path in (url("new"), f"/posts/{other}/edit", f"/posts/{own}/edit", "/settings"):
        assert post(site, path, text="").status == 422, path
    assert site.state() == before


def test_a_refused_form_keeps_what_was_typed(site: ForumSite, host: str) -> None:
    answer = post(site, load(host).url("new"), title="tiny", text="A text to be kept.")
    html = answer.body.decode()
    assert 'value="tiny"' in html
    assert "A text to be kept." in html
    assert "at least 8 characters" in html


def test_what_is_gone_is_a_page_of_its_own(site: ForumSite, host: str) -> None:
    url = load(host).url
    missing = [url("topic", 999), url("board", 99), url("person", 99), "/messages/99", "/write/99"]
    for path in (*missing, "/posts/999/edit", "/tagged?tag=none", "/nowhere"):
        answer = ask(site, path)
        assert answer.status == 404, path
        assert b"There is nothing here" in answer.body
    assert post(site, "/posts/999/vote", value="1").status == 404
    assert call(site, "/posts/999/vote", value="1").status == 404


def test_own_words_can_be_improved_and_taken_back(site: ForumSite, host: str) -> None:
    number = len(site.state()["posts"]) + 1
    post(site, "/topics/1/reply", text="First try.")
    assert "First try." in get(site, f"/posts/{number}/edit")
    post(site, f"/posts/{number}/edit", text="Second try.")
    state = site.state()["posts"][-1]
    assert (state["text"], state["edited"]) == ("Second try.", True)
    answer = post(site, f"/posts/{number}/delete")
    assert answer.location == f"{load(host).url('topic', 1)}?done=delete"
    assert all(each["id"] != number for each in site.state()["posts"])


def test_a_reply_is_on_its_page_of_the_topic() -> None:
    site = make("forum.warex.test")
    answer = post(site, "/topics/3/reply", text="On the second page.")
    assert answer.location is not None
    assert answer.location.startswith("/topic/3?page=2&done=reply")
    assert "On the second page." in get(site, answer.location.split("#")[0])


def test_own_topics_can_be_changed(site: ForumSite, host: str) -> None:
    topic = next(each for each in site.state()["topics"] if each["author"] == site.state()["owner"])
    opening = next(
        each["id"]
        for each in site.state()["posts"]
        if each["opening"] and each["topic"] == topic["title"]
    )
    fields = {"title": "Another title", "board": "2", "tags": "x", "text": "Another text."}
    answer = post(site, f"/posts/{opening}/edit", **fields)
    assert answer.location == f"{load(host).url('topic', topic['id'])}?done=edit#post-{opening}"
    changed = next(each for each in site.state()["topics"] if each["id"] == topic["id"])
    assert (changed["title"], changed["text"]) == ("Another title", "Another text.")


def test_switches_go_on_and_off_again(site: ForumSite) -> None:
    before = site.state()
    other = next(each["id"] for each in before["posts"] if not each["mine"])
    for path in (f"/posts/{other}/save", "/people/5/follow", "/topics/5/watch", "/boards/5/join"):
        post(site, path, on="1")
        assert site.state() | {"writes": []} != before
        post(site, path, on="0")
        assert site.state() | {"writes": []} == before


def test_notices_are_read_and_settings_kept(site: ForumSite) -> None:
    post(site, "/notifications/1/read")
    post(site, "/settings", digest="daily", place="Evora", message_mail="on")
    state = site.state()
    assert state["notices_read"]
    assert state["settings"]["digest"] == "daily"
    assert not state["settings"]["reply_mail"]


def test_today_is_always_the_same_day(site: ForumSite) -> None:
    assert site.state()["today"] == "2026-06-10"
