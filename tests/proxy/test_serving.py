"""A trial that is served in this process."""

import asyncio
import socket
from pathlib import Path

import pytest

from tests.proxy.support.lanes import configured, scenario
from tests.proxy.support.origin import Origin
from warex.errors import InputError
from warex.faults.server.http_error import HttpError
from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.serving import run_lane
from warex.traces import FaultDelivered, ResponseSeen, TrialEnded, read_trace

pytestmark = pytest.mark.wire


async def fetched(port: int, url: str) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {url} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


async def test_a_trial_runs_and_ends_with_its_ledger(
    ca: CertificateAuthority, plain: Origin, tmp_path: Path
) -> None:
    of = scenario(HttpError(status=503), match={"url": "*/down"})
    config = configured(ca=ca.folder, out=tmp_path / "trial", scenario=of)
    site = f"http://127.0.0.1:{plain.port}"

    async with run_lane(config) as lane:
        assert (await fetched(lane.port, f"{site}/up")).startswith(b"HTTP/1.1 200 ")
        assert (await fetched(lane.port, f"{site}/down")).startswith(b"HTTP/1.1 503 ")

    trace = read_trace(tmp_path / "trial" / "events.jsonl")
    assert [it.status for it in trace.events(ResponseSeen)] == [200, 503]
    assert len(list(trace.events(FaultDelivered))) == 1
    assert [it.exchanges for it in trace.events(TrialEnded)] == [2]


async def test_a_port_in_use_leaves_no_trace(ca: CertificateAuthority, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        config = configured(ca=ca.folder, out=tmp_path / "trial", port=other.getsockname()[1])
        with pytest.raises(InputError, match="is not available"):
            async with run_lane(config):
                pass
    assert not (tmp_path / "trial").exists()
