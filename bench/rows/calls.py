"""The Python calls that a lane needs for one request, and the files of ours that they are in."""

import asyncio
import ssl
import sys
from collections import Counter
from http.client import HTTPSConnection
from pathlib import Path
from types import FrameType

import warex
from bench.row import Row
from bench.traffic.measured_lanes import LOADED, warex_config
from bench.traffic.programs import site
from bench.workspace import HOST, Workspace
from warex.proxy.serving import run_lane

_OURS = str(Path(warex.__file__).parent)
_WARM_UP = 20


def measure(workspace: Workspace) -> list[Row]:
    """Ask again and again on one connection, and count what the lane's thread calls."""
    requests = 20 if workspace.quick else 200
    with site("bench.traffic.quick_site", *workspace.tls) as port:
        counted = asyncio.run(_counted(workspace, port, requests))
    ours = {name: calls for name, calls in counted.items() if name.startswith(_OURS)}
    each = {name: calls / requests for name, calls in ours.items() if calls >= requests}
    most = sorted(each.items(), key=lambda file: -file[1])
    listed = ", ".join(f"{Path(name).relative_to(_OURS)} {calls:.0f}" for name, calls in most)
    return [
        Row(
            "calls",
            "one kept-alive HTTPS request through a lane, scenario loaded and traced: Python calls",
            counted.total() / requests,
            "calls",
            400,
            at_least=False,
            detail=f"{sum(ours.values()) / requests:.0f} of them in {len(each)} files of WAREX",
        ),
        Row(
            "files",
            "the same: files of WAREX that are called",
            len(each),
            "files",
            20,
            at_least=False,
            detail=listed,
        ),
    ]


async def _counted(workspace: Workspace, site_port: int, requests: int) -> Counter[str]:
    """Return the calls by file, while a client on another thread asks."""
    counted: Counter[str] = Counter()

    def count(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            counted[frame.f_code.co_filename] += 1

    async with run_lane(warex_config(workspace, LOADED)) as running:
        client = HTTPSConnection("127.0.0.1", running.port, context=_trusting_all())
        client.set_tunnel(HOST, site_port)
        await asyncio.to_thread(_ask, client, _WARM_UP)
        asking = asyncio.ensure_future(asyncio.to_thread(_ask, client, requests))
        # Let the thread be started before its start can be counted.
        await asyncio.sleep(0)
        sys.setprofile(count)
        try:
            await asking
        finally:
            sys.setprofile(None)
        client.close()
    if running.recorder.exchanges != _WARM_UP + requests:
        raise RuntimeError(f"{running.recorder.exchanges} requests stand in the trace")
    return counted


def _ask(client: HTTPSConnection, requests: int) -> None:
    for _ in range(requests):
        client.request("GET", "/")
        client.getresponse().read()


def _trusting_all() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context
