"""Which tokens may follow in an answer that is bound to a prompt's legal actions."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from warex.training.ranking.legal import LegalAnswer

_MOST_THOUGHT: Final = 64
"""Tokens of a thought; then its line ends."""
_LINE: Final = "\n"


@dataclass(frozen=True, slots=True)
class Words:
    """A tokenizer's two directions."""

    encode: Callable[[str], list[int]]
    decode: Callable[[int], str]
    """Of one token."""

    def encode_on_new_line(self, text: str) -> list[int]:
        """Return a text's tokens as they follow a line's end: without a space before them."""
        line, both = self.encode(_LINE), self.encode(_LINE + text)
        return both[len(line) :] if both[: len(line)] == line else self.encode(text)


class TokenTrie:
    """Sequences of tokens as a tree."""

    def __init__(self, sequences: Iterable[Sequence[int]], ends: Collection[int]) -> None:
        """Build the tree; each sequence may be followed by any of ``ends``."""
        self._root: dict[int, Any] = {}
        for sequence in sequences:
            node = self._root
            for token in sequence:
                node = node.setdefault(token, {})
            node.update({end: {} for end in ends})

    def allowed(self, prefix: Sequence[int]) -> list[int]:
        """Return the tokens that may follow; empty behind an end, or if nothing begins so."""
        node = self._root
        for token in prefix:
            if token not in node:
                return []
            node = node[token]
        return list(node)


class AnswerConstraint:
    """Binds one answer to a legal action and its end, behind a line of thought if it has one."""

    def __init__(self, legal: LegalAnswer, words: Words, ends: Collection[int]) -> None:
        """Build the tree of the legal actions' tokens."""
        self._trie = TokenTrie(map(words.encode_on_new_line, legal.texts), ends)
        self._thought = legal.thought
        self._words = words

    def allowed(self, tokens: Sequence[int]) -> list[int] | None:
        """Return the tokens that may follow an answer's first ones; None: any but an end.

        Empty if the answer has ended.
        """
        if not self._thought:
            return self._trie.allowed(tokens)
        for at, token in enumerate(tokens):
            if self._words.decode(token).endswith(_LINE):
                return self._trie.allowed(tokens[at + 1 :])
        return None if len(tokens) < _MOST_THOUGHT else self._words.encode(_LINE)[-1:]
