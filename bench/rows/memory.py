"""The memory of a lane's process, of a further episode in it, and while a large body passes."""

import ssl

from pydantic import JsonValue

from bench.processes import HAS_PROCFS, mapped, resident
from bench.row import Row
from bench.traffic.counted_lanes import Lane
from bench.traffic.load import tunnel, unverified_context
from bench.traffic.measured_lanes import LOADED, lane
from bench.traffic.programs import site
from bench.workspace import HOST, Workspace

GIGABYTE = 10**9
_WARM_UP = 10


def measure(workspace: Workspace) -> list[Row]:
    """Compare the peak of resident memory with its value before the download.

    Returns no row without ``/proc``.
    """
    if not HAS_PROCFS:
        return []
    size = GIGABYTE // 20 if workspace.quick else GIGABYTE
    with (
        site("bench.traffic.site", *workspace.tls) as port,
        lane(workspace, LOADED) as proxy,
        tunnel(proxy.port, port, unverified_context()) as connection,
    ):
        authority = f"{HOST}:{port}"
        _download(connection, authority, 1000)
        proxy.count_requests(f"https://{authority}/bytes/1000")
        before = resident(proxy.pid, "VmRSS")
        share = mapped(proxy.pid, "Pss")
        own = mapped(proxy.pid, "Private_Clean", "Private_Dirty")
        _download(connection, authority, size)
        proxy.count_requests(f"https://{authority}/bytes/{size}")
        peak = resident(proxy.pid, "VmHWM")
        number = 10 if workspace.quick else 100
        _begin_episodes(proxy, port, range(_WARM_UP))
        settled = resident(proxy.pid, "VmRSS")
        _begin_episodes(proxy, port, range(_WARM_UP, _WARM_UP + number))
        each = (resident(proxy.pid, "VmRSS") - settled) / number
    return [
        Row(
            "lane-memory",
            "memory of a lane that has served a request: its own, and its share of what it has in"
            " common with other processes (PSS)",
            share / 1e6,
            "MB",
            55,
            at_least=False,
            detail=f"{own / 1e6:.0f} MB are its own (USS); resident (RSS) {before / 1e6:.0f} MB",
        ),
        Row(
            "episode-memory",
            "resident memory of a further episode in a lane's process, which has served a request",
            each / 1e6,
            "MB",
            0.3,
            at_least=False,
            detail=f"{number} episodes, all of them open",
        ),
        Row(
            "memory",
            "memory growth of a lane while 1 GB is downloaded through it",
            (peak - before) / 1e6,
            "MB",
            64,
            at_least=False,
            detail=f"{size / 1e6:,.0f} MB downloaded; {before / 1e6:.0f} MB before, "
            f"{peak / 1e6:.0f} MB at the peak",
        ),
    ]


def _begin_episodes(lane: Lane, site_port: int, numbers: range) -> None:
    """Begin episodes with the lane's scenario, each of which serves a request."""
    scenario = LOADED.model_dump(mode="json")
    for number in numbers:
        body: JsonValue = {"task": f"episode-{number}", "scenario": scenario, "port": 0}
        begun = lane.proxy.call("POST", "/task/begin", body)
        with tunnel(int(begun["port"]), site_port, unverified_context()) as connection:
            _download(connection, f"{HOST}:{site_port}", 1000)


def _download(connection: ssl.SSLSocket, authority: str, size: int) -> None:
    connection.sendall(f"GET /bytes/{size} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode())
    head = b""
    while b"\r\n\r\n" not in head:
        head += connection.recv(65536)
    left = size - len(head.partition(b"\r\n\r\n")[2])
    room = bytearray(256 * 1024)
    while left > 0:
        if not (got := connection.recv_into(room)):
            raise ConnectionError(f"the download ended {left} bytes early")
        left -= got
