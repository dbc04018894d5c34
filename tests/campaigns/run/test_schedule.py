"""Which trial is next, whoever asks, and when no trial begins any more."""

import heapq
from collections import Counter
from time import thread_time

import pytest

from warex.campaigns.config.campaign import AgentConfig, Budget, CampaignConfig, ConditionConfig
from warex.campaigns.plan.grid import TrialHistory, cache_dependencies, grid
from warex.campaigns.run.circuit_breaker import CampaignStopped
from warex.campaigns.run.schedule import PlannedAttempt, TrialQueue
from warex.campaigns.run.spending import Spending
from warex.seeds import draw
from warex.traces import Counted, Outcome, TrialKey, Void

FAILED = Counted(ending="answered", score=0.0, latency_s=1)
VOID = Void(reason="r")


def keys(count: int, condition: str = "clean") -> list[TrialKey]:
    return [TrialKey("b", "a", condition, f"t{n}") for n in range(count)]


def taken(schedule: TrialQueue, now: float = 0.0) -> list[PlannedAttempt]:
    """Take all turns that there are now; none of them ends."""
    turns = []
    while (turn := schedule.take(now)) is not None:
        turns.append(turn)
    return turns


def test_turns_come_in_the_order_of_the_trials_and_then_it_is_over() -> None:
    schedule = TrialQueue(keys(3))

    turns = taken(schedule)

    assert [turn.key for turn in turns] == keys(3)
    assert {turn.attempt for turn in turns} == {1}
    assert not schedule.is_finished
    for turn in turns:
        schedule.done(turn, FAILED)
    assert schedule.is_finished
    assert schedule.left == 0


def test_void_trials_are_repeated_last_and_failed_ones_never() -> None:
    schedule = TrialQueue(keys(3))
    first = schedule.take(0)
    assert first is not None
    schedule.done(first, VOID)

    turns = taken(schedule)

    assert [(turn.key.task, turn.attempt) for turn in turns] == [("t1", 1), ("t2", 1), ("t0", 2)]
    schedule.done(turns[0], FAILED)
    assert schedule.take(0) is None


def test_after_three_voids_a_trial_is_left_alone_those_on_disk_counted() -> None:
    (key,) = keys(1)
    schedule = TrialQueue([key], {key: TrialHistory((VOID,), last=4)})

    attempts = []
    while (turn := schedule.take(0)) is not None:
        attempts.append(turn.attempt)
        schedule.done(turn, VOID)

    assert attempts == [5, 6]
    assert schedule.is_finished


def test_a_trial_that_counts_on_disk_has_no_turn() -> None:
    done, void, out, cut = keys(4)
    past = {
        done: TrialHistory((FAILED,), last=1),
        void: TrialHistory((VOID,), last=1),
        out: TrialHistory((VOID, VOID, VOID), last=3),
        cut: TrialHistory((), last=2),
    }

    turns = taken(TrialQueue([done, void, out, cut], past))

    assert [(turn.key, turn.attempt) for turn in turns] == [(void, 2), (cut, 3)]


def test_a_lost_turn_gets_a_new_attempt_and_does_not_count_as_void() -> None:
    schedule = TrialQueue(keys(2))
    first = schedule.take(0)
    assert first is not None
    schedule.lost(first)

    turns = taken(schedule)

    assert [(turn.key.task, turn.attempt, turn.voids) for turn in turns] == [
        ("t1", 1, 0),
        ("t0", 2, 0),
    ]


def test_a_trial_that_is_lost_again_and_again_is_given_up_for_this_go() -> None:
    schedule = TrialQueue(keys(1))
    goes = 0
    while (turn := schedule.take(0)) is not None:
        goes += 1
        schedule.lost(turn)

    assert goes == 3
    assert schedule.is_finished
    assert schedule.given_up == keys(1)


def test_a_limit_is_of_trials_and_not_of_attempts() -> None:
    schedule = TrialQueue(keys(5), limit=2)
    assert schedule.total == 2
    first = schedule.take(0)
    assert first is not None
    schedule.done(first, VOID)

    turns = taken(schedule)
    assert [(turn.key.task, turn.attempt) for turn in turns] == [("t1", 1), ("t0", 2)]
    for turn in turns:
        schedule.done(turn, FAILED)
    assert schedule.is_finished


def test_the_same_void_again_and_again_stops_it() -> None:
    schedule = TrialQueue(keys(9))
    turns = taken(schedule)
    for turn in turns[:4]:
        schedule.done(turn, VOID)

    with pytest.raises(CampaignStopped, match="void for one reason"):
        schedule.done(turns[4], VOID)


def test_where_nothing_counts_those_that_are_tried_again_stop_it_too() -> None:
    schedule = TrialQueue(keys(2))
    for _ in range(4):
        turn = schedule.take(0)
        assert turn is not None
        schedule.done(turn, VOID)
    last = schedule.take(0)
    assert last is not None

    with pytest.raises(CampaignStopped):
        schedule.done(last, VOID)


def test_repeated_voids_stop_nothing_while_other_trials_count() -> None:
    schedule = TrialQueue(keys(20))
    bad = {f"t{n}" for n in range(0, 20, 3)}
    while (turn := schedule.take(0)) is not None:
        schedule.done(turn, VOID if turn.key.task in bad else FAILED)

    assert schedule.is_finished


@pytest.mark.parametrize(
    ("budget", "spent", "before", "says"),
    [
        (
            Budget(usd=1),
            Spending(usd=0.6),
            Spending(usd=0.5),
            "the budget of 1 US dollars is used up",
        ),
        (
            Budget(tokens=10),
            Spending(tokens=4),
            Spending(tokens=6),
            "the budget of 10 tokens is used up",
        ),
        (
            Budget(usd=1),
            Spending(unpriced=frozenset({"mine"})),
            Spending(),
            "budget.usd cannot be kept: the price table has no 'mine'; say in the campaign's",
        ),
    ],
)
def test_no_trial_begins_once_a_budget_is_used_up_and_those_that_run_end(
    budget: Budget, spent: Spending, before: Spending, says: str
) -> None:
    schedule = TrialQueue(keys(4), budget=budget, spent=before)
    one, other = schedule.take(0), schedule.take(0)
    assert one is not None
    assert other is not None
    schedule.done(one, FAILED, spent)

    assert schedule.take(0) is None
    assert says in (schedule.stopped or "")
    assert not schedule.is_finished
    schedule.done(other, VOID)
    assert schedule.take(0) is None
    assert schedule.is_finished
    assert schedule.left == 3


def test_a_budget_that_earlier_goes_used_up_begins_nothing() -> None:
    schedule = TrialQueue(keys(1), budget=Budget(usd=2), spent=Spending(usd=2))

    assert schedule.take(0) is None
    assert schedule.is_finished


def test_minutes_are_those_of_this_go() -> None:
    schedule = TrialQueue(keys(3), budget=Budget(minutes=2))

    assert schedule.take(1000.0) is not None
    assert schedule.take(1119.0) is not None
    assert schedule.take(1120.0) is None
    assert schedule.stopped == "the budget of 2 minutes is used up"


CACHED = CampaignConfig(
    name="c",
    llm_cache=True,
    repeats=2,
    agents=(AgentConfig(name="a", model="m"),),
    conditions=(
        ConditionConfig(name="no-proxy"),
        ConditionConfig(name="faulted", scenario="paper/server-error"),
        ConditionConfig(name="clean"),
        ConditionConfig(name="again", control=True),
    ),
)


def cached() -> TrialQueue:
    trials = grid(CACHED, ["t"])
    return TrialQueue(trials, after=cache_dependencies(CACHED, trials))


def test_trials_that_share_answers_wait_for_the_first() -> None:
    schedule = cached()

    turns = taken(schedule)

    begun = Counter(turn.key.condition for turn in turns)
    assert begun == {"no-proxy": 2, "clean": 2, "again": 2}
    clean = [turn for turn in turns if turn.key.condition == "clean"]
    schedule.done(clean[1], FAILED)
    (follower,) = taken(schedule)
    assert (follower.key.condition, follower.key.repeat) == ("faulted", clean[1].key.repeat)


def test_a_dependent_trial_waits_a_limited_time_for_the_first() -> None:
    schedule = cached()
    waiting = [turn for turn in taken(schedule) if turn.key.condition == "clean"][:1]
    for attempt in (2, 3):
        schedule.done(waiting.pop(), Void(reason=f"r{attempt}"))
        waiting = taken(schedule)
        assert [(turn.key.condition, turn.attempt) for turn in waiting] == [("clean", attempt)]
    schedule.done(waiting.pop(), VOID)

    assert [turn.key.condition for turn in taken(schedule)] == ["faulted"]


def test_no_trial_waits_for_one_that_ended_in_an_earlier_command() -> None:
    trials = grid(CACHED, ["t"])
    past = {key: TrialHistory((FAILED,), 1) for key in trials if key.condition == "clean"}

    turns = taken(TrialQueue(trials, past, after=cache_dependencies(CACHED, trials)))

    assert Counter(turn.key.condition for turn in turns)["faulted"] == 2


def on_a_virtual_clock(schedule: TrialQueue, lanes: int) -> Counter[TrialKey]:
    """Run a schedule to its end in no time; return how often each trial was attempted.

    A trial takes some seconds of a clock that a heap moves on; one in twenty is void.
    """
    attempts: Counter[TrialKey] = Counter()
    ends: list[tuple[float, int, PlannedAttempt]] = []
    now, free, count = 0.0, lanes, 0
    while not schedule.is_finished:
        while free and (turn := schedule.take(now)) is not None:
            free, count = free - 1, count + 1
            attempts[turn.key] += 1
            lasts = 1 + 9 * draw(1, turn.key.task, turn.key.condition, turn.attempt)
            heapq.heappush(ends, (now + lasts, count, turn))
        now, _, turn = heapq.heappop(ends)
        free += 1
        void = draw(2, turn.key.task, turn.key.condition, turn.attempt) < 0.05
        outcome: Outcome = Void(reason=turn.key.task) if void else FAILED
        schedule.done(turn, outcome, Spending(tokens=1))
    return attempts


@pytest.mark.parametrize("cache", [pytest.param(False, marks=pytest.mark.slow), True])
def test_scheduling_a_trial_costs_constant_time_with_a_thousand_lanes(
    cache: bool,
) -> None:
    def seconds(tasks: int) -> float:
        config = CACHED.model_copy(update={"llm_cache": cache, "repeats": 1})
        trials = grid(config, [f"t{n}" for n in range(tasks)])
        # What asks for the time: laying out, taking and noting, without the virtual lanes' draws.
        began = thread_time()
        schedule = TrialQueue(
            trials, after=cache_dependencies(config, trials), budget=Budget(tokens=10**9)
        )
        attempts = on_a_virtual_clock(schedule, 1000)
        took = thread_time() - began
        assert attempts.keys() == set(trials)
        assert max(attempts.values()) <= 3
        return took / len(trials)

    few, many = min(seconds(500) for _ in range(2)), seconds(5000)

    # Ten times as many: what is quadratic would take ten times as long for each.
    assert many <= 5 * few, "it grows with their number"


def test_an_observer_gets_each_attempt_that_starts() -> None:
    reported: list[PlannedAttempt] = []

    assert taken(TrialQueue(keys(2), taken=reported.append)) == reported
    assert [turn.key for turn in reported] == keys(2)
