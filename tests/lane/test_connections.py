"""Which connections a lane reads, and what it keeps of the others."""

import pytest

from tests.lane.support.played import Trial, trial
from tests.proxy.support.lanes import scenario
from warex.engine.handler import (
    AbortConnection,
    Address,
    Connection,
    Intercept,
    Rejection,
    Site,
    Tunnel,
)
from warex.faults import Fault
from warex.faults.connection.connection_cut import ConnectionCut
from warex.faults.connection.tls_error import TlsError
from warex.faults.lies.stale_response import StaleResponse
from warex.faults.lies.wrong_page import WrongPage
from warex.faults.popups.popup import Popup
from warex.faults.server.http_error import HttpError
from warex.faults.walls.slow_page import SlowPage
from warex.lane.hosts.own_hosts import TASK_HOST
from warex.lane.record.repeats import RECORDED
from warex.scenarios import Scenario
from warex.traces import (
    FaultDelivered,
    HarnessBroke,
    Repeated,
    RequestRefused,
    SiteUnreachable,
    TlsRejected,
)
from warex.traces import Tunnel as TunnelSeen
from warex.traffic import HostMap

GREASED = (0x0A0A, 0x1301)
MAPS = (
    HostMap.parse("https://plain.test=http://127.0.0.1:8001"),
    HostMap.parse("https://secure.test=https://127.0.0.1:8443"),
)


def closed(began: Trial, connection: Connection, sent: int = 7, received: int = 11) -> None:
    connection.sent_to_site, connection.sent_to_client = sent, received
    began.lane.closed(connection)


def test_a_site_is_connected_to_before_its_client_is_answered() -> None:
    with trial() as began:
        assert began.lane.hello(began.connect("shop.test")) == Intercept()


def of_host(host: str, fault: Fault) -> Scenario:
    return scenario(fault, match={"url": f"https://{host}/*"})


@pytest.mark.parametrize(
    ("fault", "needs_site"),
    [
        (HttpError(), False),
        (ConnectionCut(), False),
        (StaleResponse(), False),
        (HttpError(stage="response"), True),
        (SlowPage(delay=3), True),
        (Popup(), True),
        (WrongPage(), True),
    ],
)
def test_a_site_that_is_down_comes_first_unless_a_rule_may_answer_for_it(
    fault: Fault, needs_site: bool
) -> None:
    with trial(scenario=of_host("shop.test", fault)) as began:
        assert began.lane.hello(began.connect("shop.test")) == Intercept(needs_site=needs_site)
        assert (began.lane.connect(began.connect("shop.test")) is not None) == needs_site
        assert began.lane.hello(began.connect("other.test")) == Intercept()


def test_a_tunnel_leads_to_its_site_before_it_is_answered() -> None:
    with trial(
        maps=("https://plain.test=http://127.0.0.1:8001",), pass_through=("bank.test",)
    ) as began:
        site = Site("https", Address("shop.test", 443), direct=False)
        assert began.lane.connect(began.connect("shop.test")) == site
        assert began.lane.connect(began.connect("plain.test")) == Site(
            "http", Address("127.0.0.1", 8001)
        )
        assert began.lane.connect(began.connect("bank.test")) is not None
        assert began.lane.connect(began.connect(TASK_HOST)) is None


def test_a_handshake_that_a_rule_may_spoil_is_begun_without_the_site() -> None:
    with trial(scenario=scenario(TlsError(), match={"url": "https://shop.test"})) as began:
        assert began.lane.connect(began.connect("shop.test")) is None
        assert began.lane.connect(began.connect("other.test")) is not None


def test_an_address_may_turn_out_to_be_a_host_that_a_rule_is_about() -> None:
    with trial(scenario=of_host("shop.test", HttpError())) as began:
        assert began.lane.connect(began.connect("192.0.2.1")) is None


def test_a_connection_that_other_trials_may_use_is_begun_without_the_site() -> None:
    with trial() as began:
        began.lane.connections.may_serve_others = True
        assert began.lane.connect(began.connect("shop.test")) is None
        assert began.lane.hello(began.connect("shop.test")) == Intercept(needs_site=False)


def test_a_site_that_is_down_is_an_event_with_the_reason_and_a_notice() -> None:
    with trial() as began:
        connection = began.connect("shop.test")
        began.lane.unreachable(connection, "connection_refused", "it is down")

    assert began.the(SiteUnreachable) == SiteUnreachable(
        connection="c1",
        host="shop.test",
        port=443,
        failure="connection_refused",
        error="it is down",
    )
    assert began.notices == ["https://shop.test cannot be reached: it is down"]


@pytest.mark.parametrize("host", ["update.googleapis.com", "accounts.google.com"])
def test_a_browsers_own_host_that_is_down_is_not_a_notice(host: str) -> None:
    with trial() as began:
        connection = began.connect(host)
        began.lane.unreachable(connection, "dns_error", "there is no such host")

    assert began.the(SiteUnreachable).failure == "dns_error"
    assert began.notices == []


def test_a_shared_host_that_is_a_trials_site_is_a_notice() -> None:
    with trial(sites=("https://google.com",)) as began:
        began.lane.unreachable(began.connect("google.com"), "dns_error", "it is unknown")

    assert began.notices == ["https://google.com cannot be reached: it is unknown"]


def test_a_client_that_tries_a_dead_site_on_and_on_does_not_fill_the_trace() -> None:
    with trial() as began:
        connection = began.connect("shop.test")
        for _ in range(RECORDED + 5):
            began.lane.unreachable(connection, "connection_refused", "it is down")

    assert len(began.all(SiteUnreachable)) == RECORDED
    assert began.the(Repeated).times == 5


@pytest.mark.parametrize("host", [TASK_HOST, f"a.{TASK_HOST}"])
def test_nothing_is_asked_of_a_site_for_an_own_host(host: str) -> None:
    with trial() as began:
        assert began.lane.hello(began.connect(host)) == Intercept(
            site_first=False, needs_site=False
        )


def test_a_mapped_host_is_served_from_where_it_is_mapped_to() -> None:
    with trial(maps=("https://plain.test=http://127.0.0.1:8001",)) as began:
        plan = began.lane.hello(began.connect("plain.test"))

    assert plan == Intercept(Site("http", Address("127.0.0.1", 8001)))


def test_a_mapped_host_without_tls_is_dialled_at_its_first_request() -> None:
    maps = ("https://plain.test=http://127.0.0.1:8001",)
    with trial(maps=maps, scenario=of_host("plain.test", HttpError())) as began:
        plan = began.lane.hello(began.connect("plain.test"))

    site = Site("http", Address("127.0.0.1", 8001))
    assert plan == Intercept(site, site_first=False, needs_site=False)


def test_a_connection_that_is_passed_through_is_recorded_at_its_end() -> None:
    with trial(pass_through=("bank.test",)) as began:
        connection = began.connect("bank.test")
        assert began.lane.hello(connection) == Tunnel()
        began.engine.advance(2)
        closed(began, connection)

    seen = began.the(TunnelSeen)
    assert (seen.host, seen.port, seen.why) == ("bank.test", 443, "pass_through")
    assert (seen.sent, seen.received, seen.seconds) == (7, 11, 2)


def test_what_is_not_http_is_recorded_as_that() -> None:
    with trial() as began:
        connection = began.connect()
        connection.destination = Address("db.test", 5432)
        began.lane.not_http(connection)
        closed(began, connection)

    assert (began.the(TunnelSeen).host, began.the(TunnelSeen).why) == ("db.test", "not_http")


def test_a_host_whose_client_distrusts_us_passes_from_then_on() -> None:
    with trial(sites=("https://shop.test",)) as began:
        connection = began.connect("cdn.test")
        began.lane.hello(connection)
        began.lane.handshake(connection, "rejected", "tlsv1 alert unknown ca")
        closed(began, connection)

        assert began.lane.hello(began.connect("cdn.test")) == Tunnel()
        assert len(began.notices) == 1
    rejected = began.the(TlsRejected)
    assert rejected.host == "cdn.test"
    assert rejected.reason.endswith("(tlsv1 alert unknown ca)")


def test_a_site_of_the_trial_whose_client_distrusts_us_voids_it() -> None:
    with trial(sites=("https://shop.test",)) as began:
        connection = began.connect("shop.test")
        began.lane.hello(connection)
        began.lane.handshake(connection, "rejected", "tlsv1 alert unknown ca")

    assert "does not trust WAREX's certificate for shop.test" in began.the(HarnessBroke).reason


def test_a_chromium_may_reject_us_once() -> None:
    with trial() as began:
        connection = began.connect("shop.test", cipher_suites=GREASED)
        began.lane.hello(connection)
        began.lane.handshake(connection, "rejected", "tlsv1 alert unknown ca")
        again = began.connect("shop.test", cipher_suites=GREASED)

        assert began.lane.hello(again) == Intercept()
        began.lane.handshake(again, "established", "")
    assert not began.all(TlsRejected)


@pytest.mark.parametrize("has_certificate", [True, False])
def test_a_program_that_leaves_distrusts_us_only_if_it_has_our_certificate(
    has_certificate: bool,
) -> None:
    with trial(sites=("https://shop.test",)) as began:
        connection = began.connect("shop.test")
        began.lane.hello(connection)
        connection.certificate_sent = has_certificate
        began.lane.handshake(connection, "left", "")
        closed(began, connection)

    assert bool(began.all(HarnessBroke)) is has_certificate


def test_a_faulty_certificate_says_nothing_of_what_a_client_trusts() -> None:
    with trial(scenario=scenario(TlsError(how="expired")), sites=("https://shop.test",)) as began:
        connection = began.connect("shop.test")
        assert began.lane.hello(connection) == Intercept(defect="expired", site_first=False)
        connection.certificate_sent = True
        began.lane.handshake(connection, "rejected", "tlsv1 alert certificate expired")

    assert began.the(FaultDelivered).rule == "rule"
    assert not began.all(TlsRejected)


def test_a_connection_whose_plan_fails_is_reset() -> None:
    with trial() as began:
        connection = began.connect("shop.test")
        connection.destination = Address("shop.test", "x")  # type: ignore[arg-type]
        connection.hello = "no ClientHello"  # type: ignore[assignment]

        assert began.lane.hello(connection) == AbortConnection("reset")
    assert began.all(HarnessBroke)


def test_a_refused_request_is_recorded_with_a_bounded_line() -> None:
    with trial() as began:
        line = b"GET /a " + b"x" * 100_000
        began.lane.rejected(began.connect(), Rejection(400, line, "two Host lines"))

    refused = began.the(RequestRefused)
    assert (refused.connection, refused.status, refused.reason) == ("c1", 400, "two Host lines")
    assert refused.line.startswith("GET /a xxx")
    assert len(refused.line) == 4096
