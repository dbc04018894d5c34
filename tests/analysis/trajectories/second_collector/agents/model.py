"""How the agents talk to their model: three APIs behind one conversation."""

import json
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx
from openai import OpenAI, OpenAIError


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool in an answer."""

    id: str
    name: str
    arguments: Any
    """None if the model's JSON is broken."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer."""

    text: str
    calls: tuple[Call, ...] = ()


class ModelFailed(Exception):
    """The model's API gave no answer."""


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


@dataclass(slots=True)
class Conversation:
    """The messages so far, in the API's own form."""

    api: str
    system: str
    tools: list[str]
    retries: int = 2
    screen: str | None = None
    """The text on the screenshot, which the scripted model cannot see."""
    items: list[Any] = field(default_factory=list)

    def show(self, text: str, image: str | None = None) -> None:
        """Add a message of the user."""
        content: Any = text
        if image and self.api == "anthropic":
            content = [{"type": "text", "text": text}, _anthropic_image(image)]
        elif image and self.api == "responses":
            url = f"data:image/png;base64,{image}"
            content = [
                {"type": "input_text", "text": text},
                {"type": "input_image", "image_url": url, "detail": "auto"},
            ]
        self.items.append({"role": "user", "content": content})

    def result(self, call: Call, text: str, image: str | None = None) -> None:
        """Add the result of a tool."""
        match self.api:
            case "chat":
                self.items.append({"role": "tool", "tool_call_id": call.id, "content": text})
            case "anthropic":
                content: Any = [{"type": "text", "text": text}] if text else []
                content += [_anthropic_image(image)] if image else []
                block = {"type": "tool_result", "tool_use_id": call.id, "content": content}
                if self.items[-1]["role"] == "user":
                    self.items[-1]["content"].append(block)
                else:
                    self.items.append({"role": "user", "content": [block]})
            case _:
                output: Any = text
                kind = "function_call_output"
                if call.name == "computer":
                    kind = "computer_call_output"
                    url = f"data:image/png;base64,{image}"
                    output = {"type": "computer_screenshot", "image_url": url}
                self.items.append({"type": kind, "call_id": call.id, "output": output})

    def ask(self) -> Reply:
        """Call the model; add its answer."""
        headers = {} if self.screen is None else {"X-Screen": quote(self.screen)}
        if self.api == "anthropic":
            return self._anthropic(headers)
        sdk = OpenAI(
            base_url="https://api.openai.com/v1",
            api_key="none",
            max_retries=self.retries,
            default_headers=headers,
            timeout=25,
        )
        try:
            return self._chat(sdk) if self.api == "chat" else self._responses(sdk)
        except OpenAIError as error:
            raise ModelFailed(str(error)) from error
        except (ValueError, AttributeError, TypeError, IndexError) as error:
            raise ModelFailed(f"not an answer: {error}") from error

    def _chat(self, sdk: OpenAI) -> Reply:
        kinds: list[Any] = [
            {"type": "function", "function": {"name": n, "parameters": {"type": "object"}}}
            for n in self.tools
        ]
        messages: list[Any] = [{"role": "system", "content": self.system}, *self.items]
        more: dict[str, Any] = {"tools": kinds} if kinds else {}
        got = sdk.chat.completions.create(model="m-large", messages=messages, **more)
        message = got.choices[0].message
        calls = tuple(
            Call(c.id, c.function.name, _loaded(c.function.arguments))
            for c in message.tool_calls or []
            if c.type == "function"
        )
        self.items.append(message.model_dump(exclude_none=True))
        return Reply(message.content or "", calls)

    def _responses(self, sdk: OpenAI) -> Reply:
        kinds: list[Any] = [
            {"type": "computer_use_preview", "display_width": 1024, "display_height": 700}
            | {"environment": "browser"}
            if n == "computer"
            else {"type": "function", "name": n, "parameters": {"type": "object"}, "strict": False}
            for n in self.tools
        ]
        got = sdk.responses.create(
            model="m-large", instructions=self.system, input=self.items, tools=kinds
        )
        calls, text = [], ""
        for item in got.output:
            if item.type == "function_call":
                calls.append(Call(item.call_id, item.name, _loaded(item.arguments)))
            elif item.type == "computer_call" and item.action is not None:
                action = item.action.model_dump(exclude_none=True)
                calls.append(Call(item.call_id, "computer", action))
            elif item.type == "message":
                text += "".join(getattr(part, "text", "") for part in item.content)
            self.items.append(item.model_dump(exclude_none=True))
        return Reply(text, tuple(calls))

    def _anthropic(self, headers: dict[str, str]) -> Reply:
        kinds: list[Any] = [
            {"type": "computer_20250124", "name": "computer"}
            | {"display_width_px": 1024, "display_height_px": 700}
            if n == "computer"
            else {"name": n, "input_schema": {"type": "object"}}
            for n in self.tools
        ]
        body = {
            **{"model": "m-large", "max_tokens": 1000, "system": self.system},
            **{"messages": self.items, "tools": kinds},
        }
        headers = headers | {"x-api-key": "none", "anthropic-version": "2023-06-01"}
        failure = ""
        for attempt in range(self.retries + 1):
            time.sleep(0.5 * attempt)
            try:
                url = "https://api.anthropic.com/v1/messages"
                got = httpx.post(url, json=body, headers=headers, timeout=25)
                if got.status_code == 200:
                    content = got.json()["content"]
                    break
                failure = f"{got.status_code} {got.text[:100]}"
            except (httpx.HTTPError, ValueError, KeyError) as error:
                failure = str(error)
        else:
            raise ModelFailed(failure)
        self.items.append({"role": "assistant", "content": content})
        text = "".join(b["text"] for b in content if b["type"] == "text")
        calls = (Call(b["id"], b["name"], b["input"]) for b in content if b["type"] == "tool_use")
        return Reply(text, tuple(calls))


def _anthropic_image(image: str) -> dict[str, Any]:
    source = {"type": "base64", "media_type": "image/png", "data": image}
    return {"type": "image", "source": source}
