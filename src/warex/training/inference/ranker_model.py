"""A ranker as the server asks it: without sampling, and without a tokenizer."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from warex.exports.chat import message_texts
from warex.exports.rows import ChatMessage
from warex.training.inference.batching import Generation, GenerationRequest
from warex.training.ranking.ranker import Ranker

_UNLIMITED: Final = 2**31


@dataclass(frozen=True, slots=True)
class RankerModel:
    """Answers each request at once; words count as tokens, and temperature has no effect."""

    ranker: Ranker

    @property
    def context(self) -> int:
        """The most tokens of a prompt and its answer."""
        return _UNLIMITED

    def written(
        self, messages: Sequence[ChatMessage], tools: list[dict[str, Any]] | None
    ) -> tuple[str, int]:
        """Return messages as JSON, and their number of words."""
        return json.dumps(list(messages)), sum(len(it.split()) for it in message_texts(messages))

    def ask(self, wanted: GenerationRequest) -> None:
        """Answer a request."""
        text = self.ranker.answer(json.loads(wanted.prompt))
        wanted.deliver(Generation(text, len(text.split()), "stop"))
