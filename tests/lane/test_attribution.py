"""Whose an exchange is: the marker's, a header's, a user name's, or the traffic's."""

from base64 import b64encode
from typing import Any
from urllib.parse import quote

import pytest

from tests.lane.support.played import Trial, answer, trial
from tests.proxy.support.lanes import scenario
from warex.engine.handler import Address, Respond
from warex.engine.http.heads import RequestHead, ResponseHead
from warex.faults.server.http_error import HttpError
from warex.lane.hosts.own_hosts import TASK_HOST
from warex.scenarios import Trigger
from warex.traces import Armed, Disarmed, RequestRefused, RequestSeen, TaskBegan, TaskEnded

FIRST = scenario(HttpError(status=500), Trigger(first=1))
PAGE: dict[str, Any] = {"sec_fetch_dest": "document", "sec_fetch_mode": "navigate"}


def site(head: RequestHead, body: bytes) -> tuple[ResponseHead, bytes]:
    return answer(b"hello")


def status(began: Trial, url: str = "https://shop.test/", **fields: Any) -> int:
    head = began.ask(site, url, **PAGE, **fields).head
    assert head is not None
    return head.status


def mark(began: Trial, path: str, user_agent: str = "curl/8") -> tuple[int, bytes]:
    connection = began.connect()
    exchange = began.exchange(f"http://{TASK_HOST}{path}", "GET", connection, 0)
    exchange.request = RequestHead(
        "GET",
        "http",
        TASK_HOST,
        path,
        "HTTP/1.1",
        type(exchange.request.headers)([(b"user-agent", user_agent.encode())]),
    )
    began.lane.request_head(exchange)
    exchange.request_body = b""
    plan = began.lane.request(exchange).then
    assert isinstance(plan, Respond)
    return plan.status, b"".join(plan.pieces)


def test_a_marker_begins_a_task_whose_rules_start_again() -> None:
    with trial(scenario=FIRST) as began:
        assert [status(began), status(began)] == [500, 200]
        assert mark(began, "/task/one") == (200, b"task one has begun\n")
        assert [status(began), status(began)] == [500, 200]
        assert mark(began, "/end")[0] == 200
        assert status(began) == 200
    assert [it.task for it in began.all(RequestSeen)] == ["", "", "one", "one", ""]
    assert [(it.task, it.told_by) for it in began.all(TaskBegan)] == [("one", "marker")]
    assert began.the(TaskEnded).task == "one"
    assert began.the(Disarmed).by == "control"


def test_a_page_moves_no_task() -> None:
    with trial() as began:
        assert mark(began, "/task/one", "Mozilla/5.0")[0] == 403
    assert began.the(RequestRefused).line == f"GET http://{TASK_HOST}/task/one"
    assert not began.all(TaskBegan)


def test_a_header_names_the_task_of_one_request_and_does_not_leave() -> None:
    with trial(scenario=FIRST) as began:
        assert status(began, x_warex_task="a") == 500
        assert status(began, x_warex_task="b") == 500
        got = began.ask(site, **PAGE, x_warex_task="a")

        ((sent, _),) = got.requests
        assert "x-warex-task" not in sent.headers.by_name
        assert sent.raw == b""
    assert [it.task for it in began.all(RequestSeen)] == ["a", "b", "a"]


def test_an_invalid_name_in_a_header_is_not_a_task() -> None:
    with trial() as began:
        mark(began, "/task/one")
        status(began, x_warex_task="%0a")
    assert began.the(RequestSeen).task == ""


@pytest.mark.parametrize("name", ["left", "two words"])
def test_a_proxy_user_name_names_the_task_of_a_connection(name: str) -> None:
    with trial() as began:
        connection = began.connect("shop.test")
        connection.proxy_user = quote(name)
        began.ask(site, connection=connection, **PAGE)
    assert began.the(RequestSeen).task == name


def test_proxy_authorization_names_the_task_and_is_not_forwarded() -> None:
    user = b64encode(b"left:secret").decode()
    with trial() as began:
        connection = began.connect()
        got = began.ask(
            site,
            "http://shop.test/",
            connection=connection,
            proxy_authorization=f"Basic {user}",
            **PAGE,
        )

        ((sent, _),) = got.requests
        assert "proxy-authorization" not in sent.headers.by_name
    seen = began.the(RequestSeen)
    assert seen.task == "left"
    assert "proxy-authorization" not in dict(seen.headers)


def test_what_a_captured_client_says_to_its_own_proxy_names_no_task() -> None:
    with trial() as began:
        connection = began.connect()
        connection.destination = Address("shop.test", 80)
        user = b64encode(b"left:secret").decode()
        began.ask(
            site,
            "http://shop.test/",
            connection=connection,
            proxy_authorization=f"Basic {user}",
            **PAGE,
        )
    assert began.the(RequestSeen).task == ""


def test_the_first_page_arms_once() -> None:
    with trial(scenario=FIRST.model_copy(update={"arm": "first_page"})) as began:
        status(began)
        status(began)
    assert [(it.by, it.task) for it in began.all(Armed)] == [("first_page", "")]
