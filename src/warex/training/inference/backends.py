"""Answers from a local model or from an OpenAI-compatible endpoint."""

import json
import os
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from typing import Any, Final
from urllib.parse import urlsplit

from warex.errors import InputError, MachineError
from warex.exports.rows import ChatMessage, Row
from warex.training.inference.batching import Generation, GenerationRequest, generate
from warex.training.inference.tool_calls import message_of
from warex.training.model.loading import LoadedModel
from warex.training.ranking.legal import LegalAnswers
from warex.training.trl_data import for_chat_template

type Answered = tuple[Row, ChatMessage]

MAX_NEW_TOKENS: Final = 96
"""Of an answer."""
_TRIES: Final = 3
_TIMEOUT: Final = 300.0
_ACTION_LINE: Final = re.compile(r"^[ \t]*\w+[ \t]*(?:\(.*\)|\[.*\])[ \t]*\n", re.MULTILINE)


def has_action(text: str) -> bool:
    """Whether a partial answer has its action on a complete line."""
    return "```" not in text and "<" not in text and _ACTION_LINE.search(text) is not None


def answers_by_model(
    loaded: LoadedModel,
    rows: Sequence[Row],
    adapter: str | None = None,
    *,
    batch: int = 8,
    done: Callable[[str], bool] = lambda text: False,
    legal: LegalAnswers | None = None,
) -> Iterator[Answered]:
    """Yield each row with the model's greedy answer, batched by length.

    ``done`` returns whether a partial answer is sufficient; ``legal`` binds answers to the
    elements of the page.
    """
    written = {
        row.id: loaded.tokenizer.apply_chat_template(
            for_chat_template(row.prompt),
            tools=row.tools,
            add_generation_prompt=True,
            tokenize=False,
        )
        for row in rows
    }
    waiting = sorted(rows, key=lambda row: -len(written[row.id]))
    for start in range(0, len(waiting), batch):
        some = waiting[start : start + batch]
        answers = dict.fromkeys((row.id for row in some), "")

        def wanted(row: Row, answers: dict[str, str] = answers) -> GenerationRequest:
            def deliver(generated: Generation) -> None:
                answers[row.id] = generated.text

            return GenerationRequest(
                written[row.id], adapter, 0, 1, MAX_NEW_TOKENS, (), deliver, done,
                legal.to(row.prompt) if legal else None,
            )  # fmt: skip

        generate(loaded, [wanted(row) for row in some])
        for row in some:
            yield row, message_of(answers[row.id])


def answers_by_endpoint(
    url: str, model: str, rows: Sequence[Row], *, at_once: int = 4
) -> Iterator[Answered]:
    """Yield each row with an endpoint's answer, in order; the key is ``OPENAI_API_KEY``.

    Raises InputError if the URL is invalid or the endpoint refuses, MachineError if it cannot be
    reached.
    """
    if not _is_address(url):
        raise InputError(f"--endpoint {url!r} is not an http:// or https:// address")
    if not url.isascii():
        raise InputError(f"--endpoint {url!r} has a character that is not ASCII: write it as %XX")

    with ThreadPoolExecutor(at_once) as threads:
        yield from threads.map(lambda row: (row, _completion(url, model, row)), rows)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:  # An open bracket: ``http://[``.
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _completion(url: str, model: str, row: Row) -> ChatMessage:
    body: dict[str, Any] = {
        "model": model,
        "messages": row.prompt,
        "max_tokens": MAX_NEW_TOKENS,
        "temperature": 0,
    }
    if row.tools:
        body["tools"] = row.tools
    key = os.environ.get("OPENAI_API_KEY") or "none"
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(
        f"{url.rstrip('/')}/chat/completions", json.dumps(body).encode(), headers
    )
    why = ""
    for _ in range(_TRIES):
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:
                return _message(answer.read(), url)
        except urllib.error.HTTPError as error:
            with error:
                why = f"answered {error.code}: {error.read(500).decode('utf-8', 'replace')}"
            if error.code not in (408, 409, 429) and error.code < 500:
                raise InputError(f"{url} {why}") from None
        except (OSError, HTTPException) as error:
            why = f"cannot be reached: {error}"
    raise MachineError(f"{url} {why}")


def _message(data: bytes, url: str) -> ChatMessage:
    try:
        message = json.loads(data)["choices"][0]["message"]
        content, calls = message.get("content") or "", message.get("tool_calls")
    except (ValueError, LookupError, TypeError, AttributeError):
        shown = data[:200].decode("utf-8", "replace")
        raise InputError(f"{url} did not answer a chat completion: {shown}") from None
    reply: ChatMessage = {"role": "assistant", "content": content}
    return {**reply, "tool_calls": calls} if calls else reply
