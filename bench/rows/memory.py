"""How much a lane's process grows while a large body is downloaded through it."""

import ssl

from bench.processes import KNOWN, resident
from bench.row import Row
from bench.traffic.load import trusting, tunnel
from bench.traffic.measured_lanes import LOADED, lane
from bench.traffic.programs import site
from bench.workspace import HOST, Setting

GIGABYTE = 10**9


def measure(setting: Setting) -> list[Row]:
    """Compare the peak of resident memory with what it was before the download.

    Reads ``/proc``, so Linux only: elsewhere there is no row.
    """
    if not KNOWN:
        return []
    size = GIGABYTE // 20 if setting.quick else GIGABYTE
    with (
        site("bench.traffic.site", *setting.tls) as port,
        lane(setting, LOADED) as proxy,
        tunnel(proxy.port, port, trusting()) as connection,
    ):
        authority = f"{HOST}:{port}"
        _download(connection, authority, 1000)
        proxy.answered(f"https://{authority}/bytes/1000")
        before = resident(proxy.pid, "VmRSS")
        _download(connection, authority, size)
        proxy.answered(f"https://{authority}/bytes/{size}")
        peak = resident(proxy.pid, "VmHWM")
    return [
        Row(
            "memory",
            "memory growth of a lane while 1 GB is downloaded through it",
            (peak - before) / 1e6,
            "MB",
            64,
            at_least=False,
            detail=f"{size / 1e6:,.0f} MB downloaded; {before / 1e6:.0f} MB before, "
            f"{peak / 1e6:.0f} MB at the peak",
        )
    ]


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
