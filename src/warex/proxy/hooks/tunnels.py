"""Records what is passed through: whole connections, and exchanges in plain HTTP."""

from dataclasses import dataclass
from typing import Literal

from mitmproxy import connection, ctx, http
from mitmproxy.net.http.http1 import assemble_request_head, assemble_response_head

from warex.lane.host_routing import PassthroughReason
from warex.lane.record.recorder import Recorder
from warex.llm.recognition.hosts import is_known_llm_host
from warex.proxy.mitmproxy_patches.connection_handler import bytes_transferred
from warex.traces import LlmUnread, Tunnel

type TunnelReason = PassthroughReason | Literal["not_http"]

_KEY = "warex_tunnel"


@dataclass(slots=True)
class _Tunnel:
    host: str
    port: int
    why: TunnelReason
    began: float
    sent: int = 0
    received: int = 0

    def count_sent(self, data: bytes) -> bytes:
        self.sent += len(data)
        return data

    def count_received(self, data: bytes) -> bytes:
        self.received += len(data)
        return data


class Tunnels:
    """Counts the bytes of each connection or exchange that is passed through."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._connections: dict[str, _Tunnel] = {}
        self._connect_bytes: dict[str, int] = {}

    def connected(self, client: connection.Client) -> None:
        """Note the bytes of a CONNECT request, which are not counted."""
        self._connect_bytes[client.id] = bytes_transferred(ctx.master, client.id)[0]

    def begin(self, client: connection.Client, host: str, port: int, why: TunnelReason) -> None:
        """Begin to count a connection."""
        self._connections[client.id] = _Tunnel(host, port, why, self._recorder.clock.now())

    def disconnected(self, client: connection.Client) -> None:
        """Record the connection, if it was passed through."""
        before = self._connect_bytes.pop(client.id, 0)
        opened = self._connections.pop(client.id, None)
        if opened is not None:
            sent, received = bytes_transferred(ctx.master, client.id)
            opened.sent, opened.received = sent - before, received
            self._record(opened)

    def relayed(self, host: str, port: int, sent: int, received: int, began: float) -> None:
        """Record a connection relayed outside mitmproxy, begun at second ``began``."""
        self._record(_Tunnel(host, port, "not_http", began, sent, received))

    def begin_exchange(self, flow: http.HTTPFlow, host: str, port: int, why: TunnelReason) -> None:
        """Begin to count an exchange in plain HTTP."""
        opened = _Tunnel(host, port, why, self._recorder.clock.now())
        opened.sent = len(assemble_request_head(flow.request))
        vars(flow)[_KEY] = opened
        flow.request.stream = opened.count_sent

    def answered(self, flow: http.HTTPFlow) -> None:
        """Count and stream the response to such an exchange."""
        opened: _Tunnel | None = vars(flow).get(_KEY)
        if opened is not None and flow.response is not None:
            opened.received += len(assemble_response_head(flow.response))
            flow.response.stream = opened.count_received

    def ended(self, flow: http.HTTPFlow) -> None:
        """Record the exchange, once."""
        opened: _Tunnel | None = vars(flow).pop(_KEY, None)
        if opened is not None:
            self._record(opened)

    def _record(self, opened: _Tunnel) -> None:
        self._recorder.write(
            Tunnel(
                host=opened.host,
                port=opened.port,
                why=opened.why,
                sent=opened.sent,
                received=opened.received,
                seconds=round(self._recorder.clock.now() - opened.began, 6),
            )
        )
        if is_known_llm_host(opened.host):
            url, why = f"https://{opened.host}:{opened.port}/", f"passed through: {opened.why}"
            self._recorder.write(LlmUnread(exchange="", url=url, reason=why))


def is_tunnelled(flow: http.HTTPFlow) -> bool:
    """Whether a flow is passed through."""
    return _KEY in vars(flow)
