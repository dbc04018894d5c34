"""Each benchmark's lane looks into its trace for what was counted."""

import ssl
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from bench.rows import first_event
from bench.traffic.browser import loaded, through, trusting_browser
from bench.traffic.counted_lanes import Lane, Unrecorded, counting_lane
from bench.traffic.load import tunnel, unverified_context, url
from bench.traffic.measured_lanes import lane, warex_config
from bench.traffic.messages import ANSWER, Client
from bench.traffic.programs import site
from bench.traffic.streams import ANSWER_TEXT, ask
from bench.workspace import HOST, Workspace
from playwright.sync_api import Error as PlaywrightError

from warex.proxy.certificates.ca import ensure_ca

pytestmark = pytest.mark.wire


@pytest.fixture
def shop(workspace: Workspace) -> Iterator[int]:
    with site("bench.traffic.quick_site", *workspace.tls) as port:
        yield port


@pytest.mark.slow
def test_every_answer_through_a_lane_is_in_its_trace(workspace: Workspace, shop: int) -> None:
    with lane(workspace) as counting:
        _ask(counting, shop, counted=True)


@pytest.mark.slow
def test_one_request_more_than_the_trace_has_fails_the_row(workspace: Workspace, shop: int) -> None:
    def measure() -> None:
        with lane(workspace) as counting:
            _ask(counting, shop, counted=True)
            counting.count_requests(url(shop))

    with pytest.raises(Unrecorded, match="1 are missing"):
        measure()


@pytest.mark.slow
def test_a_lane_on_which_nothing_was_counted_fails_the_row(workspace: Workspace, shop: int) -> None:
    def measure() -> None:
        with lane(workspace) as counting:
            _ask(counting, shop, counted=False)

    with pytest.raises(Unrecorded, match="no requests were counted"):
        measure()


@pytest.mark.slow
@pytest.mark.parametrize("more", [0, 1])
def test_traffic_that_was_passed_through_is_in_the_trace(
    workspace: Workspace, shop: int, more: int
) -> None:
    config = warex_config(workspace)
    passing = replace(config.traffic, pass_through=(HOST,))

    def measure() -> None:
        with counting_lane(workspace, config.model_copy(update={"traffic": passing})) as counting:
            _ask(counting, shop, counted=False)
            counting.count_passed(len(ANSWER) + 10_000 * more)

    if not more:
        measure()
        return
    with pytest.raises(Unrecorded, match="passed through"):
        measure()


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/streamed"])
def test_a_call_to_a_model_that_the_trace_lacks_fails_the_row(
    workspace: Workspace, path: str
) -> None:
    def measure() -> None:
        with (
            site("bench.traffic.site", *workspace.tls) as port,
            lane(workspace) as counting,
            tunnel(counting.port, port, unverified_context()) as connection,
        ):
            ask(connection, f"{HOST}:{port}", path)
            counting.count_requests(f"https://{HOST}:{port}{path}")
            counting.count_calls(ANSWER_TEXT)

    if path == first_event.PATH:
        measure()
        return
    with pytest.raises(Unrecorded, match="1 are not in the trace as they were answered"):
        measure()


def test_a_client_that_does_not_trust_the_ca_fails_the_row(workspace: Workspace, shop: int) -> None:
    def measure() -> None:
        with lane(workspace) as counting:
            with suppress(ssl.SSLError):
                tunnel(counting.port, shop, ssl.create_default_context()).close()
            # From now on the host is passed through, and answers all the same.
            _ask(counting, shop, counted=True)

    with pytest.raises(RuntimeError, match="does not trust WAREX's certificate for localhost"):
        measure()


@pytest.mark.slow
@pytest.mark.browser
def test_a_browser_that_does_not_trust_the_ca_fails_the_row(
    workspace: Workspace, tmp_path: Path
) -> None:
    stranger = replace(workspace, ca=ensure_ca(tmp_path / "stranger"))

    def measure() -> None:
        with (
            site("bench.traffic.site", *workspace.tls) as port,
            lane(workspace) as counting,
            trusting_browser(stranger) as browser,
        ):
            page_url = f"https://{HOST}:{port}/page"
            with (
                browser.new_context(proxy=through(counting.port)) as careful,
                pytest.raises(PlaywrightError, match="ERR_CERT_AUTHORITY_INVALID"),
            ):
                careful.new_page().goto(page_url)
            with browser.new_context(
                proxy=through(counting.port), ignore_https_errors=True
            ) as careless:
                page = careless.new_page()
                page.goto(page_url)
                counting.count_requests(*loaded(page))

    with pytest.raises(RuntimeError, match="does not trust WAREX's certificate"):
        measure()


def _ask(counting: Lane, port: int, *, counted: bool) -> None:
    says = Client(port)
    with tunnel(counting.port, port, unverified_context()) as connection:
        connection.sendall(says.request)
        while not says.receive(received := connection.recv(65536)):
            assert received
    if counted:
        counting.count_requests(url(port))
