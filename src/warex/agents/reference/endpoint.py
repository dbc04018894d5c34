"""The model: any endpoint that speaks OpenAI's chat completions."""

from collections.abc import Mapping
from typing import Any

RETRIES = 2
"""How often the client itself tries again after a failed call."""

TIMEOUT = 300.0
"""Seconds that one answer may take."""


class ModelError(Exception):
    """The endpoint cannot be used; the message is one sentence."""


class Endpoint:
    """One model at one address."""

    def __init__(self, model: str, base_url: str | None, environment: Mapping[str, str]) -> None:
        """Connect lazily: nothing is sent before the first question.

        Raises:
            ModelError: there is no key, and no base URL of a server that may need none.
        """
        # Here, not above: it takes most of a second, which is spent while the browser starts.
        import openai

        base_url = base_url or environment.get("OPENAI_BASE_URL") or None
        key = environment.get("OPENAI_API_KEY") or ("none" if base_url else None)
        if key is None:
            raise ModelError("OPENAI_API_KEY is not set: set it, or name a server by --base-url.")
        self.model = model
        self._openai = openai
        try:
            self._client = openai.AsyncOpenAI(
                api_key=key, base_url=base_url, max_retries=RETRIES, timeout=TIMEOUT
            )
        except Exception as error:  # noqa: BLE001 - httpx refuses bad addresses in many ways
            raise ModelError(f"The base URL {base_url!r} cannot be used: {_brief(error)}") from None
        self.address = str(self._client.base_url)

    async def ask(self, messages: list[dict[str, Any]]) -> str:
        """Return the model's answer, which may be empty.

        Raises:
            ModelError: refused, unreachable, or answered with something else than a completion.
        """
        where = f"The model endpoint {self.address}"
        try:
            answer: object = await self._client.chat.completions.create(
                model=self.model,
                messages=messages,  # type: ignore[arg-type]
            )
        except self._openai.APIStatusError as error:
            raise ModelError(f"{where} answered {error.status_code}: {_brief(error)}") from None
        except self._openai.APIConnectionError as error:
            cause = error.__cause__ or error
            raise ModelError(f"{where} cannot be reached: {_brief(cause)}") from None
        except Exception as error:  # noqa: BLE001 - rubbish makes the client raise whatever it likes
            raise ModelError(f"{where} did not answer a completion: {_brief(error)}") from None
        return self._content(answer, where)

    def _content(self, answer: object, where: str) -> str:
        """Read the text out of an answer; the client does not check what a server sends."""
        choices = getattr(answer, "choices", None)
        message = (
            getattr(choices[0], "message", None) if isinstance(choices, list) and choices else None
        )
        content = getattr(message, "content", None)
        if message is None or not isinstance(content, str | None):
            raise ModelError(f"{where} did not answer a completion: {_brief(answer)}")
        return content or ""

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _brief(thing: object) -> str:
    text = " ".join(str(thing).split()) or type(thing).__name__
    return text if len(text) <= 200 else text[:200] + "…"
