"""Records what is passed through: whole connections, and exchanges in plain HTTP."""

from typing import Literal

from msgspec import Struct

from warex.lane.record.recorder import Recorder
from warex.llm.recognition.hosts import is_known_llm_host
from warex.traces import LlmUnread, Tunnel

type TunnelReason = Literal[
    "pass_through", "background", "not_concerned", "tls_rejected", "not_http"
]


class OpenTunnel(Struct, frozen=True):
    """A connection or exchange that is passed through."""

    host: str
    port: int
    why: TunnelReason
    began: float
    """Second of the trial."""

    def record(self, recorder: Recorder, sent: int, received: int) -> None:
        """Record its end; ``sent``: bytes to the site, ``received``: bytes to the client."""
        seconds = round(recorder.clock.now() - self.began, 6)
        recorder.write(
            Tunnel(
                host=self.host,
                port=self.port,
                why=self.why,
                sent=sent,
                received=received,
                seconds=seconds,
            )
        )
        if is_known_llm_host(self.host):
            url, why = f"https://{self.host}:{self.port}/", f"passed through: {self.why}"
            recorder.write(LlmUnread(exchange="", url=url, reason=why))
