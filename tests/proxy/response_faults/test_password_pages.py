import gzip
from types import SimpleNamespace
from typing import cast

import pytest
from mitmproxy import http
from mitmproxy.test import tflow

from warex.proxy.exchange.state import ExchangeState
from warex.proxy.response_faults.password_pages import read_held_page, watch_page
from warex.traces.redaction.redactor import Redactor

PAGE = b"<form><input type=password name=f2></form>"


def shown(kind: str, *, held: bool, agent: bool = False) -> set[str]:
    """Return the fields that a redactor knows after it was shown a compressed answer."""
    flow = tflow.tflow(resp=True)
    headers = http.Headers(content_type=kind, content_encoding="gzip")
    assert flow.response is not None
    flow.response = http.Response(
        b"HTTP/1.1", 401, b"", headers, gzip.compress(PAGE), None, 0, None
    )
    state = SimpleNamespace(
        pending=["i1"] if held else [], rewriters=[], is_agent_request=agent, by_warex=False
    )
    redactor = Redactor()
    watch_page(flow, cast(ExchangeState, state), redactor)
    for reader in state.rewriters:
        assert b"".join(reader.feed(flow.response.raw_content)) == flow.response.raw_content
        assert reader.close() == b""
    if held:
        read_held_page(flow, cast(ExchangeState, state), redactor)
    return set(redactor.how.fields)


@pytest.mark.parametrize("held", [False, True])
def test_a_page_shows_its_fields_for_passwords_and_passes_unchanged(held: bool) -> None:
    assert shown("text/html; charset=utf-8", held=held) == {"f2"}


@pytest.mark.parametrize("held", [False, True])
def test_what_is_no_page_of_a_site_is_not_read(held: bool) -> None:
    assert shown("application/json", held=held) == set()
    assert shown("text/html", held=held, agent=True) == set()
