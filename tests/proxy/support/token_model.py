"""A model server in vLLM's dialect, which returns token ids and log-probabilities where asked."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from tests.proxy.support.model import PATH
from tests.proxy.support.origin import Origin, Seen

PROMPT_IDS = [1, 15, 27]
WORDS = (("click", 101, -0.25), ("('7')", 102, -1.5), ("", 2, -0.001))
"""Of each answer: a token's text, id and log-probability. The last ends the answer."""


class TokenModel:
    """Each choice says the same; ``has_tokens`` False: asking for tokens changes nothing."""

    def __init__(self, origin: Origin, *, has_tokens: bool = True, status: int = 200) -> None:
        self.origin, self.has_tokens, self.status = origin, has_tokens, status
        origin.routes[PATH] = self._speak

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.origin.port}/v1"

    @property
    def asked(self) -> list[Any]:
        return [json.loads(seen.body) for seen in self.origin.seen]

    async def _speak(
        self, seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        asked = json.loads(seen.body)
        if self.status != 200:
            body = b'{"error": {"message": "not now", "logprobs": [1]}}'
        elif asked.get("stream"):
            body = b"".join(b"data: %s\n\n" % it for it in (*self._events(asked), b"[DONE]"))
        else:
            body = self._complete_answer(asked)
        kind = b"text/event-stream" if asked.get("stream") else b"application/json"
        head = b"HTTP/1.1 %d OK\r\nContent-Type: %s\r\n" % (self.status, kind)
        if not asked.get("stream"):
            writer.write(head + b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            return
        writer.write(head + b"Transfer-Encoding: chunked\r\n\r\n")
        for begin in range(0, len(body), 100):  # Events are divided anywhere.
            piece = body[begin : begin + 100]
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
        writer.write(b"0\r\n\r\n")

    def _complete_answer(self, asked: Mapping[str, Any]) -> bytes:
        text = "".join(word for word, _, _ in WORDS)
        message: dict[str, Any] = {"role": "assistant", "content": text, "tool_calls": []}
        if asked.get("tools"):
            function = {"name": "click", "arguments": '{"logprobs": [7]}'}
            call = {"id": "t1", "type": "function", "function": function}
            message |= {"content": None, "tool_calls": [call]}
        choices = [
            {
                "index": index,
                "message": message,
                "logprobs": self._logprobs(asked, WORDS),
                "finish_reason": "tool_calls" if asked.get("tools") else "stop",
                "token_ids": self._ids(asked, WORDS),
            }
            for index in range(asked.get("n", 1))
        ]
        usage = {"prompt_tokens": 3, "completion_tokens": 3, "total_tokens": 6}
        return _written({**_head(""), "choices": choices, "usage": usage} | self._prompt(asked))

    def _events(self, asked: Mapping[str, Any]) -> list[bytes]:
        events: list[dict[str, Any]] = []
        indices = range(asked.get("n", 1))
        for index in indices:
            delta = {"role": "assistant", "content": ""}
            first = {"index": index, "delta": delta, "logprobs": None, "finish_reason": None}
            events.append({**_head(".chunk"), "choices": [first]} | self._prompt(asked))
        for word in WORDS:
            for index in indices:
                choice = self._delta(asked, index, word)
                if choice is not None:
                    events.append({**_head(".chunk"), "choices": [choice]})
        return [_written(event) for event in events]

    def _delta(
        self, asked: Mapping[str, Any], index: int, word: tuple[str, int, float]
    ) -> dict[str, Any] | None:
        """Return an event's choice; None: an event that vLLM sends only for its tokens."""
        finish = "stop" if word is WORDS[-1] else None
        delta: dict[str, Any] = {"content": word[0]}
        if asked.get("tools"):
            call = {"index": 0, "function": {"name": "click", "arguments": word[0]}}
            # A tool parser holds its first token back.
            delta = {} if word is WORDS[0] else {"tool_calls": [call]}
        ids, logprobs = self._ids(asked, (word,)), self._logprobs(asked, (word,))
        if delta == {} and finish is None and ids is None and logprobs is None:
            return None
        return {
            "index": index,
            "delta": delta,
            "logprobs": logprobs,
            "finish_reason": finish,
            "token_ids": ids,
        }

    def _prompt(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        returned = self.has_tokens and asked.get("return_token_ids")
        return {"prompt_token_ids": PROMPT_IDS if returned else None}

    def _ids(
        self, asked: Mapping[str, Any], words: tuple[tuple[str, int, float], ...]
    ) -> list[int] | None:
        if not (self.has_tokens and asked.get("return_token_ids")):
            return None
        return [id for _, id, _ in words]

    def _logprobs(
        self, asked: Mapping[str, Any], words: tuple[tuple[str, int, float], ...]
    ) -> dict[str, Any] | None:
        if not (self.has_tokens and asked.get("logprobs")):
            return None
        return {
            "content": [
                {
                    "token": text,
                    "logprob": logprob,
                    "bytes": list(text.encode()),
                    "top_logprobs": [],
                }
                for text, _, logprob in words
            ]
        }


def _head(part: str) -> dict[str, Any]:
    return {"id": "c", "object": f"chat.completion{part}", "created": 0, "model": "policy"}


def _written(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
