"""A client of OpenAI's chat completions, without a client library, which is slow to import."""

import asyncio
import json
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from http.client import HTTPException
from typing import Any

RETRIES = 2
"""How often a failed call is retried."""

TIMEOUT = 300.0
"""Seconds without data after which a call fails."""

DEFAULT = "https://api.openai.com/v1"

_PASSING = frozenset({408, 409, 429, *range(500, 600)})
"""Statuses after which trying again may help."""
_FIRST_PAUSE = 0.5
_LONGEST_ASKED_FOR = 60.0
"""Seconds of a Retry-After that are still waited for."""


class ModelError(Exception):
    """The endpoint cannot be used; the message is one sentence."""


class ModelClient:
    """One model at one address."""

    def __init__(self, model: str, base_url: str | None, environment: Mapping[str, str]) -> None:
        """Send nothing before the first call. Raises ModelError without a key and a base URL."""
        named = base_url or environment.get("OPENAI_BASE_URL") or None
        key = environment.get("OPENAI_API_KEY") or ("none" if named else None)
        if key is None:
            raise ModelError("OPENAI_API_KEY is not set: set it, or name a server by --base-url.")
        self.model = model
        self.address = (named or DEFAULT).rstrip("/") + "/"
        self._headers = {
            "Accept": "application/json",
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/json",
            "User-Agent": "warex-reference-agent",
        }
        try:
            # Proxies and certificates are those of the environment (HTTPS_PROXY, SSL_CERT_FILE).
            self._opener = urllib.request.build_opener(_NoRedirects)
            self._request({})
        except (ValueError, ssl.SSLError, OSError) as error:
            raise ModelError(f"The base URL {named!r} cannot be used: {_brief(error)}") from None

    async def ask(self, messages: list[dict[str, Any]]) -> str:
        """Return the model's answer, which may be empty.

        Raises ModelError if the endpoint refuses, is unreachable, or sends no completion.
        """
        request = self._request({"model": self.model, "messages": messages})
        for tried in range(RETRIES):
            try:
                return self._content(await _in_a_thread(lambda: self._answer(request)))
            except _Passing as error:
                pause = error.after
                await asyncio.sleep(_FIRST_PAUSE * 2**tried if pause is None else pause)
        return self._content(await _in_a_thread(lambda: self._answer(request)))

    def _request(self, body: Mapping[str, Any]) -> urllib.request.Request:
        data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        return urllib.request.Request(f"{self.address}chat/completions", data, self._headers)

    def _answer(self, request: urllib.request.Request) -> bytes:
        """Return the answer's body. Raises ModelError; _Passing if a retry may help."""
        where = f"The model endpoint {self.address}"
        try:
            with self._opener.open(request, timeout=TIMEOUT) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                detail = _brief(error.read(10_000).decode("utf-8", "replace") or error.reason)
            sentence = f"{where} answered {error.code}: {detail}"
            if error.code in _PASSING:
                raise _Passing(sentence, _seconds(error.headers.get("Retry-After"))) from None
            raise ModelError(sentence) from None
        except (OSError, HTTPException) as error:
            cause = error.reason if isinstance(error, urllib.error.URLError) else error
            raise _Passing(f"{where} cannot be reached: {_brief(cause)}") from None
        except ValueError as error:
            raise ModelError(f"{where} cannot be reached: {_brief(error)}") from None

    def _content(self, body: bytes) -> str:
        """Return the text of an answer."""
        try:
            content = json.loads(body)["choices"][0]["message"].get("content")
            if isinstance(content, str | None):
                return content or ""
        except (ValueError, LookupError, TypeError, AttributeError):
            pass
        shown = _brief(body.decode("utf-8", "replace"))
        raise ModelError(f"The model endpoint {self.address} did not answer a completion: {shown}")

    async def close(self) -> None:
        """Close the connections."""
        self._opener.close()


class _Passing(ModelError):
    """A temporary error."""

    def __init__(self, sentence: str, after: float | None = None) -> None:
        super().__init__(sentence)
        self.after = after
        """Seconds to wait first, if the server says so."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A question is not a GET, which is what a redirect would make of it."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        """Follow none: the answer is an error with its status."""


async def _in_a_thread[T](call: Callable[[], T]) -> T:
    """Wait for a call in a daemon thread, which does not delay the exit."""
    answer = Future[T]()
    answer.set_running_or_notify_cancel()

    def run() -> None:
        try:
            answer.set_result(call())
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            answer.set_exception(error)

    threading.Thread(target=run, name="model", daemon=True).start()
    return await asyncio.wrap_future(answer)


def _seconds(asked_for: str | None) -> float | None:
    try:
        seconds = float(asked_for or "")
    except ValueError:
        return None
    return seconds if 0 <= seconds <= _LONGEST_ASKED_FOR else None


def _brief(thing: object) -> str:
    text = " ".join(str(thing).split()) or type(thing).__name__
    return text if len(text) <= 200 else text[:200] + "…"
