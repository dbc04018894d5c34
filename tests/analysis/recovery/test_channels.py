"""When a WebSocket or a stream of events that a fault has hit works again, and who saw to it."""

from pathlib import Path

import msgspec
import pytest

from tests.analysis.builders import SHOP, WORDS, Story
from warex.analysis.recovery import Recovery, recoveries
from warex.faults.streams.websocket_fault import WebsocketFault
from warex.traces.events import FaultDelivered, FaultPlanned, WebSocketSeen
from warex.traces.reader import read_trace

LIVE = f"{SHOP}live"


def judged(story: Story, folder: Path) -> Recovery:
    (verdict,) = recoveries(read_trace(story.write(folder / "events.jsonl")).entries, WORDS)
    return verdict


def opens(story: Story, number: int, *, brings: bool = True) -> Story:
    exchange = f"w{number}"
    story.asks(exchange, LIVE, resource="websocket", referer=SHOP)
    story.gets(exchange, 101, "websocket")
    if brings:
        story.add(WebSocketSeen(exchange=exchange, what="message", from_client=False, size=9))
    return story


def hit(*, only_late: bool = False, waited_s: float = 0.0) -> Story:
    """Return a story of a page whose WebSocket meets a fault."""
    story = opens(Story().thinks(1, "goto").page("x1"), 1)
    story.planned("i1", "w1", LIVE, effects=("change_messages",))
    t, plan = story.events[-1]
    assert isinstance(plan, FaultPlanned)
    story.events[-1] = (t, msgspec.structs.replace(plan, only_late=only_late))
    story.delivered("i1", "w1")
    t, done = story.events[-1]
    assert isinstance(done, FaultDelivered)
    story.events[-1] = (t, msgspec.structs.replace(done, waited_s=waited_s))
    return story


def test_a_reload_after_which_another_brings_data_is_a_recovery(tmp_path: Path) -> None:
    story = opens(hit().thinks(2, "reload").page("x2"), 2).stops()

    assert judged(story, tmp_path).verdict == "recovered"


def test_a_reload_without_an_answer_is_not_recovery(tmp_path: Path) -> None:
    story = opens(hit().thinks(2, "reload").page("x2"), 2, brings=False).stops()

    assert judged(story, tmp_path).verdict == "not_recovered"


def test_a_page_that_opens_another_has_healed_it_once_data_comes(tmp_path: Path) -> None:
    story = opens(opens(hit(), 2, brings=False), 3).thinks(2, "click").stops()

    verdict = judged(story, tmp_path)

    assert verdict.verdict == "healed_by_page"
    # The line of the third one: the second stayed empty.
    requests = [n for n, (_, it) in enumerate(story.events, 1) if it.event == "request"]
    assert verdict.request_seq == requests[-1]


def test_a_page_that_gets_its_data_otherwise_after_a_reload_is_whole(tmp_path: Path) -> None:
    story = hit().thinks(2, "reload").page("x2").stops()

    assert judged(story, tmp_path).verdict == "recovered"


def test_an_idle_agent_has_not_recovered(tmp_path: Path) -> None:
    assert judged(hit().thinks(2, "click").stops(), tmp_path).verdict == "not_recovered"


def test_messages_that_all_come_need_patience_only(tmp_path: Path) -> None:
    late = judged(hit(only_late=True, waited_s=4.0).thinks(2, "click").stops(), tmp_path / "1")
    twice = judged(hit(only_late=True).thinks(2, "click").stops(), tmp_path / "2")

    assert (late.verdict, late.patience_s) == ("not_needed", 4.0)
    assert (twice.verdict, twice.patience_s) == ("not_needed", None)


@pytest.mark.parametrize(
    ("action", "late"),
    [("delay", True), ("duplicate", True), ("reorder", True), ("drop", False), ("stall", False)],
)
def test_the_ledger_has_which_messages_all_come(action: str, late: bool) -> None:
    assert WebsocketFault.model_validate({"action": action}).only_late is late
    assert WebsocketFault(action="stall", seconds=3).only_late
