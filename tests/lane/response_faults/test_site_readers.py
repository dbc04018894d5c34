"""What is read of a site's response on its way."""

import pytest

from tests.lane.support.played import answer, headers
from warex.clock import Clock
from warex.exchange import Request
from warex.faults.lies.stale_response import StaleResponse
from warex.lane.record.recorder import Recorder
from warex.lane.response_faults.previous_responses import PreviousResponses, ResponseCopy
from warex.lane.response_faults.rewritten_pages import RewrittenPages
from warex.lane.response_faults.site_looks import SiteLooks
from warex.lane.response_faults.site_readers import SiteReaders, copy_of
from warex.lane.response_faults.stream_rewriter import StreamedRewriter
from warex.scenarios import Rule, Trigger

RULES = (Rule(name="stale", trigger=Trigger(always=True), fault=StaleResponse()),)
REQUEST = Request("GET", "https://shop.test/", headers(accept="text/html").by_name)


def readers(*, is_rewritten: bool = False, of_agent: bool = False) -> list[StreamedRewriter]:
    recorder = Recorder(Clock())
    reading = SiteReaders(
        PreviousResponses(RULES),
        SiteLooks.of_rules(RULES),
        RewrittenPages(RULES, recorder, lambda exchange, injection: None),
        recorder.redactor,
    )
    head, _ = answer(b"<p>hello")
    return list(
        reading.of_relayed(
            ("", 0), REQUEST, "document", head, is_rewritten=is_rewritten, of_agent=of_agent
        )
    )


def test_a_page_is_read_for_its_fields_and_copied_if_it_may_be_replayed() -> None:
    page, copied = readers()

    assert isinstance(copied, ResponseCopy)
    assert copy_of([page, copied]) is copied
    assert list(page.feed(b"<p>")) == [b"<p>"]


def test_nothing_of_an_agents_own_traffic_is_read() -> None:
    assert readers(of_agent=True) == []
    assert copy_of([]) is None


@pytest.mark.parametrize("is_rewritten", [True, False])
def test_a_page_that_is_changed_is_copied_as_the_site_sent_it(is_rewritten: bool) -> None:
    assert copy_of(readers(is_rewritten=is_rewritten)) is not None
