"""The hooks of a message that is sent piece by piece (``paced_response``, ``body_buffer``)."""

from collections.abc import Awaitable

from mitmproxy import http

from warex.lane.traffic.llm import LlmTraffic
from warex.proxy.exchange.apply import wait_before_piece
from warex.proxy.exchange.client_status import client_status_of
from warex.proxy.exchange.paced_response import ResponsePiece
from warex.proxy.exchange.state import state_of
from warex.proxy.hooks.base import Hooks, fail_closed
from warex.proxy.mitmproxy_patches.body_buffer import Upload
from warex.proxy.net.client_socket import wait_drained, writer_of


class PacingHooks(Hooks):
    """Paces the pieces of a response and of an upload."""

    @fail_closed
    async def warex_piece(self, piece: ResponsePiece) -> None:
        """Wait before a piece of a response, until the client leaves."""
        state = state_of(piece.flow)
        if state is None or state.finished:
            return
        clock = self.recorder.clock
        await wait_before_piece(state.applied, piece.pause, state.client_status, clock)
        # Nothing else reads a paced response.
        if isinstance(state.traffic, LlmTraffic):
            state.traffic.feed(piece.data)

    @fail_closed
    async def warex_drain(self, flow: http.HTTPFlow) -> None:
        """Wait until the written part of a response is sent, so that the rest is not buffered."""
        client, writer = client_status_of(flow), writer_of(flow.client_conn)
        await client.unqueued.wait()
        if writer is not None:
            await wait_drained(writer, client.left)

    @fail_closed
    def warex_upload(self, upload: Upload) -> Awaitable[None] | None:
        """Wait until a piece of a request is sent, so that the next is not buffered twice."""
        writer = writer_of(upload.flow.client_conn, upload.flow.server_conn)
        return None if writer is None else wait_drained(writer, upload.settled)
