"""The trial that decides on the messages: the trial of a proxy around `warex mcp`, or its own."""

import http.client
import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol
from urllib.parse import SplitResult, quote, unquote, urlencode

from warex.errors import WarexError
from warex.lane.stdio.steps import Step

_HOST: Final = "warex.invalid"
_TIMEOUT_S: Final = 60.0


class TrialGone(WarexError):
    """The trial does not answer, or is void: no message may pass any more."""


class Caller(Protocol):
    """Carries out calls on a trial."""

    def call(self, name: str, query: Mapping[str, int], body: bytes) -> dict[str, Any]:
        """Return the answer to a call; raise TrialGone if there is none."""

    def close(self) -> None:
        """Make no more calls."""


@dataclass(slots=True)
class ProxyCaller:
    """Calls the trial of a proxy, as any client asks for a page."""

    proxy: SplitResult | None
    """The proxy's URL, whose user may name the task; None if connections are redirected to it."""
    task: str = ""
    """The task of the messages; empty for the proxy's own, or for the task of the proxy's user."""
    _connection: http.client.HTTPConnection | None = None

    def call(self, name: str, query: Mapping[str, int], body: bytes) -> dict[str, Any]:
        """Return the answer to a call; raise TrialGone if there is none."""
        target = f"/mcp/{name}?{urlencode(query)}"
        if self.proxy is not None:
            target = f"http://{_HOST}{target}"
        is_reused = self._connection is not None
        try:
            try:
                status, sent = self._ask(target, body)
            except (ConnectionError, http.client.BadStatusLine):
                if not is_reused:
                    raise
                self.close()  # It was idle, and the proxy has closed it meanwhile.
                status, sent = self._ask(target, body)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            why = getattr(error, "strerror", None) or error or type(error).__name__
            raise TrialGone(f"{self._where} does not answer: {why}") from None
        try:
            answer = json.loads(sent)
        except ValueError:
            answer = {"error": sent[:200].decode("utf-8", "replace").strip()}
        if not isinstance(answer, dict):
            raise TrialGone(f"{self._where} does not answer as WAREX does")
        if status != 200:
            raise TrialGone(str(answer.get("error", status)))
        return answer

    @property
    def _where(self) -> str:
        if self.proxy is None:
            return "WAREX's proxy"
        return f"the proxy at {self.proxy.netloc.rpartition('@')[2]}"

    def _ask(self, target: str, body: bytes) -> tuple[int, bytes]:
        if self._connection is None:
            where = (_HOST, 80)
            if self.proxy is not None:
                where = self.proxy.hostname or "", self.proxy.port or 80
            self._connection = http.client.HTTPConnection(*where, timeout=_TIMEOUT_S)
        self._connection.request("POST", target, body, self._headers())
        with self._connection.getresponse() as response:
            return response.status, response.read()

    def _headers(self) -> dict[str, str]:
        headers = {"Host": _HOST}
        if self.task:
            headers["X-Warex-Task"] = quote(self.task, safe="")
        if self.proxy is not None and self.proxy.username:
            pair = f"{unquote(self.proxy.username)}:{unquote(self.proxy.password or '')}"
            headers["Proxy-Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        return headers

    def close(self) -> None:
        """Make no more calls."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@dataclass(slots=True)
class Trial:
    """The calls of one server of tools on its trial."""

    caller: Caller
    failure: TrialGone | None = field(default=None, init=False)
    """Why the trial does not answer any more."""
    _session: int = field(default=0, init=False)

    def begin(self, name: str) -> None:
        """Tell that a server has been started."""
        self._session = self._call("begin", {}, json.dumps({"name": name}).encode())["session"]

    def request(self, exchange: int, message: bytes) -> Step:
        """Return what becomes of a message of the client."""
        return self._step("request", exchange, message)

    def answer(self, exchange: int, message: bytes) -> Step:
        """Return what becomes of the server's answer; empty to a notification."""
        return self._step("answer", exchange, message)

    def complete_answer(self, exchange: int) -> Step:
        """Return what becomes of an answer that was held."""
        return self._step("whole", exchange)

    def hold_ended(self, exchange: int) -> None:
        """Tell that the holds of the last step are over."""
        self._of("held", exchange)

    def ended(self, exchange: int, outcome: Mapping[str, Any]) -> None:
        """Tell how an exchange has ended."""
        self._of("ended", exchange, json.dumps(outcome).encode())

    def _step(self, name: str, exchange: int, body: bytes = b"") -> Step:
        return Step.of_json(self._of(name, exchange, body))

    def _of(self, name: str, exchange: int, body: bytes = b"") -> dict[str, Any]:
        return self._call(name, {"session": self._session, "exchange": exchange}, body)

    def _call(self, name: str, query: Mapping[str, int], body: bytes) -> dict[str, Any]:
        if self.failure is not None:
            raise self.failure
        try:
            return self.caller.call(name, query, body)
        except TrialGone as error:
            # What came in between is unknown, so it stays gone.
            self.failure = error
            raise
