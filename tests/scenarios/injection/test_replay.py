from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from pydantic import JsonValue

from tests.scenarios.builders import PAGE, SITE, ask, one, one_shot, places, rule, scenario
from warex.clock import Clock
from warex.errors import TraceError
from warex.exchange import Exchange
from warex.llm.defences import DEFENCES
from warex.scenarios import Injector, PlannedInjection, Rule, Scenario
from warex.scenarios.injection.replay import Replay, read_replay, tasks_required
from warex.traces import (
    EVENTS,
    AgentAction,
    Armed,
    Control,
    Event,
    FaultPlanned,
    RequestSeen,
    ResponseSeen,
    TaskBegan,
    TraceWriter,
    TrialBegan,
)

SEEN = RequestSeen(
    exchange="x1",
    method="GET",
    url=PAGE,
    resource="document",
    top_level=True,
    http_version="HTTP/1.1",
    connection="c1",
    headers=[],
    size=0,
)


def seen(exchange: Exchange, repeat_of: str | None = None) -> RequestSeen:
    request = exchange.request
    return replace(
        SEEN,
        exchange=exchange.id,
        method=request.method,
        url=request.url,
        headers=list(request.headers.items()),
        repeat_of=repeat_of,
    )


def written(folder: Path, *events: Event) -> Path:
    (folder / EVENTS).unlink(missing_ok=True)
    with TraceWriter(folder / EVENTS, Clock()) as writer:
        for event in events:
            writer.write(event)
    return folder


def began(of: Scenario | None, **keys: JsonValue) -> TrialBegan:
    dumped = None if of is None else of.model_dump(mode="json")
    return msgspec.convert({"scenario": dumped, "seed": 7, **keys}, TrialBegan)


def planned(injection: PlannedInjection) -> FaultPlanned:
    return FaultPlanned(
        injection=injection.id,
        exchange=injection.exchange,
        rule=injection.rule,
        fault=injection.fault.model_dump(mode="json"),
        stage=injection.stage,
        scope=injection.scope,
        ordinal=injection.ordinal,
        effects=("reply",),
        url=PAGE,
        repeat_of=injection.repeat_of,
    )


def one_shot_planned(shot: Rule, injector: Injector | None = None) -> Control:
    passed = {} if injector is None else injector.unarmed_counts()
    arguments = {"rule": shot.model_dump(mode="json"), "passed": _json(passed)}
    return Control(call="plan_fault", arguments=arguments)


def _json(passed: dict[str, dict[str, int]]) -> JsonValue:
    return {rule: dict(scopes) for rule, scopes in passed.items()}


def injector_of(replay: Replay, seed: int) -> Injector:
    return Injector(
        replay.scenario,
        seed,
        sites=replay.sites,
        never=replay.never,
        arm=replay.arm,
        schedule=replay.schedule,
    )


# ---- the round trip: a random stream, its ledger, the same stream again

SHOT = one_shot(match={"url": f"{SITE}/b*"})
URLS = st.sampled_from(
    [f"{SITE}/a", f"{SITE}/b", f"{SITE}/b?token=1234", f"{SITE}/caf\udce9", f"{SITE}/favicon.ico"]
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), URLS, st.sampled_from(["finish", "miss", "die"])),
        st.tuples(st.just("call"), st.sampled_from("ab"), st.just("")),
        st.tuples(st.just("task"), st.just(""), st.just("")),
        st.tuples(st.just("shot"), st.just(""), st.just("")),
    ),
    max_size=40,
)
COIN: JsonValue = {"probability": 0.5}
TWICE: JsonValue = {"random": {"times": 2}}
SCENARIOS = st.builds(
    scenario,
    st.just(rule("heals", trigger={"first": 1})),
    st.just(rule("coin", trigger=COIN, per="url")),
    st.just(rule("twice", trigger=TWICE, fault={"kind": "connection_cut"})),
    st.sampled_from(["url", "rule"]).map(lambda per: rule("late", trigger={"every": 2}, per=per)),
    arm=st.sampled_from(["start", "first_page", "first_llm_call"]),
)


def play(
    injector: Injector, steps: list[tuple[str, str, str]]
) -> tuple[list[Event], list[PlannedInjection]]:
    """Play a stream; return the events it leaves and its injections."""
    events: list[Event] = []
    injections: list[PlannedInjection] = []
    shots = 0
    for number, (what, which, end) in enumerate(steps):
        now = number * 0.1
        if what == "call":
            injector.llm_call(which)
        elif what == "task":
            injector.begin_task(injector.seed + 1)
            events.append(TaskBegan(task="t", seed=injector.seed))
            shots = 0
        elif what == "shot":
            if not shots:
                injector.add_one_shot(SHOT)
                events.append(one_shot_planned(SHOT, injector))
            shots += 1
        elif what == "arm":
            if not injector.arming.armed:
                events.append(Armed(by="control"))
            injector.arming.arm()
            passed: dict[str, JsonValue] = {"passed": _json(injector.unarmed_counts())}
            events.append(Control(call="arm", arguments=passed))
        elif what == "disarm":
            injector.arming.disarm()
        else:
            exchange = ask(which)
            decision = injector.request(exchange, now)
            events.append(seen(exchange, repeat_of=decision.repeat_of))
            if end == "die":
                injector.died(exchange.id, now)
            for injection in (*decision.injections, *decision.superseded):
                injection.settle(delivered=end != "miss")
                events.append(planned(injection))
                injections.append(injection)
            injector.finish(exchange.id)
    return events, injections


@given(of=SCENARIOS, steps=STEPS, seed=st.integers(0, 99))
def test_a_replay_hits_its_trials_places_for_any_seed(
    tmp_path_factory: pytest.TempPathFactory,
    of: Scenario,
    steps: list[tuple[str, str, str]],
    seed: int,
) -> None:
    sites: list[JsonValue] = [SITE]
    events, first = play(Injector(of, seed, sites=(SITE,)), steps)
    trial = written(
        tmp_path_factory.mktemp("trial"), began(of, arm=of.arm, sites=sites, seed=seed), *events
    )

    replay = read_replay(trial)

    _, again = play(injector_of(replay, seed + 1000), steps)
    assert places(again) == places(first)
    assert [it.fault for it in again] == [it.fault for it in first]
    assert [it.repeat_of for it in again] == [it.repeat_of for it in first]


HANDS = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), URLS, st.just("finish")),
        st.tuples(st.sampled_from(["arm", "disarm", "shot", "task"]), st.just(""), st.just("")),
    ),
    max_size=40,
)


@given(of=SCENARIOS, steps=HANDS, seed=st.integers(0, 99))
def test_a_replay_needs_no_arming_calls_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory,
    of: Scenario,
    steps: list[tuple[str, str, str]],
    seed: int,
) -> None:
    injector = Injector(of, seed, sites=(SITE,))
    events, first = play(injector, steps)
    sites: list[JsonValue] = [SITE]
    trial = written(
        tmp_path_factory.mktemp("trial"), began(of, arm=of.arm, sites=sites, seed=seed), *events
    )
    by_itself = any(
        isinstance(event, FaultPlanned) and not armed
        for event, armed in zip(events, by_hand_since(events), strict=True)
    )
    if of.arm != "start" and Armed(by="control") in events and by_itself:
        assert "armed by itself and, at another time, by a call" in refusal(trial)
        return
    replay = read_replay(trial)

    # Those who make the calls again find the same.
    loud = numbered(injector_of(replay, seed + 1000), steps)[0]
    quiet = [step if step[0] in ("ask", "task") else ("call", "a", "") for step in steps]
    numbers, again = numbered(injector_of(replay, seed + 1000), quiet)

    assert numbers == loud == numbered(Injector(of, seed, sites=(SITE,)), steps)[0]
    assert [it.fault for it in again] == [it.fault for it in first]


def by_hand_since(events: list[Event]) -> list[bool]:
    """Return for each event whether a call had armed in its task."""
    armed, injections = False, []
    for event in events:
        armed = event == Armed(by="control") or (armed and not isinstance(event, TaskBegan))
        injections.append(armed)
    return injections


def numbered(
    injector: Injector, steps: list[tuple[str, str, str]]
) -> tuple[list[tuple[int, str]], list[PlannedInjection]]:
    """Return which exchanges of a stream were hit by which rule."""
    events, injections = play(injector, steps)
    exchange, hit = 0, []
    for event in events:
        if isinstance(event, RequestSeen):
            exchange += 1
        elif isinstance(event, FaultPlanned):
            hit.append((exchange, event.rule))
    return hit, injections


# ---- what is read


def test_a_replay_says_all_that_repeats_the_trial(tmp_path: Path) -> None:
    of = one(trigger={"probability": 0.5}, fault={"kind": "http_error", "status": 503})
    injection = Injector(one(), 1).request(ask(), 0).injections[0]
    trial = written(
        tmp_path,
        began(
            of,
            arm="first_page",
            sites=[SITE],
            never=["https://judge.test/*"],
            defence=DEFENCES[0].model_dump(),
        ),
        SEEN,
        planned(injection),
        TaskBegan(task="t", seed=3),
        planned(injection),
    )

    replay = read_replay(trial)

    assert replay == read_replay(trial / EVENTS)
    assert replay == Replay(
        of,
        7,
        "first_page",
        frozenset({(0, "down", "", 1), (1, "down", "", 1)}),
        (SITE,),
        ("https://judge.test/*",),
        DEFENCES[0],
    )


def test_where_all_was_one_task_a_replay_may_leave_its_beginning_out(tmp_path: Path) -> None:
    hit = planned(Injector(one(), 1).request(ask(), 0).injections[0])
    task = TaskBegan(task="t", seed=3)

    def places_of(*events: Event) -> tuple[list[int], int]:
        schedule = read_replay(written(tmp_path, began(one()), *events)).schedule
        assert {mark[1:] for mark in schedule} == {("down", "", 1)}
        return sorted(mark[0] for mark in schedule), tasks_required(schedule)

    assert places_of(SEEN, hit) == ([0], 0)
    assert places_of(task, SEEN, hit) == ([0, 1], 0)
    # What came before may have been counted, so the task's places are its own.
    assert places_of(SEEN, task, hit) == ([1], 1)
    assert places_of(task, SEEN, hit, task, SEEN, hit) == ([1, 2], 2)
    assert places_of(task, task, SEEN, hit) == ([2], 2)


def test_places_of_tasks_that_ran_at_the_same_time_are_their_own(tmp_path: Path) -> None:
    of = one(trigger={"first": 1})
    main = Injector(of, 1)
    events: list[Event] = [began(of)]
    running = {"": main}

    def request(exchange: str, task: str) -> None:
        seen = RequestSeen(
            exchange=exchange,
            method="GET",
            url=f"{SITE}/page",
            resource="document",
            http_version="HTTP/1.1",
            connection="c1",
            size=0,
            task=task,
        )
        hit = running[task].request(Exchange(exchange, ask().request), 0)
        events.extend([seen, *map(planned, hit.injections)])

    for exchange, task in (("x1", "a"), ("x2", ""), ("x3", "b"), ("x4", "a"), ("x5", "b")):
        if task not in running:
            running[task] = main.for_concurrent_task(9)
            events.append(TaskBegan(task=task, seed=9, told_by="header", beside=True))
        request(exchange, task)

    replay = read_replay(written(tmp_path, *events))

    assert replay.schedule == {(1, "down", "", 1), (0, "down", "", 1), (2, "down", "", 1)}
    assert [e.injection for e in events if isinstance(e, FaultPlanned)] == ["i1", "i2", "i3"]
    armed = [events[0], Armed(by="control"), *events[1:]]
    with pytest.raises(TraceError, match="while tasks ran at the same time"):
        read_replay(written(tmp_path, *armed))


def test_what_a_browser_repeated_by_itself_it_repeats_again_by_itself(tmp_path: Path) -> None:
    injector = Injector(one(fault={"kind": "connection_cut"}), 1)
    exchange = ask()
    hit = injector.request(exchange, 0).injections[0]
    injector.died(exchange.id, 0)
    again = injector.request(ask(), 0.1).injections[0]

    replay = read_replay(written(tmp_path, began(one()), planned(hit), planned(again)))

    assert again.repeat_of == hit.id
    assert replay.schedule == {(0, "down", "", 1)}


def test_a_faults_parameters_are_kept_to_the_last_null(tmp_path: Path) -> None:
    of = one(fault={"kind": "http_error", "status": 503, "retry_after": None})

    assert read_replay(written(tmp_path, began(of))).scenario == of


def test_one_shots_become_rules_once_each(tmp_path: Path) -> None:
    other = one_shot("other")
    events: list[Event] = [one_shot_planned(SHOT), Control(call="arm"), one_shot_planned(other)]
    again: list[Event] = [TaskBegan(task="t", seed=1), one_shot_planned(SHOT)]

    for of in (one(), None):
        replay = read_replay(written(tmp_path, began(of), *events, *again))
        assert replay.scenario.rules[-2:] == (SHOT, other)


def test_a_killed_trial_is_replayed_as_far_as_it_went(tmp_path: Path) -> None:
    hit = Injector(one(), 1).request(ask(), 0).injections[0]
    trial = written(tmp_path, began(one()), planned(hit))
    with (trial / EVENTS).open("ab") as file:
        file.write(b'{"schema_version":1,"seq":3,"t":')

    assert read_replay(trial).schedule == {(0, "down", "", 1)}


# ---- what cannot be replayed


def refusal(trial: Path) -> str:
    with pytest.raises(TraceError) as caught:
        read_replay(trial)
    return str(caught.value)


def test_a_trace_that_does_not_exist_cannot_be_replayed(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"{tmp_path / EVENTS} does not exist, so there is no trace to read."
    assert "nowhere.jsonl does not exist" in refusal(tmp_path / "nowhere.jsonl")


def test_a_trace_that_does_not_say_what_it_ran_cannot_be_replayed(tmp_path: Path) -> None:
    trial = written(tmp_path, TaskBegan(task="t", seed=1))

    assert refusal(trial) == (
        f"{trial / EVENTS} has no trial_began event: it does not say which scenario it ran"
    )


def test_a_trial_without_a_scenario_has_no_faults_to_replay(tmp_path: Path) -> None:
    assert refusal(written(tmp_path, began(None))) == (
        f"{tmp_path / EVENTS} was made without a scenario: there are no faults to replay"
    )


@pytest.mark.parametrize(
    ("first", "then", "text"),
    [
        (
            TrialBegan(scenario={"name": "s", "rules": [{"name": "r"}]}),
            [],
            "holds a scenario that this version cannot run: rules.0.trigger: Field required",
        ),
        (
            TrialBegan(scenario={"name": "s", "schema_version": 99}),
            [],
            "holds a scenario that this version cannot run: schema_version: Input should be 1",
        ),
        (
            TrialBegan(scenario={"name": "s"}, arm="someday"),
            [],
            "holds an arming that this version cannot run: Input should be 'start', ",
        ),
        (
            TrialBegan(scenario={"name": "s"}, defence={"name": "d"}),
            [],
            "holds a defence that this version cannot run: text: Field required",
        ),
        (
            TrialBegan(scenario={"name": "s"}),
            [Control(call="plan_fault", arguments={"rule": {"name": "r"}})],
            "holds a planned fault that this version cannot run: trigger: Field required",
        ),
        (
            TrialBegan(scenario={"name": "s"}),
            [Control(call="plan_fault")],
            "holds a planned fault that this version cannot run: Input should be ",
        ),
    ],
)
def test_what_this_version_cannot_run_is_named(
    tmp_path: Path, first: TrialBegan, then: list[Event], text: str
) -> None:
    assert text in refusal(written(tmp_path, first, *then))
    assert str(tmp_path / EVENTS) in refusal(tmp_path)


def test_other_events_are_passed_over(tmp_path: Path) -> None:
    assert read_replay(written(tmp_path, SEEN, began(one()))).schedule == frozenset()


def test_an_arming_that_nothing_repeats_cannot_be_replayed(tmp_path: Path) -> None:
    answered = msgspec.convert(
        {"exchange": SEEN.exchange, "resource": "document", "by": "site", "size": 0}
        | {"status": 200, "http_version": "HTTP/1.1", "headers": [], "timings": {"total": 1}},
        ResponseSeen,
    )
    late = one(match={"status": 200}, fault={"kind": "http_error", "stage": "response"})
    by_hand = Armed(by="control")
    ended = AgentAction(exchange="x1", step=1, name="stop", arguments={}, role="finish")

    message = refusal(written(tmp_path, began(late), SEEN, by_hand))
    assert "cannot be replayed: it was armed by a call while exchanges were under way" in message
    message = refusal(written(tmp_path, began(one()), ended, by_hand))
    assert "cannot be replayed: it was armed by a call after the agent had ended" in message

    for good in (
        (began(late), SEEN, answered, by_hand),
        (began(one()), SEEN, by_hand),
        (began(one()), ended, TaskBegan(task="t", seed=1), by_hand),
    ):
        assert read_replay(written(tmp_path, *good)).arm == "start"


def test_an_invalid_count_is_named(tmp_path: Path) -> None:
    wrong = Control(call="arm", arguments={"passed": {"down": 1}})
    message = refusal(written(tmp_path, began(one()), wrong))
    assert "holds a count that this version cannot run: down: Input should be" in message
