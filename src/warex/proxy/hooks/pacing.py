"""The hooks of a response that is sent piece by piece or ends early (``paced_response``)."""

from abc import abstractmethod
from collections.abc import Awaitable

from mitmproxy import http

from warex.proxy.exchange.apply import wait_before_piece
from warex.proxy.exchange.flows import CUT
from warex.proxy.exchange.paced_response import ResponseCut, ResponsePiece
from warex.proxy.exchange.state import ExchangeState, state_of
from warex.proxy.hooks.base import Hooks, fail_closed
from warex.proxy.mitmproxy_patches.body_buffer import Upload
from warex.proxy.net.client_socket import reset, wait_drained, wait_flushed, writer_of


class PacingHooks(Hooks):
    """Paces the pieces of a response, and cuts it."""

    @abstractmethod
    def end(
        self,
        flow: http.HTTPFlow,
        state: ExchangeState,
        *,
        arrived: bool = True,
        error: str | None = None,
    ) -> None:
        """Record the end of an exchange, once."""

    @fail_closed
    async def warex_piece(self, piece: ResponsePiece) -> None:
        """Wait before a piece of a response, until the client leaves."""
        state = state_of(piece.flow)
        if state is None or state.finished:
            return
        await wait_before_piece(
            state.applied, piece.pause, state.client_status, self.recorder.clock
        )
        if state.llm is not None:
            state.llm.add(piece.data, self.recorder.clock.now())

    @fail_closed
    def warex_upload(self, upload: Upload) -> Awaitable[None] | None:
        """Wait until a piece of a request is sent, so that the next is not buffered twice."""
        writer = writer_of(upload.flow.client_conn, upload.flow.server_conn)
        return None if writer is None else wait_drained(writer, upload.settled)

    @fail_closed
    async def warex_response_cut(self, broken_off: ResponseCut) -> None:
        """Cut a response once its sent part has left."""
        flow, state = broken_off.flow, state_of(broken_off.flow)
        if state is None or state.finished:
            return
        arrived = await wait_flushed(flow.client_conn)
        if broken_off.how == "reset":
            reset(flow.client_conn)
        self.end(flow, state, arrived=arrived, error=CUT)
