"""A soak is clean only where the ledger adds up and agrees with clients and site."""

from collections.abc import Callable
from typing import Any

import pytest
from bench.soak.accounting import FiringRate, firing_rates, mistakes, read_ledger
from bench.soak.clients import ClientLog, RequestOutcome
from bench.soak.jobs import PROBABILITIES
from bench.workspace import HOST

from warex.traces import (
    Entry,
    FaultDelivered,
    FaultMissed,
    FaultPlanned,
    HarnessBroke,
    Repeated,
    RequestSeen,
    ResponseSeen,
    Timings,
    TlsRejected,
    TrialEnded,
    WebSocketSeen,
)

PAGE, HIT, SOCKET = "/calm/page/1", "/error-before/page/2", "/socket/3"


def _request(exchange: str, path: str) -> RequestSeen:
    return RequestSeen(
        exchange=exchange,
        method="GET",
        url=f"https://{HOST}:1{path}",
        resource="other",
        http_version="HTTP/1.1",
        connection="c1",
        size=0,
    )


def _response(exchange: str, **options: Any) -> ResponseSeen:
    fields: dict[str, Any] = {"status": 200, "by": "site", "size": 5} | options
    return ResponseSeen(exchange=exchange, resource="other", timings=Timings(total=1), **fields)


def _planned(exchange: str, repeat_of: str | None = None) -> FaultPlanned:
    return FaultPlanned(
        injection=f"i-{exchange}",
        repeat_of=repeat_of,
        exchange=exchange,
        rule="error-before",
        fault={},
        stage="request",
        scope="",
        ordinal=1,
        effects=(),
        url=f"https://{HOST}:1{HIT}",
    )


def _delivered(exchange: str) -> FaultDelivered:
    return FaultDelivered(injection=f"i-{exchange}", exchange=exchange, rule="error-before")


def _missed(exchange: str) -> FaultMissed:
    return FaultMissed(
        injection=f"i-{exchange}", exchange=exchange, rule="error-before", reason="client_gone"
    )


def _message(*, from_client: bool) -> WebSocketSeen:
    return WebSocketSeen(exchange="x3", what="message", from_client=from_client, size=1)


def _clean() -> list[Any]:
    return [
        _request("x1", PAGE),
        _request("x2", HIT),
        _planned("x2"),
        _response("x2", by="warex", status=503),
        _delivered("x2"),
        _response("x1"),
        _request("x3", SOCKET),
        _message(from_client=True),
        _message(from_client=False),
        _response("x3", status=101),
        TrialEnded(exchanges=3, delivered=1, missed=0),
    ]


def _seen() -> dict[str, int]:
    return {PAGE: 1, SOCKET: 1}


def _log() -> ClientLog:
    log = ClientLog()
    log.outcomes[PAGE].append("site")
    log.outcomes[HIT].append("other")
    log.sent[SOCKET] = 1
    return log


def _mistakes(
    events: list[Any], log: ClientLog | None = None, seen: dict[str, int] | None = None
) -> list[str]:
    entries = [Entry(seq=n, t=0, at="", event=event) for n, event in enumerate(events)]
    ledger = read_ledger(entries)
    return list(mistakes(ledger, log or _log(), seen or _seen(), {SOCKET: 1}))


def test_accounts_that_agree_are_clean() -> None:
    assert _mistakes(_clean()) == []


@pytest.mark.parametrize(
    ("repeat_of", "wrong"),
    [("i-x2", []), (None, ["exchanges, delivered and missed are (4, 1, 1)"])],
)
def test_an_injection_that_repeats_another_is_the_same_occurrence(
    repeat_of: str | None, wrong: list[str]
) -> None:
    again = [_request("x4", HIT), _planned("x4", repeat_of), _missed("x4"), _response("x4")]
    log = _log()
    log.outcomes[HIT].append("left")
    ended = TrialEnded(exchanges=4, delivered=1, missed=0)

    names = _mistakes([*_clean()[:-1], *again, ended], log)

    assert [message.partition(", but")[0] for message in names] == wrong


@pytest.mark.parametrize(
    ("path", "outcome", "wrong"),
    [
        ("/calm/page/4", "left_at_once", 0),
        ("/calm/page/4", "site", 1),
        ("/calm/page/4", "left", 1),
        ("/calm/post/4", "left", 1),
    ],
)
def test_only_a_request_with_a_reset_behind_it_may_be_missing(
    path: str, outcome: RequestOutcome, wrong: int
) -> None:
    log = _log()
    log.outcomes[path].append(outcome)

    assert len(_mistakes(_clean(), log)) == wrong


@pytest.mark.parametrize("left_out", range(len(_clean())))
def test_a_ledger_that_lacks_any_event_is_not_clean(left_out: int) -> None:
    events = _clean()
    del events[left_out]

    assert _mistakes(events)


@pytest.mark.parametrize(
    "extra",
    [
        _request("x4", PAGE),
        _response("x1"),
        _planned("x1"),
        _delivered("x2"),
        _missed("x2"),
        _message(from_client=True),
        HarnessBroke(reason="a bug"),
        TlsRejected(host=HOST, reason="unknown CA"),
    ],
)
def test_a_ledger_with_an_event_too_many_is_not_clean(extra: Any) -> None:
    assert _mistakes([*_clean(), extra])


@pytest.mark.parametrize("outcome", ["left_unread", "left"])
@pytest.mark.parametrize(
    ("times", "missing", "clean"), [(0, 1, False), (1, 1, True), (1, 2, False), (2, 2, True)]
)
def test_a_limited_number_of_requests_may_be_missing(
    times: int, missing: int, outcome: RequestOutcome, *, clean: bool
) -> None:
    log = _log()
    for number in range(missing):
        log.outcomes[f"/calm/page/4{number}"].append(outcome)
    counted = [Repeated(kind="request", why="given up at once", times=times)] if times else []

    assert (_mistakes([*counted, *_clean()], log) == []) is clean


def _got_nothing(log: ClientLog) -> None:
    log.outcomes[PAGE] = ["cut"]


def _got_a_fault_of_nobody(log: ClientLog) -> None:
    log.outcomes[PAGE] = ["other"]


def _got_the_site_in_place_of_the_fault(log: ClientLog) -> None:
    log.outcomes[HIT] = ["site"]


def _saw_no_byte_of_the_fault(log: ClientLog) -> None:
    log.outcomes[HIT] = ["left_unread"]


def _asked_more_often(log: ClientLog) -> None:
    log.outcomes[PAGE].append("site")


def _sent_more_messages(log: ClientLog) -> None:
    log.sent[SOCKET] += 1


def _found_something_odd(log: ClientLog) -> None:
    log.mistakes.append("an answer names WAREX")


@pytest.mark.parametrize(
    "change",
    [
        _got_nothing,
        _got_a_fault_of_nobody,
        _got_the_site_in_place_of_the_fault,
        _saw_no_byte_of_the_fault,
        _asked_more_often,
        _sent_more_messages,
        _found_something_odd,
    ],
)
def test_a_ledger_that_clients_contradict_is_not_clean(change: Callable[[ClientLog], None]) -> None:
    log = _log()
    change(log)

    assert _mistakes(_clean(), log)


@pytest.mark.parametrize("seen", [{PAGE: 2}, {PAGE: 1, HIT: 1}, {HIT: 1}, {PAGE: 1, "/calm/x": 1}])
def test_a_ledger_that_the_site_contradicts_is_not_clean(seen: dict[str, int]) -> None:
    assert _mistakes(_clean(), seen={**seen, SOCKET: 1})


@pytest.mark.parametrize("of", [range(11), [1, 2, 3, 4, 6, 7, 8, 9, 10]], ids=["read", "unread"])
def test_what_was_on_its_way_may_be_lost_with_a_connection_that_is_reset(of: list[int]) -> None:
    events = [_clean()[n] for n in of]
    events[-1] = TrialEnded(exchanges=3 if len(of) == 11 else 2, delivered=1, missed=0)
    log = _log()
    log.outcomes[PAGE][:] = ["lost"]

    assert _mistakes(events, log, _seen() if len(of) == 11 else {SOCKET: 1}) == []


def test_a_client_that_gave_up_may_have_missed_the_answer() -> None:
    log = _log()
    log.outcomes[PAGE] = ["left"]

    assert _mistakes(_clean(), log) == []
    assert _mistakes(_clean(), log, {SOCKET: 1}) == []


def test_a_rule_fires_as_often_as_chance_allows_at_its_share_of_the_level() -> None:
    assert FiringRate("error-before", 0.2, 1000, 200).ok
    assert FiringRate("error-before", 0.2, 1000, 230).p < 0.05
    assert FiringRate("error-before", 0.2, 1000, 230).ok
    assert not FiringRate("error-before", 0.2, 1000, 250).ok
    assert not FiringRate("error-before", 0.2, 1000, 150).ok


def test_what_matched_is_counted_by_the_part_of_the_site() -> None:
    entries = [Entry(seq=n, t=0, at="", event=event) for n, event in enumerate(_clean())]

    results = {rate.rule: (rate.matched, rate.fired) for rate in firing_rates(read_ledger(entries))}

    assert results == dict.fromkeys(PROBABILITIES, (0, 0)) | {"error-before": (1, 1)}
