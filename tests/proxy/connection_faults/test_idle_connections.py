"""Idle connections do not keep a new rule from applying."""

import contextlib

import httpx
import pytest

from tests.proxy.support.client import secure, trusting
from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Origin
from warex.faults.connection.tls_error import TlsError
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Rule, Scenario, Trigger
from warex.traces import FaultDelivered, RequestSeen

pytestmark = pytest.mark.wire

EXPIRED = TlsError(how="expired")
CALL = {"model": "m", "messages": [{"role": "user", "content": "go on"}]}


def client_of(lane: Lane, ca: CertificateAuthority) -> httpx.Client:
    return httpx.Client(proxy=lane.url, verify=trusting(ca.certificate), timeout=10)


def fails(client: httpx.Client, url: str) -> bool:
    # The connection may be closed while a request is on its way.
    with contextlib.suppress(httpx.RemoteProtocolError, httpx.ReadError):
        try:
            client.get(url)
        except httpx.ConnectError:
            return True
    return False


def call(client: httpx.Client, plain: Origin) -> None:
    client.post(f"http://127.0.0.1:{plain.port}/v1/chat/completions", json=CALL)


@pytest.mark.parametrize(
    "of",
    [
        scenario(EXPIRED).model_copy(update={"arm": "first_llm_call"}),
        scenario(EXPIRED, Trigger(always=True, after_step=1)),
    ],
    ids=["armed", "a step later"],
)
def test_what_comes_into_force_closes_the_connections_that_it_is_about(
    of: Scenario, begin: Begin, ca: CertificateAuthority, secure_h1: Origin, plain: Origin
) -> None:
    url = f"https://localhost:{secure_h1.port}/"
    with begin(scenario=of) as lane, client_of(lane, ca) as client:
        assert client.get(url).status_code == 200
        call(client, plain)
        wait_until(lambda: fails(client, url))
    assert len(lane.events(FaultDelivered)) == 1


def test_a_window_that_opens_closes_them_too(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin
) -> None:
    url = f"https://localhost:{secure_h1.port}/"
    # However slow the machine is, the client connects between two of them.
    windows = [(start + 0.5, start + 1) for start in range(60)]
    fault = TlsError(how="expired", hold=0.1)
    rules = tuple(
        Rule(name=f"from {window[0]}", trigger=Trigger(always=True, between=window), fault=fault)
        for window in windows
    )
    with (
        begin(scenario=Scenario(name="windows", rules=rules)) as lane,
        client_of(lane, ca) as client,
    ):
        wait_until(lambda: not fails(client, url))
        wait_until(lambda: fails(client, url))


def test_a_one_shot_hits_though_the_client_has_a_connection(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin
) -> None:
    url = f"https://localhost:{secure_h1.port}/"
    with begin() as lane, client_of(lane, ca) as client:
        assert client.get(url).status_code == 200
        lane.proxy.call("POST", "/faults", {"fault": {"kind": "tls_error", "how": "cut"}})
        wait_until(lambda: fails(client, url))
    assert len(lane.events(FaultDelivered)) == 1


def test_other_hosts_keep_their_connections(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin, plain: Origin
) -> None:
    url = f"https://localhost:{secure_h1.port}/"
    of = scenario(EXPIRED, match={"url": "https://other.test"})
    of = of.model_copy(update={"arm": "first_llm_call"})
    with begin(scenario=of) as lane, client_of(lane, ca) as client:
        client.get(url)
        call(client, plain)
        client.get(url)
    first, _, second = lane.events(RequestSeen)
    assert first.connection == second.connection


def test_a_connection_that_was_opened_ahead_of_need_is_closed_too(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin
) -> None:
    of = scenario(EXPIRED).model_copy(update={"arm": "first_llm_call"})
    with (
        begin(scenario=of) as lane,
        secure(lane.port, "localhost", secure_h1.port, ca.certificate) as opened,
    ):
        lane.proxy.call("POST", "/arm")
        opened.settimeout(10)
        assert opened.recv(1) == b""


def test_a_task_that_begins_closes_what_the_last_one_left_open(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin
) -> None:
    url = f"https://localhost:{secure_h1.port}/"
    once = scenario(TlsError(how="expired", hold=0.1), Trigger(first=1))
    with begin(scenario=once) as lane, client_of(lane, ca) as client:
        for task in ("one", "two"):
            lane.proxy.call("POST", "/task/begin", {"task": task})
            wait_until(lambda: fails(client, url))
            wait_until(lambda: not fails(client, url))
    assert len(lane.events(FaultDelivered)) >= 2
