"""Attempts to reach a site: what is one occurrence, which of those are hit, what is blocked."""

import tracemalloc
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from tests.scenarios.builders import ask, one, one_shot, places, rule, scenario, send
from warex.clock import Clock
from warex.effects import BadCertificate, DnsError, DropPackets, RefuseConnection
from warex.errors import TraceError
from warex.faults import ConnectionPhase
from warex.scenarios import Decision, Injector, Scenario, TryOutcome
from warex.scenarios.injection import connection_tries
from warex.scenarios.injection.replay import Replay, read_replay
from warex.scenarios.origins import ConnectionTarget
from warex.traces import EVENTS, Armed, Control, Event, FaultPlanned, TraceWriter, TrialBegan
from warex.traffic import BACKGROUND_HOSTS

REFUSED: dict[str, JsonValue] = {"kind": "connection_refused"}
SHOP = "shop.test"
HOSTS = [SHOP, "wiki.test"]


def refuse(arm: str | None = None, never: tuple[str, ...] = (), **keys: JsonValue) -> Scenario:
    keys = {"fault": REFUSED, "trigger": {"first": 1}, **keys}
    return one(arm, never, **keys)


POINTS_AND_PORTS: tuple[tuple[ConnectionPhase, int | None], ...] = (
    ("name", None),
    ("connect", 80),
    ("connect", 443),
    ("connect", 5228),
    ("tls", 443),
    ("tls", 5228),
)


def attempt(
    injector: Injector,
    point: ConnectionPhase,
    host: str,
    port: int | None,
    now: float,
    met: bool | None = None,
) -> Decision:
    return injector.connections.judge(ConnectionTarget.of(point, host, port), now, met=met)


def block(injector: Injector, host: str, port: int | None, now: float) -> TryOutcome | None:
    target = ConnectionTarget.of("connect", host, port)
    return injector.connections.next_outcome(target, now)


def connect(
    injector: Injector, now: float, host: str = SHOP, port: int = 443, met: bool | None = None
) -> Decision:
    decision = attempt(injector, "connect", host, port, now, met=met)
    for injection in decision.injections:
        injection.settle(delivered=True)
    return decision


def hits(injector: Injector, *attempts: tuple[float, str]) -> list[bool]:
    return [bool(connect(injector, now, host).injections) for now, host in attempts]


def ordinals(injector: Injector, *seconds: float) -> list[int | None]:
    injections = (connect(injector, now).injections for now in seconds)
    return [it[0].ordinal if it else None for it in injections]


# ---- one occurrence


def test_all_attempts_within_the_hold_are_one_occurrence_and_say_so() -> None:
    injector = Injector(refuse(), 1)
    first, second, third = (connect(injector, now) for now in (1.0, 1.2, 3.9))
    [planned] = first.injections
    assert (planned.id, planned.exchange, planned.ordinal) == ("i1", "a1", 1)
    assert planned.effects == (RefuseConnection(),)
    assert first.repeat_of is None
    for decision, number in ((second, 2), (third, 3)):
        [again] = decision.injections
        assert (again.exchange, again.repeat_of, again.ordinal) == (f"a{number}", "i1", 1)
        assert decision.repeat_of == "a1"


def test_the_hold_begins_with_the_first_attempt_and_is_not_prolonged() -> None:
    assert ordinals(Injector(refuse(), 1), 0, 2.9, 3.0, 5.0) == [1, 1, None, None]
    assert ordinals(Injector(refuse(trigger={"first": 2}), 1), 0, 2.9, 3.0, 5.9, 6.0) == [
        1, 1, 2, 2, None,
    ]  # fmt: skip


def test_a_hold_is_as_long_as_the_fault_says() -> None:
    assert ordinals(Injector(refuse(fault={**REFUSED, "hold": 10}), 1), 0, 9.9, 10) == [1, 1, None]
    assert ordinals(Injector(refuse(fault={**REFUSED, "hold": 0}), 1), 0, 0) == [1, None]


@pytest.mark.parametrize(
    ("fault", "lasts"),
    [({"kind": "connection_timeout"}, 3), ({"kind": "connection_timeout", "hold": 1}, 1)],
)
def test_where_a_client_waits_to_learn_of_it_the_hold_begins_then(
    fault: JsonValue, lasts: float
) -> None:
    injector = Injector(refuse(fault=fault, trigger={"first": 2}), 1)
    # Towards the end an attempt would come through when it is repeated: it is let through at once.
    seconds = (0, 1.8, 1.8 + lasts, 2 + lasts, 2.9 + lasts, 3 + lasts)
    assert ordinals(injector, *seconds) == [1, 1, 1, None, None, 2]
    unhit = Injector(refuse(fault=fault, trigger={"nth": 2}), 1)
    assert ordinals(unhit, 0, lasts) == [None, 2], "who is let through waits for nothing"


def test_a_rule_that_always_hits_leaves_no_gap_before_its_next_occurrence() -> None:
    dropped: JsonValue = {"kind": "connection_timeout"}
    seconds = (0, 4.8, 5.0, 5.9, 6.0)
    always = Injector(refuse(fault=dropped, trigger={"always": True}), 1)
    assert ordinals(always, *seconds) == [1, 1, 1, 1, 2]
    window = Injector(refuse(fault=dropped, trigger={"always": True, "between": [0, 5.5]}), 1)
    assert ordinals(window, *seconds) == [1, 1, None, None, None]


def test_a_silent_resolver_is_asked_again_within_one_occurrence() -> None:
    silent: JsonValue = {"kind": "dns_failure", "code": "timeout"}
    injector = Injector(one(fault=silent, trigger={"first": 1}), 1)
    # As Chromium does: twice by itself, then twice by way of the system.
    decisions = [attempt(injector, "name", SHOP, None, now) for now in (0, 1, 3.1, 4.1, 5)]
    assert [len(it.injections) for it in decisions] == [1, 1, 1, 1, 0]


def test_tries_that_are_not_hit_are_merged_too() -> None:
    assert ordinals(Injector(refuse(trigger={"nth": 2}), 1), 0, 1, 2.9, 3, 3.1, 6) == [
        None, None, None, 2, 2, None,
    ]  # fmt: skip


def test_each_host_and_port_has_occurrences_of_its_own() -> None:
    injector = Injector(refuse(trigger={"first": 3}), 1)
    decisions = [
        connect(injector, 0.0, SHOP, 443),
        connect(injector, 0.1, "wiki.test", 443),
        connect(injector, 0.2, SHOP, 80),
        connect(injector, 0.3, SHOP, 443),
    ]
    assert [it.injections[0].ordinal for it in decisions] == [1, 2, 3, 1]


def test_lookups_of_one_name_are_one_occurrence() -> None:
    injector = Injector(one(fault={"kind": "dns_failure", "code": "servfail"}), 1)
    first = attempt(injector, "name", SHOP, None, 0)
    second = attempt(injector, "name", "Shop.Test.", 443, 0.1)
    assert first.injections[0].effects == (DnsError("servfail"),)
    assert second.repeat_of == "a1"


@pytest.mark.parametrize(
    ("kind", "point", "effect"),
    [
        ("dns_failure", "name", DnsError("nxdomain")),
        ("connection_refused", "connect", RefuseConnection()),
        ("connection_timeout", "connect", DropPackets()),
        ("tls_error", "tls", BadCertificate("expired")),
    ],
)
def test_each_fault_strikes_at_its_own_point_only(
    kind: str, point: ConnectionPhase, effect: object
) -> None:
    injector = Injector(one(fault={"kind": kind}), 1)
    every: tuple[ConnectionPhase, ...] = ("name", "connect", "tls")
    injections = {it: attempt(injector, it, SHOP, 443, 0).injections for it in every}
    assert [it for it in every if injections[it]] == [point]
    assert injections[point][0].effects == (effect,)


def test_connection_rules_and_exchange_rules_are_separate() -> None:
    injector = Injector(scenario(rule("page"), rule("refused", fault=REFUSED)), 1)
    assert [it.rule for it in send(injector).injections] == ["page"]
    assert [it.rule for it in connect(injector, 0).injections] == ["refused"]
    assert not Injector(refuse(), 1).may_concern("GET", f"https://{SHOP}/")


# ---- triggers, windows, numbering


@pytest.mark.parametrize(
    ("trigger", "expected"),
    [
        ({"first": 2}, [1, 2]),
        ({"nth": [2, 4]}, [2, 4]),
        ({"every": 2}, [2, 4]),
        ({"always": True}, [1, 2, 3, 4, 5]),
        ({"probability": 1.0}, [1, 2, 3, 4, 5]),
        ({"probability": 0.0}, []),
        ({"random": {"times": 3, "probability": 1.0}}, [1, 2, 3]),
    ],
)
def test_triggers_count_occurrences(trigger: JsonValue, expected: list[int]) -> None:
    injector = Injector(refuse(trigger=trigger), 1)
    attempts = [(10.0 * n + later, SHOP) for n in range(5) for later in (0, 0.3)]
    result = hits(injector, *attempts)
    assert result[::2] == result[1::2], "the second attempt meets what the first did"
    assert [n for n, hit in enumerate(result[::2], 1) if hit] == expected


def test_per_rule_counts_all_tries_and_per_url_each_host_and_port() -> None:
    attempts = [(0, SHOP), (1, "wiki.test"), (10, SHOP), (11, "wiki.test")]
    assert hits(Injector(refuse(), 1), *attempts) == [True, False, False, False]
    injector = Injector(refuse(per="url"), 1)
    assert hits(injector, *attempts) == [True, True, False, False]
    assert places(connect(Injector(refuse(per="url"), 1), 0).injections) == [
        ("down", "CONNECT shop.test:443", 1)
    ]


@settings(deadline=None)
@given(st.permutations([(host, port) for host in HOSTS for port in (443, 8443, 80)]))
def test_per_url_the_order_of_hosts_changes_nothing(order: list[tuple[str, int]]) -> None:
    def hit(targets: list[tuple[str, int]]) -> set[tuple[str, int]]:
        injector = Injector(refuse(per="url", trigger={"probability": 0.5}), 7)
        return {it for it in targets if connect(injector, 0, *it).injections}

    assert hit(order) == hit(sorted(order))


def test_what_comes_outside_a_window_is_neither_counted_nor_an_occurrence() -> None:
    injector = Injector(refuse(trigger={"first": 1, "between": [2, 20]}), 1)
    assert ordinals(injector, 0, 1.9, 2.0, 4.9, 5.0) == [None, None, 1, 1, None]
    late = Injector(refuse(trigger={"first": 1, "after_step": 1}), 1)
    assert ordinals(late, 0) == [None]
    late.llm_call("digest")
    assert ordinals(late, 1) == [1]


def test_an_occurrence_outlasts_the_window_in_which_it_began() -> None:
    injector = Injector(refuse(trigger={"always": True, "between": [0, 1]}), 1)
    assert ordinals(injector, 0.9, 3.8, 3.9) == [1, 1, None]


def test_a_miss_gives_the_budget_back_and_a_delivered_repeat_keeps_it() -> None:
    one_time: JsonValue = {"random": {"times": 1, "probability": 1.0}}
    missed = Injector(refuse(trigger=one_time), 1)
    [injection] = attempt(missed, "connect", SHOP, 443, 0).injections
    injection.settle(delivered=False)
    assert ordinals(missed, 10) == [2]
    retained = Injector(refuse(trigger=one_time), 1)
    [first] = attempt(retained, "connect", SHOP, 443, 0).injections
    [again] = attempt(retained, "connect", SHOP, 443, 1).injections
    first.settle(delivered=False)
    again.settle(delivered=True)
    assert ordinals(retained, 10) == [None]


def test_the_first_of_two_rules_keeps_the_whole_occurrence() -> None:
    both = scenario(
        rule("refused", fault=REFUSED, trigger={"first": 1}),
        rule("dropped", fault={"kind": "connection_timeout"}, trigger={"first": 2}),
    )
    injector = Injector(both, 1)
    for now, superseded in ((0.0, ["dropped"]), (1.0, [])):
        decision = connect(injector, now)
        assert [it.rule for it in decision.injections] == ["refused"]
        assert [it.rule for it in decision.superseded] == superseded
        assert block(injector, SHOP, 443, now) == "refuse"
    assert block(injector, SHOP, 443, 6) == "drop"
    assert places(connect(injector, 6).injections) == [("dropped", "", 2)]


# ---- what is left alone


def test_arming_ends_the_occurrence_of_skipped_attempts() -> None:
    injector = Injector(refuse("first_llm_call"), 1)
    assert ordinals(injector, 0, 1) == [None, None]
    injector.llm_call("digest")
    assert ordinals(injector, 1.5, 2.0) == [1, 1]
    assert [(it.reason, it.count) for it in injector.skipped()] == [("not_armed", 1)]
    assert injector.unarmed_counts() == {"down": {"": 1}}


def test_after_the_task_nothing_is_hit_not_even_within_a_hold() -> None:
    injector = Injector(refuse(), 1)
    assert ordinals(injector, 0) == [1]
    injector.arming.disarm()
    assert ordinals(injector, 1, 10) == [None, None]
    assert [it.reason for it in injector.skipped()] == ["trial_over"]


def test_a_new_task_begins_again() -> None:
    injector = Injector(refuse(), 1)
    assert ordinals(injector, 0, 1) == [1, 1]
    injector.begin_task(2)
    assert ordinals(injector, 1.5) == [1]


@pytest.mark.parametrize(
    ("never", "skipped"),
    [
        ("https://shop.test/*", True),
        ("*://shop.test/*", True),
        ("https://*.test/*", True),
        ("http://shop.test/*", False),
        ("https://shop.test/health*", False),
        ("https://shop.test/", False),
        ("https://shop.test:8443/*", False),
    ],
)
def test_never_skips_a_host_where_it_is_about_all_of_it(never: str, skipped: bool) -> None:
    injector = Injector(refuse(never=(never,)), 1)
    assert (block(injector, SHOP, 443, 0) is None) == skipped
    assert injector.connections.concerns(ConnectionTarget.of("connect", SHOP, 443)) != skipped
    assert (ordinals(injector, 0) == [None]) == skipped
    assert [it.reason for it in injector.skipped()] == ["never"] * skipped


def test_the_browsers_own_hosts_and_warexs_are_skipped() -> None:
    injector = Injector(refuse(), 1, own_hosts=("canary.test",))
    assert not connect(injector, 0, "update.googleapis.com").injections
    assert not connect(injector, 0, "canary.test").injections
    assert block(injector, "canary.test", 443, 0) is None
    assert ordinals(injector, 0) == [1]


@pytest.mark.parametrize("host", ["api.openai.com", "models.lab.test", "asked.test"])
def test_a_models_host_is_skipped_unless_a_rule_spells_it_out(host: str) -> None:
    def hit(url: str) -> bool:
        injector = Injector(refuse(match={"url": url}), 1, llm_hosts=("*.lab.test",))
        injector.request(ask("https://asked.test/v1/messages", "POST", server="llm"), 0)
        looked = block(injector, host, 443, 5)
        injections = bool(connect(injector, 5, host).injections)
        assert (looked == "refuse") == injections
        return injections

    assert not hit("*")
    assert not hit("*://*:443/*")
    assert hit(f"https://{host}/*")


def test_beside_a_model_another_port_is_not_a_models() -> None:
    injector = Injector(refuse(), 1)
    injector.request(ask("http://127.0.0.1:11434/api/chat", "POST", server="llm"), 0)
    assert injector.connections.ports_with_own_block("127.0.0.1") == (11434,)
    assert not connect(injector, 0, "127.0.0.1", 11434).injections
    assert connect(injector, 0, "127.0.0.1", 7770).injections


# ---- the look-ahead


def test_connections_are_blocked_while_the_next_attempt_would_be_hit() -> None:
    injector = Injector(refuse(), 1)
    assert block(injector, SHOP, 443, 0) == block(injector, "wiki.test", 443, 0) == "refuse"
    connect(injector, 0, met=True)
    assert block(injector, SHOP, 443, 2.9) == "refuse"
    assert block(injector, SHOP, 443, 3) is None
    assert block(injector, "wiki.test", 443, 0.1) is None
    assert block(injector, SHOP, 80, 0.1) is None


@pytest.mark.parametrize(
    "keys",
    [
        {"trigger": {"first": 1}},
        {"trigger": {"always": True, "between": [4, 9]}},
        {"trigger": {"nth": [2]}},
        {"trigger": {"every": 2}, "fault": {"kind": "connection_timeout", "hold": 4}},
        {"fault": {"kind": "connection_timeout"}},
    ],
)
def test_between_tries_a_block_changes_only_at_the_next_change(
    keys: dict[str, JsonValue],
) -> None:
    injector, changes = Injector(refuse(None, (), **keys), 3), 0
    before: TryOutcome | None = None
    then: float | None = None
    for tenth in range(200):
        now = tenth / 10
        after = block(injector, SHOP, 443, now)
        if after != before:
            assert then is None or then <= now
            changes += 1
        if tenth in (5, 31, 70):
            connect(injector, now, met=after is not None)
            after = block(injector, SHOP, 443, now)
        before, then = after, injector.connections.next_change(now) or 99.0
    assert changes > 1


def test_a_block_says_how() -> None:
    for kind, outcome in (("connection_timeout", "drop"), ("dns_failure", None)):
        assert block(Injector(one(fault={"kind": kind}), 1), SHOP, 443, 0) == outcome


def test_the_blocklist_has_web_ports_and_named_or_tried_ones() -> None:
    injector = Injector(refuse(match={"url": "https://shop.test:8443"}), 1)
    assert injector.connections.ports_with_own_block(SHOP) == (8443,)
    assert injector.connections.ports_with_own_block("wiki.test") == ()
    assert block(injector, SHOP, None, 0) is None
    anywhere = Injector(refuse(), 1)
    assert block(anywhere, SHOP, None, 0) == "refuse"
    connect(anywhere, 0, port=7770, met=True)
    assert anywhere.connections.ports_with_own_block(SHOP) == (80, 443, 7770)
    assert block(anywhere, SHOP, None, 1) is None
    assert (
        anywhere.connections.ports_with_own_block("localhost")
        == anywhere.connections.ports_with_own_block("127.0.0.1")
        == ()
    )


@pytest.mark.parametrize("arm", ["start", "first_llm_call"])
def test_a_client_that_names_ever_new_targets_fills_no_memory(
    arm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_tries, "_REMEMBERED", 500)
    injector = Injector(refuse(arm=arm, per="rule"), 1)
    before = 0
    tracemalloc.start()
    try:
        for number in range(3000):
            connect(injector, number, f"h{number}.test", number)
            if number == 1000:
                before, _ = tracemalloc.get_traced_memory()
        assert tracemalloc.get_traced_memory()[0] - before < 600_000
    finally:
        tracemalloc.stop()


def test_ports_of_one_host_without_end_are_not_all_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection_tries, "_REMEMBERED", 100)
    injector = Injector(refuse(), 1)
    for port in range(1000, 1500):
        connect(injector, 0, port=port, met=True)
    assert {443, 1499} <= {*injector.connections.ports_with_own_block(SHOP)}
    assert len(injector.connections.ports_with_own_block(SHOP)) <= 102


def test_an_attempt_that_passed_is_not_hit_or_counted_later() -> None:
    injector = Injector(refuse(trigger={"nth": 2}), 1)
    assert not connect(injector, 0, met=False).injections
    assert block(injector, SHOP, 443, 3) == "refuse"
    assert not connect(injector, 3, met=False).injections
    assert block(injector, SHOP, 443, 3.1) == "refuse"
    assert places(connect(injector, 4, met=True).injections) == [("down", "", 2)]


def test_what_a_late_block_has_stopped_still_belongs_to_the_occurrence() -> None:
    injector = Injector(refuse(), 1)
    [first] = connect(injector, 0, met=True).injections
    [late] = connect(injector, 3.01, met=True).injections
    assert (late.ordinal, late.repeat_of) == (1, first.id)
    assert not connect(injector, 3.02, met=False).injections
    assert places(connect(injector, 4, met=True).injections) == [("down", "", 2)]


def test_a_blocked_attempt_is_hit_though_another_came_first() -> None:
    injector = Injector(refuse(), 1)
    assert places(connect(injector, 0, SHOP, met=True).injections) == [("down", "", 1)]
    assert places(connect(injector, 0, "wiki.test", met=True).injections) == [("down", "", 2)]
    assert block(injector, "wiki.test", 443, 0.1) is None, "it heals at once"


TRIGGERS = st.sampled_from(
    [
        {"first": 2},
        {"nth": [2, 3]},
        {"every": 2},
        {"always": True},
        {"probability": 0.5},
        {"random": {"times": 2, "probability": 0.6}},
        {"first": 1, "between": [2, 6]},
        {"first": 2, "after_step": 1},
    ]
)
ATTEMPTS = st.lists(
    st.tuples(st.floats(0, 4), st.sampled_from(HOSTS), st.sampled_from([80, 443])), max_size=30
)
RULES = st.lists(
    st.tuples(
        TRIGGERS,
        st.sampled_from(["rule", "url"]),
        st.sampled_from(["connection_refused", "connection_timeout"]),
        st.sampled_from(["*", "https://shop.test", "*://*:80"]),
        st.sampled_from([0, 1, 3]),
    ),
    min_size=1,
    max_size=3,
)


def drawn(rules: list[tuple[object, str, str, str, int]]) -> Scenario:
    return Scenario.model_validate(
        {
            "name": "s",
            "rules": [
                {
                    "name": f"r{n}",
                    "trigger": trigger,
                    "per": per,
                    "match": {"url": url},
                    "fault": {"kind": kind, "hold": hold},
                }
                for n, (trigger, per, kind, url, hold) in enumerate(rules)
            ],
        }
    )


@settings(deadline=None)
@given(RULES, ATTEMPTS, st.integers(0, 3))
def test_a_block_is_what_the_next_attempt_meets_and_asking_changes_nothing(
    rules: list[tuple[object, str, str, str, int]],
    attempts: list[tuple[float, str, int]],
    call_at: int,
) -> None:
    asked, unasked = (Injector(drawn(rules), 3) for _ in range(2))
    now = 0.0
    for number, (later, host, port) in enumerate(attempts):
        now += later
        if number == call_at:
            asked.llm_call("digest")
            unasked.llm_call("digest")
        looks = {block(asked, host, port, now) for _ in range(2)}
        ports = asked.connections.ports_with_own_block(host)
        if port not in ports:
            looks.add(block(asked, host, None, now))
        decision = connect(asked, now, host, port)
        met: set[str | None] = {
            "refuse" if isinstance(effect, RefuseConnection) else "drop"
            for injection in decision.injections
            for effect in injection.effects
        } or {None}
        assert looks == met
        assert decision == connect(unasked, now, host, port)


# ---- one-shots and replays


def test_a_one_shot_hits_the_very_next_attempt_and_its_repeats() -> None:
    injector = Injector(Scenario(name="clean"), 1)
    assert not connect(injector, 0).injections
    injector.add_one_shot(one_shot(fault=REFUSED))
    assert block(injector, SHOP, 443, 0.5) == "refuse"
    assert places(connect(injector, 0.5).injections) == [("once", "CONNECT shop.test:443", 1)]
    assert connect(injector, 1).injections[0].repeat_of == "i1"
    assert not connect(injector, 3.5).injections


def written(folder: Path, *events: Event) -> Replay:
    with TraceWriter(folder / EVENTS, Clock()) as writer:
        for event in events:
            writer.write(event)
    return read_replay(folder)


def planned(decision: Decision) -> list[Event]:
    return [
        FaultPlanned(
            injection=injection.id,
            exchange=injection.exchange,
            rule=injection.rule,
            fault=injection.fault.model_dump(mode="json"),
            stage=injection.stage,
            scope=injection.scope,
            ordinal=injection.ordinal,
            effects=("refuse",),
            url=f"https://{SHOP}:443/",
            repeat_of=injection.repeat_of,
            point="connect",
        )
        for injection in decision.injections
    ]


def began(of: Scenario | None, arm: str = "start") -> TrialBegan:
    return TrialBegan(scenario=None if of is None else of.model_dump(mode="json"), arm=arm, seed=3)


def replaying(replay: Replay, seed: int = 99) -> Injector:
    return Injector(replay.scenario, seed, arm=replay.arm, schedule=replay.schedule)


@settings(deadline=None, max_examples=50)
@given(RULES, ATTEMPTS)
@example(  # What was superseded had kept its hold, and swallowed an attempt.
    [({"first": 2}, "rule", kind, "*", 0) for kind in ("connection_refused", "connection_timeout")],
    [(0.0, "wiki.test", 80), (0.0, "wiki.test", 80), (0.0, "shop.test", 80)],
)
@example(  # The replay's schedule has no occurrence after the last one.
    [({"always": True}, "rule", "connection_timeout", "*", 0)],
    [(0.0, "wiki.test", 80), (2.0, "wiki.test", 80)],
)
def test_a_replay_hits_the_same_attempts(
    tmp_path_factory: pytest.TempPathFactory,
    rules: list[tuple[object, str, str, str, int]],
    attempts: list[tuple[float, str, int]],
) -> None:
    folder = tmp_path_factory.mktemp("trial")
    of = drawn(rules)

    def play(injector: Injector) -> list[Decision]:
        now, injections = 0.0, []
        for number, (later, host, port) in enumerate(attempts):
            now += later
            if number == 2:
                injector.llm_call("digest")
            injections.append(connect(injector, now, host, port))
        return injections

    first = play(Injector(of, 3))
    events = [event for decision in first for event in planned(decision)]
    again = play(replaying(written(folder, began(of), *events)))
    assert [places(it.injections) for it in again] == [places(it.injections) for it in first]


def test_a_replay_hits_a_one_shots_attempt_without_the_call(tmp_path: Path) -> None:
    injector = Injector(Scenario(name="clean"), 1)
    connect(injector, 0)
    connect(injector, 0.4)
    shot = one_shot(fault=REFUSED)
    injector.add_one_shot(shot)
    earlier: dict[str, JsonValue] = {**injector.earlier_tries(shot.name)}
    assert earlier == {f"CONNECT {SHOP}:443": 2}
    arguments: dict[str, JsonValue] = {"rule": shot.model_dump(mode="json"), "earlier": earlier}
    call = Control(call="plan_fault", arguments=arguments)
    hit = connect(injector, 0.5)
    replay = written(tmp_path, began(None), call, *planned(hit))
    assert hits(replaying(replay), (0, SHOP), (0.4, SHOP), (0.5, SHOP), (1, SHOP), (9, SHOP)) == [
        False, False, True, True, False,
    ]  # fmt: skip


def test_a_replay_moves_places_by_what_had_passed_before_a_call_armed(tmp_path: Path) -> None:
    of = refuse("first_llm_call")
    injector = Injector(of, 1)
    assert ordinals(injector, 0, 10) == [None, None]
    injector.arming.arm()
    assert injector.connections.rules_with_unarmed_occurrence(20) == ()
    passed: JsonValue = {"passed": {"down": {"": injector.unarmed_counts()["down"][""]}}}
    hit = connect(injector, 20)
    replay = written(
        tmp_path,
        began(of, "first_llm_call"),
        Armed(by="control"),
        msgspec.convert({"call": "arm", "arguments": passed}, Control),
        *planned(hit),
    )
    assert ordinals(replaying(replay), 0, 10, 20, 30) == [None, None, 3, None]


def test_a_trial_armed_by_a_call_within_a_hold_is_not_replayed(tmp_path: Path) -> None:
    of = refuse("first_llm_call")
    injector = Injector(of, 1)
    connect(injector, 0)
    injector.arming.arm()
    assert injector.connections.rules_with_unarmed_occurrence(1) == ("down",)
    hit = connect(injector, 1)
    with pytest.raises(TraceError, match="within the hold of a connection try that rule 'down'"):
        written(
            tmp_path,
            began(of, "first_llm_call"),
            Armed(by="control"),
            Control(call="arm", arguments={"passed": {"down": {"": 1}}, "straddled": ["down"]}),
            *planned(hit),
        )


# ---- before the first page


SITES = (f"https://{SHOP}", "http://infinity.test:8001")


def first_page(**keys: JsonValue) -> Injector:
    keys = {"match": {"url": "{sites}"}, "fault": REFUSED, "trigger": {"first": 1}, **keys}
    return Injector(one("first_page", (), per="url", **keys), 1, sites=SITES)


@pytest.mark.parametrize("point", ["name", "connect", "tls"])
def test_an_attempt_at_a_tasks_site_belongs_to_the_first_page(point: ConnectionPhase) -> None:
    kinds = {"name": "dns_failure", "connect": "connection_refused", "tls": "tls_error"}
    injector = first_page(fault={"kind": kinds[point]})
    decision = attempt(injector, point, SHOP, 443, 0.0)
    assert [it.ordinal for it in decision.injections] == [1]
    assert not injector.arming.armed, "no exchange counts before the page"


def test_a_tasks_site_is_blocked_before_the_first_page() -> None:
    injector = first_page()
    assert (
        block(injector, SHOP, 443, 0.0) == block(injector, "infinity.test", 8001, 0.0) == "refuse"
    )
    assert block(injector, "wiki.test", 443, 0.0) is None
    assert injector.connections.active_rules(0.0)[0] == {"down"}, (
        "the page's own connection is in nobody's way"
    )


def test_other_hosts_are_skipped_until_the_first_page() -> None:
    injector = first_page(match={"url": "*"})
    assert ordinals_at(injector, "wiki.test", SHOP) == [None, 1]
    send(injector, f"https://{SHOP}/")
    assert ordinals_at(injector, "wiki.test") == [1]


def ordinals_at(injector: Injector, *hosts: str) -> list[int | None]:
    injections = (connect(injector, 0.0, host).injections for host in hosts)
    return [it[0].ordinal if it else None for it in injections]


@pytest.mark.parametrize("url", ["{sites}", "*", f"https://{SHOP}/*"])
def test_without_known_sites_any_attempt_may_be_the_first_pages(url: str) -> None:
    made = one("first_page", (), match={"url": url}, fault=REFUSED, trigger={"first": 1})
    injector = Injector(made, 1)
    assert injector.connections.active_rules(0.0)[0] == {"down"}
    assert block(injector, SHOP, 443, 0.0) == "refuse"
    assert hits(injector, (0.0, SHOP)) == [True]
    injector.arming.disarm()
    assert block(injector, "wiki.test", 443, 10.0) is None


def test_a_task_that_is_over_is_not_begun_by_an_attempt() -> None:
    injector = first_page()
    injector.arming.disarm()
    assert hits(injector, (0.0, SHOP)) == [False]
    assert block(injector, SHOP, 443, 0.0) is None


# ---- what a browser connects to by itself

_NO_NAME: dict[str, JsonValue] = {"kind": "dns_failure"}


@pytest.mark.parametrize("fault", [REFUSED, _NO_NAME])
@pytest.mark.parametrize(
    ("url", "sites", "host", "hit"),
    [
        (None, (), "accounts.google.com", False),
        (None, (), "google.com", False),
        (None, (), "www.google.com", True),
        (None, (), "mtalk.google.com", False),
        (None, (), SHOP, True),
        ("*", (), "accounts.google.com", False),
        ("https://accounts.google.com/*", (), "accounts.google.com", True),
        (None, ("https://accounts.google.com",), "accounts.google.com", True),
        (None, ("https://shop.test",), "accounts.google.com", False),
    ],
)
def test_no_fault_hits_what_a_browser_connects_to_by_itself(
    fault: JsonValue, url: str | None, sites: tuple[str, ...], host: str, hit: bool
) -> None:
    match: JsonValue = {"url": url} if url else {}
    injector = Injector(one(trigger={"first": 1}, fault=fault, match=match), 1, sites=sites)
    point: ConnectionPhase = "name" if fault == _NO_NAME else "connect"

    assert injector.connections.concerns(ConnectionTarget.of(point, host, 443)) is hit
    assert bool(attempt(injector, point, host, 443, 0.0).injections) is hit


# ---- the browser's own hosts


@pytest.mark.parametrize("armed", [True, False])
@pytest.mark.parametrize("host", [*BACKGROUND_HOSTS, "Clients2.Google.com."])
@pytest.mark.parametrize("kind", ["dns_failure", "connection_refused", "tls_error"])
def test_a_browsers_own_hosts_are_never_hit_on_any_port(kind: str, host: str, armed: bool) -> None:
    injector = Injector(one("start" if armed else "first_page", fault={"kind": kind}), 1)
    for point, port in POINTS_AND_PORTS:
        assert attempt(injector, point, host, port, 0) == Decision()
        assert block(injector, host, port, 0) is None
        assert not injector.connections.concerns(ConnectionTarget.of(point, host, port))
    assert injector.unarmed_counts() == {}


def test_a_browsers_own_hosts_take_no_place_in_a_count() -> None:
    injector = Injector(refuse(trigger={"first": 1}), 1)
    assert not connect(injector, 0, "mtalk.google.com", 5228).injections
    assert ordinals(injector, 1) == [1]
