"""Tasks are told apart by their traffic, with the traps of each harness."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from warex.errors import InputError
from warex.llm import LlmRequest
from warex.scenarios.task_detection import BUILT_IN_RULES, TaskChange, TaskDetector, TaskRule


def call(*messages: tuple[str, JsonValue], continues: str | None = None) -> LlmRequest:
    sent: list[JsonValue] = [{"role": role, "content": message} for role, message in messages]
    digest = hashlib.sha256(json.dumps(sent).encode()).hexdigest()
    return LlmRequest("openai-chat", "m", sent, [], False, digest, continues=continues)


def detected(finder: TaskDetector, *calls: LlmRequest) -> list[tuple[str | None, bool] | None]:
    turns = map(finder.call, calls)
    return [None if turn is None else (turn.task, turn.begins) for turn in turns]


def webarena(goal: str, before: str = "None") -> LlmRequest:
    return call(
        ("system", "You are an agent. OBJECTIVE: an example\nPREVIOUS ACTION: None"),
        ("system", "OBSERVATION: …\nOBJECTIVE: another\nPREVIOUS ACTION: None"),
        (
            "user",
            f"OBSERVATION:\n[1] {before}\nOBJECTIVE: {goal}\nPREVIOUS ACTION: {before}",
        ),
    )


def test_webarenas_examples_are_not_tasks() -> None:
    finder = TaskDetector(BUILT_IN_RULES["webarena"])
    calls = [webarena("buy tea"), webarena("buy tea", "click [1]"), webarena("sell tea")]
    assert detected(finder, *calls) == [("buy tea", True), ("buy tea", False), ("sell tea", True)]


def test_a_first_step_restarts_the_task_but_a_client_retry_does_not() -> None:
    finder = TaskDetector(BUILT_IN_RULES["webarena"])
    first, later = webarena("buy tea"), webarena("buy tea", "click [1]")
    again = call(("user", "a changed page\nOBJECTIVE: buy tea\nPREVIOUS ACTION: None"))
    assert [begins for _, begins in filter(None, detected(finder, first, first, later, again))] == [
        True,
        False,
        False,
        True,
    ]
    assert not finder.at_the_same_time


def test_the_same_task_begins_again_on_a_page_that_has_not_changed() -> None:
    finder = TaskDetector(BUILT_IN_RULES["webarena"])
    first, later = webarena("buy tea"), webarena("buy tea", "click [1]")
    turns = detected(finder, first, first, later, first, first, later)
    assert [begins for _, begins in filter(None, turns)] == [True, False, False] * 2


def test_a_sub_policy_of_step_is_not_a_task() -> None:
    def step(goal: str) -> LlmRequest:
        return call(
            ("user", f"### Input:\nOBJECTIVE:\n{goal}\nOBSERVATION:\n…\nPREVIOUS ACTIONS:\n")
        )

    finder = TaskDetector(BUILT_IN_RULES["step"])
    calls = [step("count commits"), step("find_commits [by me]"), step("count commits")]
    assert detected(finder, *calls) == [("count commits", True), None, ("count commits", False)]


def test_reals_config_page_names_the_task_and_its_finish_page_ends_it() -> None:
    finder = TaskDetector(BUILT_IN_RULES["real"])
    site = "https://evals-gomail.vercel.app"
    config = f"{site}/config?run_id=0&task_id=v1.gomail-2&latency=0"
    assert finder.request("GET", config) == TaskChange("v1.gomail-2", begins=True)
    assert finder.request("GET", f"{site}/") is None
    assert finder.call(call(("user", "# Goal"), ("user", "write a mail"))) is None
    assert finder.request("GET", f"{site}/finish") == TaskChange(None)
    assert finder.request("GET", f"{site}/finish") is None
    assert finder.request("GET", config) == TaskChange("v1.gomail-2", begins=True)
    assert finder.request("GET", f"{site}/config?run_id=0") is None


def test_a_webvoyager_task_begins_where_the_conversation_has_one_message() -> None:
    goal: JsonValue = [
        {
            "type": "text",
            "text": "Now given a task: Find a pan.  Please interact with https://x.test and get",
        },
        {"type": "image_url", "image_url": {"url": "data:…"}},
    ]
    begun = call(("system", "s"), ("user", goal))
    later = call(
        ("system", "s"), ("user", goal), ("assistant", "Click [1]"), ("user", "Observation")
    )
    finder = TaskDetector(BUILT_IN_RULES["webvoyager"])
    again = call(("system", "s2"), ("user", goal))
    assert detected(finder, begun, begun, later, begun, again) == [
        ("Find a pan.", True),
        ("Find a pan.", False),
        ("Find a pan.", False),
        ("Find a pan.", True),
        ("Find a pan.", True),
    ]


def test_an_agentlab_goal_is_the_part_after_its_title() -> None:
    def step(number: int, goal: str) -> LlmRequest:
        parts: JsonValue = [
            {"type": "text", "text": "# Instructions\n## Goal:\n"},
            {"type": "text", "text": goal},
            {"type": "text", "text": f"# Observation of step {number}"},
        ]
        return call(("system", "s"), ("user", parts))

    finder = TaskDetector(BUILT_IN_RULES["agentlab"])
    most_basic = call(("user", "You try the following goal on a website:\n\nsay hello"))
    assert detected(finder, step(1, "book"), step(2, "book"), step(1, "pay"), most_basic) == [
        ("book", True),
        ("book", False),
        ("pay", True),
        ("say hello", True),
    ]


def test_a_miniwob_page_names_its_task() -> None:
    finder = TaskDetector(BUILT_IN_RULES["miniwob"])
    urls = [
        "miniwob/click-test.html",
        "core/core.js",
        "miniwob/click-test.html",
        "miniwob/x-1.html?s",
    ]
    turns = [finder.request("GET", f"http://miniwob.test/{url}") for url in urls]
    assert [turn and (turn.task, turn.begins) for turn in turns] == [
        *(("click-test", True), None),
        *(("click-test", False), ("x-1", True)),
    ]


@pytest.mark.parametrize(
    ("rule", "prefix"), [("browser-use", ""), ("webarena-infinity", "You… Your task: ")]
)
def test_a_browser_use_judge_is_not_a_task(rule: str, prefix: str) -> None:
    def step(goal: str, history: str) -> LlmRequest:
        asked = f"<user_request>\n{prefix}{goal}\n</user_request>"
        text = f"<agent_history>{history}</agent_history>\n{asked}"
        return call(("system", "s"), ("user", text))

    finder = TaskDetector(BUILT_IN_RULES[rule])
    calls = [
        step("a b", "Agent initialized"),
        step("a b", "clicked"),
        call(("user", "Judge this.")),
    ]
    assert detected(finder, *calls, step("c", "Agent initialized")) == [
        *(("a b", True), ("a b", False), None),
        ("c", True),
    ]


def test_webarena_infinity_resets_between_tasks() -> None:
    finder = TaskDetector(BUILT_IN_RULES["webarena-infinity"])
    finder.call(
        call(("user", "<user_request>\nx Your task: go\n</user_request> Agent initialized"))
    )
    assert finder.request("POST", "http://127.0.0.1:8101/api/reset") == TaskChange(None)
    assert finder.request("GET", "http://127.0.0.1:8101/api/state") is None


def test_a_task_that_comes_back_ran_at_the_same_time() -> None:
    finder = TaskDetector(BUILT_IN_RULES["webarena"])
    for goal, before in (("a", "None"), ("b", "None")):
        turn = finder.call(webarena(goal, before))
        assert turn is not None
        assert not turn.alone
    back = finder.call(webarena("a", "click [1]"))
    assert back == TaskChange("a", begins=True, alone=True)


def test_only_a_new_conversation_is_a_new_task() -> None:
    finder = TaskDetector(BUILT_IN_RULES["conversation"])
    one = [("system", "s"), ("user", "do one")]
    two = [("system", "s"), ("user", "do two")]
    more: list[tuple[str, JsonValue]] = [("assistant", "ok"), ("user", "seen")]
    assert detected(finder, call(*one), call(*one, *more), call(*two), call(*two, *more)) == [
        ("conversation 1", True),
        ("conversation 1", False),
        ("conversation 2", True),
        ("conversation 2", False),
    ]
    assert finder.call(call(("user", "new input"), continues="resp_1")) is None
    assert finder.call(call(("system", "s"))) is None
    assert finder.call(call(*one, *more, *more)) == TaskChange(
        "conversation 1", begins=True, told_by="conversation", alone=True
    )


def test_a_name_is_one_short_line_without_secrets() -> None:
    finder = TaskDetector(TaskRule.parse("text:(?s)Goal: (?P<task>.+)"))
    names = [
        finder.call(call(("user", f"Goal: {goal}")))
        for goal in (
            "two\n lines",
            "x" * 500 + "a",
            "x" * 500 + "b",
            "log in, password=hunter2sEcRet!",
        )
    ]
    results = [turn.task or "" for turn in names if turn is not None]
    assert results[0] == "two lines"
    assert results[1] != results[2]
    assert max(map(len, results)) < 100
    assert "hunter2" not in results[3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing", "one of webarena, step, real"),
        ("text:(", "is not a regular expression"),
        ("url:/task/(.*)", "has no group"),
        ("url:(?P<task>a)(?=b)", "linear"),
    ],
)
def test_a_rule_that_cannot_work_says_why(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        TaskRule.parse(text)


@pytest.mark.parametrize("name", BUILT_IN_RULES)
def test_a_ready_rule_crosses_a_process(name: str) -> None:
    rule = BUILT_IN_RULES[name]
    assert TaskRule.model_validate_json(rule.model_dump_json()) == rule
    assert all("task" in rule.regexes[key].names for key in ("text", "url") if key in rule.regexes)


JSON = st.recursive(
    st.none() | st.booleans() | st.text(max_size=20) | st.sampled_from(["user", "text", "content"]),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["role", "content", "text"]), inner)
    ),
)


@given(st.sampled_from(sorted(BUILT_IN_RULES)), st.lists(JSON), st.text())
def test_nothing_that_is_sent_breaks_a_rule(name: str, messages: list[JsonValue], url: str) -> None:
    finder = TaskDetector(BUILT_IN_RULES[name])
    finder.call(LlmRequest("openai-chat", "m", messages, [], False, "d"))
    finder.request("GET", url)
