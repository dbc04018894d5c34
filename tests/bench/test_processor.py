import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from bench.peers import Absent, Running
from bench.peers.mockttp import mockttp
from bench.peers.sslsplit import sslsplit
from bench.processor import Found, Table, costs, names, rates
from bench.setting import Setting

ABSENT = {"mockttp": "not installed: get Node", "sslsplit": "not installed: get it"}


def _found(*candidates: str) -> Table:
    return {
        (protocol, way, name): Found(rate=100 * place, cost=1 / place)
        for protocol in ("http/1.1", "h2")
        for way in ("kept", "fresh")
        for place, name in enumerate(candidates, start=1)
        if (protocol, name) != ("h2", "sslsplit")
    }


def test_the_rows_have_the_names_that_are_announced() -> None:
    found = _found("mitmdump", "warex", "mockttp", "sslsplit")

    assert tuple(row.name for row in (*rates(found, {}), *costs(found, {}))) == names()


def test_each_number_is_one_to_mitmdumps() -> None:
    found = _found("mitmdump", "warex", "mockttp", "sslsplit")
    rows = {row.name: row for row in (*rates(found, {}), *costs(found, {}))}

    assert rows["requests-mockttp"].measured == 3
    assert rows["processor-h2-fresh"].measured == 0.5
    assert "WAREX 0.50 ms, mitmdump 1.00 ms, mockttp 0.33 ms" in rows["processor-h2"].detail
    assert "sslsplit does not speak it" in rows["processor-h2"].detail


def test_a_peer_that_is_absent_has_a_row_that_says_how_to_install_it() -> None:
    rows = {row.name: row for row in rates(_found("mitmdump", "warex"), ABSENT)}

    for peer, why in ABSENT.items():
        assert rows[f"requests-{peer}"].measured is None
        assert rows[f"requests-{peer}"].detail == f"{peer} is {why}"
    for row in costs(_found("mitmdump", "warex"), ABSENT):
        assert "mockttp is not installed: get Node" in row.detail


@pytest.mark.wire
@pytest.mark.slow
@pytest.mark.parametrize("peer", [mockttp, lambda place: sslsplit(place, 1)])
def test_a_peer_that_is_not_installed_says_how_to_get_it(
    place: Setting,
    peer: Callable[[Setting], AbstractContextManager[Running]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    assert not shutil.which("node")

    with pytest.raises(Absent, match="not installed"), peer(place):
        pass
