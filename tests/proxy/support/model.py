"""A model's endpoint for the wire tests: an Origin that answers chat completions."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from tests.proxy.support.client import trusting
from tests.proxy.support.origin import Origin, Seen
from warex.proxy.certificates.ca import CertificateAuthority

PATH = "/v1/chat/completions"
KEY = "sk-test-0123456789abcdef0123"


@dataclass
class Model:
    """Answers the n-th request with ``answer n``, or with the next of ``statuses``."""

    origin: Origin
    statuses: list[int] = field(default_factory=list)
    hold: asyncio.Event | None = None
    """An event that a streamed answer waits for after its first word."""
    never_ends: bool = False
    """Whether a streamed answer's body goes on after its last event until its client leaves."""

    def __post_init__(self) -> None:
        self.origin.routes[PATH] = self._speak

    @property
    def asked(self) -> list[Any]:
        """The bodies of the requests."""
        return [json.loads(seen.body) for seen in self.origin.seen]

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.origin.port}/v1"

    async def _speak(
        self, seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        text = f"answer {len(self.origin.seen)}"
        status = self.statuses.pop(0) if self.statuses else 200
        if status != 200:
            _send_complete(writer, status, b'{"error": {"message": "not now"}}')
        elif b'"stream":true' in seen.body.replace(b" ", b""):
            await self._stream(writer, text)
            if self.never_ends:
                await reader.read()
            writer.write(b"0\r\n\r\n")
        else:
            _send_complete(writer, 200, completion(text))

    async def _stream(self, writer: asyncio.StreamWriter, text: str) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Request-Id: r1\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        words = text.split()
        for number, word in enumerate(words):
            finish = "stop" if number == len(words) - 1 else None
            choice: JsonValue = {"index": 0, "delta": {"content": word}, "finish_reason": finish}
            _chunk(writer, json.dumps({"model": "m", "choices": [choice]}))
            await writer.drain()
            if number == 0 and self.hold is not None:
                await self.hold.wait()
        _chunk(writer, "[DONE]")


def completion(text: str) -> bytes:
    """Return the body of a whole answer."""
    choice: JsonValue = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    usage: JsonValue = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
    head: dict[str, JsonValue] = {"id": "c", "object": "chat.completion", "created": 0}
    return json.dumps({**head, "model": "m", "choices": [choice], "usage": usage}).encode()


def client(proxy_url: str, base_url: str, ca: CertificateAuthority, retries: int = 0) -> Any:
    """Return the openai package's client behind a proxy."""
    # Imported here, since it takes a second, also when tests are only collected.
    import openai

    return openai.OpenAI(
        api_key=KEY,
        base_url=base_url,
        max_retries=retries,
        http_client=openai.DefaultHttpxClient(proxy=proxy_url, verify=trusting(ca.certificate)),
    )


def _send_complete(writer: asyncio.StreamWriter, status: int, body: bytes) -> None:
    writer.write(
        b"HTTP/1.1 %d OK\r\nContent-Type: application/json\r\nX-Request-Id: r1\r\n"
        b"Set-Cookie: session=hush-hush\r\nContent-Length: %d\r\n\r\n" % (status, len(body))
    )
    writer.write(body)


def _chunk(writer: asyncio.StreamWriter, data: str) -> None:
    line = f"data: {data}\n\n".encode()
    writer.write(b"%x\r\n" % len(line) + line + b"\r\n")
