from tests.lane.support.states import open_exchange
from warex.effects import Cut, Delay, Effect, OtherPage, PushToolEvent, Reply, Trickle
from warex.faults.server.http_error import HttpError
from warex.lane.response_faults.page_change import PageChange
from warex.lane.state import AppliedInjection
from warex.lane.traffic.mcp_tap import Amendment
from warex.scenarios import PlannedInjection
from warex.traces import ChangedValue


def injected(*effects: Effect) -> AppliedInjection:
    return AppliedInjection(PlannedInjection("i1", "x1", "rule", HttpError(), "", 1, effects))


def test_only_injections_that_only_hold_end_with_their_holds() -> None:
    assert injected(Delay(1)).ends_with_holds
    assert injected(Delay(1), PushToolEvent(b"{}")).ends_with_holds
    assert not injected(Delay(1), Cut()).ends_with_holds
    assert not injected(OtherPage(0.0)).ends_with_holds
    for effect in (Reply(500), Trickle(1)):
        answering = injected(effect)
        answering.is_answer = True
        assert not answering.ends_with_holds


def test_an_answer_that_comes_on_another_exchange_keeps_its_injection_open() -> None:
    applied = injected()
    applied.amendment = Amendment(None, 0.0, lambda arrived: None, on_other_exchange=True)

    assert applied.outlives_exchange(arrived=False)
    assert applied.changed_nothing


def test_a_page_that_is_to_report_outlives_an_exchange_that_arrived() -> None:
    state, applied = open_exchange(), injected()
    applied.page = PageChange(applied.injection, state.exchange, lambda seen: None)
    applied.page.awaits_report = True

    assert applied.outlives_exchange(arrived=True)
    assert not applied.outlives_exchange(arrived=False)


def test_changes_that_depend_on_the_site_come_first() -> None:
    applied = injected(OtherPage(0.0))
    assert (applied.changes, applied.changed_nothing) == ([], True)
    applied.site_change = ChangedValue(where="page", before="/a", after="/b")

    assert applied.changes == [applied.site_change]
    assert not applied.changed_nothing
    assert applied.changes_left_out == 0


def test_no_empty_piece_is_passed_on() -> None:
    state = open_exchange()

    assert list(state.fed(b"abc", last=False)) == [b"abc"]
    assert list(state.fed(b"", last=True)) == []
