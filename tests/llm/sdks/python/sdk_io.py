"""The inputs of the SDKs' drivers, and the recorder of their results."""

import asyncio
import base64
import json
import zlib
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

type Action = Any
"""A callable without arguments, or a lambda with defaults."""

ORIGINS = {
    "openai": "https://api.openai.com",
    "azure": "https://shop.openai.azure.com",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
    "vertex": "https://us-east5-aiplatform.googleapis.com",
    "bedrock": "https://bedrock-runtime.us-east-1.amazonaws.com",
    "ollama": "http://ollama.test",
    "mistral": "https://api.mistral.ai",
    "cohere": "https://api.cohere.com",
}
"""The default origin of each vendor's SDK, except Ollama's, which is this machine."""
COMPLETE = ("text", "packed", "tools", "length", "busy", "long", "overloaded")
STREAMED = (*COMPLETE, "broken", "cut")
PARAMETERS: dict[str, Any] = {
    "click": {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "note": {"type": "string"}},
        "required": ["id", "note"],
    },
    "goto": {
        "type": "object",
        "properties": {"url": {"type": "string"}},
        "required": ["url"],
    },
}
SYSTEM = "You are kind."
RESULT = "it was clicked"
FUNCTIONS = [
    {"type": "function", "function": {"name": name, "description": name, "parameters": it}}
    for name, it in PARAMETERS.items()
]


def question(case: str) -> str:
    return f"In which room is the “Büro”? case:{case}\n"


class SdkRecorder:
    """The vendors' origins, and the results of an SDK's driver by name."""

    def __init__(self, at: Mapping[str, str]) -> None:
        self._at = at
        self.results: dict[str, Any] = {}

    def base(self, vendor: str) -> str | None:
        """Return a vendor's origin; None for the SDK's default."""
        return self._at.get(vendor)

    def origin(self, vendor: str) -> str:
        """Return a vendor's origin, for an SDK that requires one."""
        return self._at.get(vendor) or ORIGINS[vendor]

    def record(self, name: str, action: Action) -> None:
        """Call ``action``; record the value or the error of the SDK."""
        assert name not in self.results, name
        try:
            self.results[name] = {"value": plain(action())}
        except Exception as error:  # noqa: BLE001 - whatever an SDK raises
            self.results[name] = {"error": described(error)}

    def record_events(self, name: str, action: Action) -> None:
        """Call ``action``; record every event of the stream, and the error that ended it."""
        got: list[Any] = []

        def one_by_one() -> list[Any]:
            for event in action():
                got.append(plain(event))
            return got

        self.record(name, one_by_one)
        self.results[name]["events"] = got

    def record_async(self, name: str, action: Action) -> None:
        """Call ``action`` in an event loop and record its result."""
        self.record(name, lambda: asyncio.run(action()))


def plain(value: Any) -> Any:
    """Return an SDK's value as JSON."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, bytes):
        return {"bytes": sha256(value).hexdigest(), "length": len(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(it) for key, it in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(it) for it in value]
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(mode="json"))
    if hasattr(value, "dict"):
        return plain(value.dict())
    return repr(value)


def described(error: BaseException) -> Any:
    """Return an error as its user sees it."""
    seen = ("status_code", "code", "body", "type", "param", "request_id", "response_json", "error")
    attributes = {name: plain(getattr(error, name)) for name in seen if hasattr(error, name)}
    cause = error.__cause__
    return {
        "class": type(error).__name__,
        "message": str(error),
        **{name: it for name, it in attributes.items() if json.dumps(it).find(" object at 0x") < 0},
        **({"cause": type(cause).__name__} if cause else {}),
    }


def image(seed: str, side: int = 40) -> bytes:
    """Return a PNG of noise, which a test can recognise."""
    row = b"".join(sha256(f"{seed}{n}".encode()).digest() for n in range(side))[: side * 3]
    rows = b"".join(b"\0" + row[n:] + row[:n] for n in range(side))

    def chunk(name: bytes, data: bytes) -> bytes:
        checked = zlib.crc32(name + data).to_bytes(4)
        return len(data).to_bytes(4) + name + data + checked

    head = side.to_bytes(4) + side.to_bytes(4) + bytes([8, 2, 0, 0, 0])
    pixels = chunk(b"IDAT", zlib.compress(rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + pixels + chunk(b"IEND", b"")


IMAGES = [image("one"), image("two")]
IN_BASE64 = [base64.b64encode(it).decode() for it in IMAGES]
