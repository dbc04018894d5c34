"""Our own HTTP stream in mitmproxy: tells when an answer is out, and when the client resets.

mitmproxy's ``response`` hook runs before the answer is sent, and while a hook waits, a stream that
the browser gave up is noticed only afterwards. Both matter here: what is delivered must be known,
and nobody should be held who has left. Facts: mitmproxy 12, ``proxy/layers/http/__init__.py``.
"""

from dataclasses import dataclass

from mitmproxy import connection, http
from mitmproxy.proxy import commands, events, layer, mode_specs
from mitmproxy.proxy.layers import http as http_layer
from mitmproxy.proxy.layers.http._events import (
    ErrorCode,
    RequestProtocolError,
    ResponseProtocolError,
)

from warex.proxy.connections import reset
from warex.proxy.ongoing import ongoing_of


@dataclass
class WarexSentHook(commands.StartHook):
    """All of an injected answer has been handed to the transport."""

    flow: http.HTTPFlow
    blocking = True


class WarexStream(http_layer.HttpStream):
    """An HTTP stream whose end is seen."""

    def handle_event(self, event: events.Event) -> layer.CommandGenerator[None]:
        """Tell whoever holds this exchange that the client has given it up."""
        if isinstance(event, RequestProtocolError) and hasattr(self, "flow"):
            ongoing = ongoing_of(self.flow)
            if ongoing is not None:
                ongoing.presence.left.set()
        return super().handle_event(event)

    def flow_done(self) -> layer.CommandGenerator[None]:
        """Report the answer's end where an injection waits for it."""
        yield from super().flow_done()
        ongoing = ongoing_of(self.flow)
        if ongoing is not None and ongoing.awaits_sending:
            yield WarexSentHook(self.flow)

    def handle_protocol_error(
        self, event: RequestProtocolError | ResponseProtocolError
    ) -> layer.CommandGenerator[None]:
        """End the exchange as the network would: no page of the proxy's own stands for a dead site.

        mitmproxy answers 502 with its own page when the site cannot be reached or breaks off. An
        agent would meet a page that no site sent; without a proxy it meets a dead connection.
        """
        if isinstance(event, ResponseProtocolError) and event.code in _DEAD_SITE:
            ongoing = ongoing_of(self.flow)
            if ongoing is not None:
                ongoing.unreachable = event.code is not ErrorCode.GENERIC_SERVER_ERROR
                if ongoing.unreachable and _is_redirected(self.context.client):
                    # It believes itself connected to the site: the nearest to a refusal.
                    reset(self.context.client)
            event = ResponseProtocolError(event.stream_id, event.message, ErrorCode.KILL)
        yield from super().handle_protocol_error(event)


_DEAD_SITE = (
    ErrorCode.CONNECT_FAILED,
    ErrorCode.GENERIC_SERVER_ERROR,
    ErrorCode.DESTINATION_UNKNOWN,
)


def _is_redirected(client: connection.Client) -> bool:
    """Whether the client does not know that there is a proxy."""
    return isinstance(client.proxy_mode, mode_specs.TransparentMode)


def install() -> None:
    """Have mitmproxy make our streams."""
    http_layer.HttpStream = WarexStream  # type: ignore[misc]
