"""Earlier pages and answers given again, on the wire."""

import gzip

import httpx
import pytest

from tests.proxy.support.lanes import Begin, Lane, scenario
from tests.proxy.support.origin import Answer, Origin
from warex.faults.lies.stale_response import StaleResponse
from warex.faults.lies.wrong_page import WrongPage
from warex.scenarios import Trigger
from warex.traces import FaultDelivered, FaultMissed, HarnessBroke, ResponseSeen

pytestmark = pytest.mark.wire

HTML = (b"Content-Type", b"text/html")
BROWSER = {"sec-fetch-dest": "document", "accept": "text/html"}


def asking(lane: Lane) -> httpx.Client:
    return httpx.Client(proxy=lane.url, headers=BROWSER, timeout=10)


def shows(site: Origin, path: str, text: str) -> None:
    coded = [HTML, (b"Content-Encoding", b"gzip"), (b"Set-Cookie", b"a=1")]
    site.routes[path] = Answer(headers=coded, body=gzip.compress(text.encode()))


def test_the_first_answer_comes_again_and_the_site_is_not_asked(
    begin: Begin, plain: Origin
) -> None:
    url = f"http://127.0.0.1:{plain.port}/list"
    with begin(scenario=scenario(StaleResponse(), Trigger(nth=(1, 3)))) as lane:
        with asking(lane) as client:
            seen = []
            for text in ("old", "new", "newer", "newest"):
                shows(plain, "/list", text)
                answer = client.get(url)
                seen.append(answer.text)
                assert ("set-cookie" in answer.headers) == (text != "newer")
        assert seen == ["old", "new", "old", "newest"]

    assert len(plain.seen) == 3
    (missed,) = lane.events(FaultMissed)
    assert missed.reason == "nothing_to_rewrite"
    (met,) = lane.events(FaultDelivered)
    assert [(it.where, it.after) for it in met.changes] == [("answer", "x1")]
    assert [it.by for it in lane.events(ResponseSeen)] == ["site", "site", "warex", "site"]
    assert not lane.events(HarnessBroke)


def test_another_page_of_the_site_is_shown_under_the_url(begin: Begin, plain: Origin) -> None:
    for name in ("a", "b"):
        shows(plain, f"/{name}", name)
    root = f"http://127.0.0.1:{plain.port}"
    with begin(scenario=scenario(WrongPage(), Trigger(nth=(1, 3)))) as lane, asking(lane) as client:
        assert client.get(f"{root}/a").text == "a"
        assert client.get(f"{root}/a").text == "a"
        assert client.get(f"{root}/b", headers={"if-none-match": "x"}).text == "a"
        assert client.get(f"{root}/b").text == "b"

    assert [it.target for it in plain.seen] == ["/a", "/a", "/a", "/b"]
    assert plain.seen[2].header("if-none-match") is None
    (missed,) = lane.events(FaultMissed)
    assert missed.reason == "nothing_to_rewrite"
    (met,) = lane.events(FaultDelivered)
    assert [(it.where, it.before, it.after) for it in met.changes] == [("page", "/b", "/a")]
    assert not lane.events(HarnessBroke)


def test_a_write_is_never_answered_with_an_earlier_answer(begin: Begin, plain: Origin) -> None:
    shows(plain, "/list", "old")
    url = f"http://127.0.0.1:{plain.port}/list"
    with begin(scenario=scenario(StaleResponse())) as lane, asking(lane) as client:
        client.get(url)
        shows(plain, "/list", "new")
        assert client.post(url, content=b"x").text == "new"

    assert not lane.events(FaultDelivered)
