"""Tasks are distinguished on the wire, and each has counts of its own."""

import asyncio
import json
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

import httpx
import pytest

from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Origin, Seen
from warex.faults.server.http_error import HttpError
from warex.llm.actions.vocabulary import Vocabulary
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Trigger
from warex.scenarios.injection.replay import read_replay
from warex.scenarios.task_detection import TaskRule
from warex.seeds import derive_seed
from warex.traces import (
    AgentAction,
    Disarmed,
    FaultPlanned,
    LlmCall,
    RequestRefused,
    RequestSeen,
    TaskBegan,
    TaskEnded,
)

FIRST = scenario(HttpError(status=500), Trigger(first=1), match={"url": "*/page"})
HALF = scenario(HttpError(status=500), Trigger(probability=0.5), match={"url": "*/page"})
CHROMIUM = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36"


@contextmanager
def user(lane: Lane, name: str) -> Iterator[httpx.Client]:
    with httpx.Client(proxy=f"http://{name}:secret@127.0.0.1:{lane.port}") as client:
        yield client


def tasks_of(lane: Lane) -> list[str]:
    return [request.task for request in lane.events(RequestSeen)]


@pytest.mark.wire
def test_a_marker_moves_all_and_a_header_or_user_name_only_its_own(
    begin: Begin, plain: Origin
) -> None:
    page = f"http://127.0.0.1:{plain.port}/page"
    with begin(scenario=FIRST, seed=3) as lane, httpx.Client(proxy=lane.url) as client:
        met = [client.get(page).status_code for _ in range(2)]
        assert met == [500, 200]
        for name in ("one", "two"):
            marked = client.get(f"http://warex.invalid/task/{name}")
            assert (marked.status_code, marked.text) == (200, f"task {name} has begun\n")
            assert [client.get(page).status_code for _ in range(2)] == [500, 200]
        with user(lane, "left") as left:
            for headers in ({"x-warex-task": "a"}, {"x-warex-task": "b"}):
                assert client.get(page, headers=headers).status_code == 500
                assert left.get(page).status_code == (
                    500 if headers["x-warex-task"] == "a" else 200
                )
                assert client.get(page, headers=headers).status_code == 200
        assert client.get("http://warex.invalid/end").status_code == 200
        assert client.get(page).status_code == 200
    assert tasks_of(lane) == [
        *("", "", "one", "one", "two", "two"),
        *("a", "left", "a", "b", "left", "b", ""),
    ]
    assert [(task.task, task.seed, task.told_by) for task in lane.events(TaskBegan)] == [
        (name, derive_seed(3, name), told_by)
        for name, told_by in (
            ("one", "marker"),
            ("two", "marker"),
            ("a", "header"),
            ("left", "user_name"),
            ("b", "header"),
        )
    ]
    assert [task.task for task in lane.events(TaskEnded)] == ["two"]
    injections = [event.injection for event in lane.events(FaultPlanned)]
    assert injections == [f"i{number}" for number in range(1, 7)]
    heads = [seen.head.lower() for seen in plain.seen]
    assert not [head for head in heads if b"x-warex-task" in head or b"proxy-auth" in head]


@pytest.mark.wire
@pytest.mark.slow
def test_a_page_is_refused_and_moves_nothing(begin: Begin, plain: Origin) -> None:
    page = f"http://127.0.0.1:{plain.port}/page"
    with begin() as lane, httpx.Client(proxy=lane.url) as client:
        client.get("http://warex.invalid/task/one")
        refused = client.get("http://warex.invalid/task/evil", headers={"user-agent": CHROMIUM})
        assert (refused.status_code, "page must not" in refused.text) == (403, True)
        headers = {"user-agent": CHROMIUM, "referer": page, "x-warex-task": "evil"}
        assert client.get(page, headers=headers).status_code == 200
        assert client.get(page).status_code == 200
    assert tasks_of(lane) == ["", "one"]
    assert [task.task for task in lane.events(TaskBegan)] == ["one"]
    assert [(event.status, event.line) for event in lane.events(RequestRefused)] == [
        (403, "GET http://warex.invalid/task/evil")
    ]


@pytest.mark.wire
@pytest.mark.slow
def test_marker_header_and_user_name_give_the_same_task_over_tls(
    begin: Begin, secure_h1: Origin, ca: CertificateAuthority
) -> None:
    page = f"https://localhost:{secure_h1.port}/page"
    with (
        begin(scenario=FIRST, insecure=True) as lane,
        httpx.Client(proxy=lane.url, verify=str(ca.certificate)) as client,
        httpx.Client(
            proxy=httpx.Proxy(lane.url, auth=("left", "")), verify=str(ca.certificate)
        ) as left,
    ):
        assert client.get("https://warex.invalid/task/one").status_code == 200
        assert client.get(page).status_code == 500
        assert client.get(page, headers={"x-warex-task": "a"}).status_code == 500
        assert left.get(page).status_code == 500
        assert [c.get(page).status_code for c in (client, left)] == [200, 200]
        assert client.get("https://warex.invalid/task/mot%20cl%C3%A9/1").status_code == 200
        assert client.get(page, headers={"x-warex-task": "mot%20cl%C3%A9%2F1"}).status_code == 500
    assert tasks_of(lane) == ["one", "a", "left", "one", "left", "mot clé/1"]
    assert all(b"x-warex-task" not in seen.head.lower() for seen in secure_h1.seen)


@pytest.mark.wire
@pytest.mark.slow
def test_a_tasks_faults_do_not_depend_on_the_order_of_tasks(begin: Begin, plain: Origin) -> None:
    page = f"http://127.0.0.1:{plain.port}/page"

    def met(names: str, *, beside: bool) -> dict[str, list[int]]:
        results: dict[str, list[int]] = {}
        with begin(scenario=HALF) as lane, httpx.Client(proxy=lane.url) as client:
            for name in names:
                if not beside:
                    client.get(f"http://warex.invalid/task/{name}")
                headers = {"x-warex-task": name} if beside else {}
                answers = [client.get(page, headers=headers).status_code for _ in range(12)]
                results[name] = answers
        return results

    once = met("abc", beside=False)
    assert len({tuple(answers) for answers in once.values()}) == 3
    assert met("cab", beside=False) == once
    assert met("bca", beside=True) == once


@pytest.mark.wire
@pytest.mark.slow
def test_a_replay_hits_the_places_of_tasks_that_ran_at_the_same_time(
    begin: Begin, plain: Origin
) -> None:
    page = f"http://127.0.0.1:{plain.port}/page"

    def play(lane: Lane) -> list[int]:
        with httpx.Client(proxy=lane.url) as client:
            client.get("http://warex.invalid/task/all")
            return [
                client.get(page, headers={"x-warex-task": name} if name else {}).status_code
                for name in ["a", "", "b", "b", "a", "", "a", "b"] * 4
            ]

    with begin(scenario=HALF, seed=5) as lane:
        first = play(lane)
    assert len(set(first)) == 2
    past = read_replay(lane.out)
    with begin(scenario=past.scenario, seed=99, schedule=past.schedule) as again:
        assert play(again) == first


@pytest.mark.wire
@pytest.mark.slow
def test_many_names_fill_no_memory_and_bad_ones_are_nobodys(begin: Begin, plain: Origin) -> None:
    page = f"http://127.0.0.1:{plain.port}/page"
    bad = ["x" * 201, "\x7f", "a\tb"]
    with begin() as lane, httpx.Client(proxy=lane.url) as client:
        client.get("http://warex.invalid/task/one")
        for name in bad:
            assert client.get(page, headers={"x-warex-task": name}).status_code == 200
        credentials = b64encode(b"\xff\xfe").decode()
        headers = {"proxy-authorization": f"Basic {credentials}"}
        assert client.get(page, headers=headers).status_code == 200
    assert tasks_of(lane) == [*("" for _ in bad), "one"]


@pytest.mark.wire
@pytest.mark.slow
def test_a_rule_moves_the_tasks_by_what_the_model_is_asked(begin: Begin, plain: Origin) -> None:
    site = f"http://127.0.0.1:{plain.port}"
    rule = TaskRule.parse("text:Goal: (?P<task>.+)")
    with begin(scenario=FIRST, tasks=rule) as lane, httpx.Client(proxy=lane.url) as client:

        def ask(goal: str, n: int, **headers: str) -> None:
            message = [
                {"role": "system", "content": f"step {n}"},
                {"role": "user", "content": goal},
            ]
            body = {"model": "m", "messages": message}
            client.post(f"{site}/v1/chat/completions", json=body, headers=headers)

        met = []
        for goal in ("one", "two"):
            ask(f"Goal: {goal}", 1)
            ask(f"Goal: {goal}", 2)
            met += [client.get(f"{site}/page").status_code for _ in range(2)]
        ask("Goal: three", 1, **{"x-warex-task": "own"})
        met.append(client.get(f"{site}/page").status_code)
    assert met == [500, 200, 500, 200, 200]
    assert tasks_of(lane) == ["one"] * 4 + ["two"] * 4 + ["own", "two"]
    assert [(call.step) for call in lane.events(LlmCall)] == [1, 2, 1, 2, 1]
    assert [(task.task, task.told_by, task.beside) for task in lane.events(TaskBegan)] == [
        ("one", "rule", False),
        ("two", "rule", False),
        ("own", "header", True),
    ]


@pytest.mark.wire
@pytest.mark.slow
def test_conversations_at_the_same_time_own_their_calls_and_no_pages(
    begin: Begin, plain: Origin
) -> None:
    site = f"http://127.0.0.1:{plain.port}"
    rule = TaskRule.parse("conversation")
    with begin(tasks=rule) as lane, httpx.Client(proxy=lane.url) as client:
        for goal, steps in (("a", 1), ("b", 1), ("a", 2), ("b", 2)):
            message = [{"role": "user", "content": goal}]
            message += [{"role": "assistant", "content": "x"}] * (steps - 1)
            body = {"model": "m", "messages": message}
            client.post(f"{site}/v1/chat/completions", json=body)
            client.get(f"{site}/page")
    one, two = "conversation 1", "conversation 2"
    assert tasks_of(lane) == [one, one, two, two, one, "", two, ""]
    assert any("at the same time" in notice for notice in lane.notices)


@pytest.mark.wire
@pytest.mark.slow
def test_an_answer_to_a_call_of_the_task_before_ends_no_task(begin: Begin, plain: Origin) -> None:
    site = f"http://127.0.0.1:{plain.port}"
    next_task = Event()

    async def answer_late(
        seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await asyncio.to_thread(next_task.wait, 20)
        answer = {"choices": [{"message": {"content": "stop [answer]"}, "finish_reason": "stop"}]}
        body = json.dumps(answer).encode()
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
        writer.write(head % len(body) + body)

    plain.routes["/v1/chat/completions"] = answer_late
    vocabulary = Vocabulary(name="test", finish=("stop",))
    with (
        begin(scenario=FIRST, vocabulary=vocabulary) as lane,
        httpx.Client(proxy=lane.url, timeout=30) as client,
        ThreadPoolExecutor(1) as agent,
    ):
        client.get("http://warex.invalid/task/one")
        asks = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
        url = f"{site}/v1/chat/completions"
        call = agent.submit(httpx.post, url, json=asks, proxy=lane.url, timeout=30)
        wait_until(lambda: "/v1/chat/completions" in plain.paths)
        client.get("http://warex.invalid/task/two")
        next_task.set()
        assert call.result().status_code == 200
        assert [client.get(f"{site}/page").status_code for _ in range(2)] == [500, 200]

    assert tasks_of(lane) == ["one", "two", "two"]
    assert [action.name for action in lane.events(AgentAction)] == ["stop"]
    assert lane.events(Disarmed) == []
