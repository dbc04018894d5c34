"""python -m tests.llm.sdks.python.models LOG: fake APIs of the vendors, on ports of loopback.

It prints the ports by vendor as JSON. The case in a request's text (``case:tools``) determines the
answer; each answer is logged as a line of JSON in LOG, in a format of no vendor.
"""

import base64
import gzip
import json
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import brotli
import zstandard

from tests.llm.sdks.python.apis.anthropic_messages import AnthropicMessages
from tests.llm.sdks.python.apis.base import Api, Call, Reply, Tokens
from tests.llm.sdks.python.apis.bedrock import BedrockConverse, BedrockInvoke
from tests.llm.sdks.python.apis.cohere import CohereChat
from tests.llm.sdks.python.apis.gemini import Gemini
from tests.llm.sdks.python.apis.ollama import OllamaChat, OllamaGenerate
from tests.llm.sdks.python.apis.openai_chat import MistralChat, OpenAiChat
from tests.llm.sdks.python.apis.openai_responses import OpenAiResponses
from tests.llm.sdks.python.unknown_apis import answer_of

VENDORS: dict[str, tuple[Api, ...]] = {
    "openai": (OpenAiChat(), OpenAiResponses()),
    "azure": (OpenAiChat(), OpenAiResponses()),
    "anthropic": (AnthropicMessages(),),
    "google": (Gemini(),),
    "vertex": (Gemini(), AnthropicMessages()),
    "bedrock": (BedrockConverse(), BedrockInvoke()),
    "ollama": (OllamaChat(), OllamaGenerate()),
    "mistral": (MistralChat(),),
    "cohere": (CohereChat(),),
}
TEXT = "Das Büro liegt im Raum „Wacholder“ 🌿.\n\n“Fine”, said it. "
THINKING = "Where may it be?\nIn a room."
CALLS = (
    Call("call00001", "click", {"id": 12, "note": 'naïve "quotes" \\ and\n lines'}),
    Call("call00002", "goto", {"url": "https://shop.example/?q=ä&b=1"}),
)
RESULT = b"it was clicked"
"""A tool's result, which a request with results contains."""
_CASE = re.compile(rb"case:([a-z]+)")
_IMAGE = re.compile(rb"[A-Za-z0-9+/_-]{400,}={0,2}")
_HALVES = str.maketrans("-_", "+/")
_CODINGS: dict[str, Any] = {
    "zstd": lambda body: zstandard.ZstdCompressor().compress(body),
    "br": brotli.compress,
    "gzip": lambda body: gzip.compress(body, mtime=0),
    "deflate": zlib.compress,
}
_COMPARED = ("x-api-key", "x-goog-api-key", "content-type", "accept", "accept-encoding")
"""Headers whose values are the same in every run, unlike a signature."""


def answer_in(case: str, key: str) -> Reply:
    """Return a model's answer in a case; its numbers of tokens depend on the key."""
    some = zlib.crc32(key.encode())
    tokens = Tokens(1000 + some % 997, 60 + some % 31, 300 + some % 53, 100 + some % 7)
    text = Reply(TEXT, tokens)
    thought = replace(tokens, reasoning=20 + some % 11)
    match case:
        case "tools":
            return replace(text, text="I look.", calls=CALLS, finish="tool_calls")
        case "silent":
            return replace(text, text="", calls=CALLS[:1], finish="tool_calls")
        case "thinking":
            return replace(text, thinking=THINKING, tokens=thought)
        case "length":
            return replace(text, finish="length")
        case "filter":
            return replace(text, text="Das", finish="content_filter")
        case "refusal":
            return replace(text, text="I cannot help with that.", finish="refusal")
        case _:
            return text


def compressed(body: bytes, accepted: str, number: int) -> tuple[bytes, str]:
    """Return a body under one of the codings that a client accepts, each in its turn."""
    offered = [it for it in _CODINGS if re.search(rf"\b{it}\b", accepted)]
    if not offered:
        return body, ""
    coding = offered[number % len(offered)]
    return _CODINGS[coding](body), coding


class Models:
    """What all the servers share: the log, and how often each request came."""

    def __init__(self, log: Path) -> None:
        self._log = log.open("w", encoding="utf-8")
        self._lock = Lock()
        self._came: Counter[str] = Counter()

    def note(self, **entry: Any) -> None:
        with self._lock:
            print(json.dumps(entry, ensure_ascii=False), file=self._log, flush=True)

    def times(self, key: str) -> int:
        """Return how often this came before."""
        with self._lock:
            self._came[key] += 1
            return self._came[key] - 1


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    models: Models
    vendor: str

    def do_GET(self) -> None:
        self._send_complete(200, answer_of(self.vendor, "GET", self.path.partition("?")[0])[0])

    def do_POST(self) -> None:
        raw = self._body()
        path = self.path.partition("?")[0]
        api = next((it for it in VENDORS[self.vendor] if it.path.search(path)), None)
        case = _CASE.search(raw)
        if api is None or case is None:
            answer, generates = answer_of(self.vendor, "POST", path)
            self.models.note(vendor=self.vendor, path=path, generates=generates)
            return self._send_complete(200, answer)
        self._call(api, case[1].decode(), path, json.loads(raw), raw)

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        raw = b""
        while size := int(self.rfile.readline(), 16):
            raw += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return raw

    def _call(self, api: Api, case: str, path: str, body: Any, raw: bytes) -> None:
        digest = sha256(raw).hexdigest()
        stream, model = api.streams(path, body), api.model(path, body)
        earlier = self.models.times(f"{self.vendor} {path} {digest}")
        entry: dict[str, Any] = {
            "vendor": self.vendor,
            "path": path,
            "case": case,
            "family": api.family,
            "stream": stream,
            "asked": model,
            "offered": api.offered(body),
            "images": [_image(it) for it in _IMAGE.findall(raw)],
            "body": digest,
            "headers": {name: self.headers[name] for name in _COMPARED if name in self.headers},
            "named": sorted(name.lower() for name in self.headers),
        }
        why = {"busy": "busy" if earlier % 2 == 0 else ""}.get(case, case)
        if why in ("busy", "long", "overloaded"):
            refused = api.refusal(why)
            fields = {"status": refused.status, "finish": "error", "error": refused.message}
            self.models.note(**entry, **fields)
            return self._send_complete(refused.status, refused.body, refused.headers)
        if case == "loop":
            case = "text" if RESULT in raw else "tools"
        reply = api.able(answer_in(case, f"{self.vendor}{path}{case}{stream}"), body)
        finish, error, breaks = reply.finish, None, api.breaks()
        if case == "cut":
            finish = "cut"
        elif case == "broken":
            finish, error = ("error", breaks[1]) if breaks else ("cut", None)
        numbered = getattr(api, "numbered", None)
        counted = not stream or numbered is None or numbered(body) or api.family != "openai_chat"
        self.models.note(
            **entry,
            status=200,
            **{**asdict(reply), "finish": finish, "error": error},
            counted=counted or self.vendor == "mistral",
        )
        if not stream:
            return self._send_complete(200, api.complete(reply, body, model), pack=case == "packed")
        events = [*api.events(reply, body, model)]
        if case in ("cut", "broken"):
            events = events[: (len(events) + 1) // 2]
        if case == "broken":
            events += [breaks[0]] if breaks else []
        return self._stream(api, events, pack=case == "packed", cut=case == "cut")

    def _head(self, status: int, headers: Mapping[str, str], body: bytes = b"") -> None:
        fields = {"x-a-header": "kept", **headers}
        lines = [f"HTTP/1.1 {status} So", *(f"{name}: {it}" for name, it in fields.items())]
        # In one piece: a client that needs only the head may close before the body.
        self.wfile.write("".join(f"{line}\r\n" for line in [*lines, ""]).encode() + body)

    def _send_complete(
        self,
        status: int,
        reply: Any,
        headers: Mapping[str, str] | None = None,
        *,
        pack: bool = False,
    ) -> None:
        sent, coding = json.dumps(reply, ensure_ascii=False).encode(), ""
        if pack:
            number = self.models.times(self.vendor)
            sent, coding = compressed(sent, self.headers.get("accept-encoding", ""), number)
        more = {"content-encoding": coding} if coding else {}
        kind = {"content-type": "application/json", "content-length": str(len(sent))}
        self._head(status, {**kind, **(headers or {}), **more}, sent)

    def _stream(self, api: Api, events: list[bytes], *, pack: bool, cut: bool) -> None:
        coding, accepted = "", self.headers.get("accept-encoding", "")
        if pack and "gzip" in accepted:
            coding = "gzip"
        more = {"content-encoding": coding} if coding else {}
        kind = {"content-type": api.stream_type, "transfer-encoding": "chunked"}
        self._head(200, {**kind, **more})
        for piece in _packed_pieces(events) if coding else _pieces(events):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        if cut:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        pass


def _pieces(events: list[bytes]) -> Iterator[bytes]:
    """Yield a stream in pieces whose ends are not those of its events."""
    for event in events:
        yield event[:7]
        if event[7:]:
            yield event[7:]


def _packed_pieces(events: list[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(wbits=31)
    for event in events:
        yield packer.compress(event) + packer.flush(zlib.Z_SYNC_FLUSH)
    yield packer.flush()


def _image(data: bytes) -> str:
    text = data.decode().translate(_HALVES)
    return sha256(base64.b64decode(text + "=" * (-len(text) % 4))).hexdigest()


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report errors, except that a client closed the connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def main() -> None:
    models, ports = Models(Path(sys.argv[1])), {}
    for vendor in VENDORS:
        handler = type(vendor, (Handler,), {"models": models, "vendor": vendor})
        server = Server(("127.0.0.1", 0), handler)
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        ports[vendor] = server.server_address[1]
    print(json.dumps(ports), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
