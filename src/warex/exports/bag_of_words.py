"""Tells failures from clean rows by the words of texts alone: a logistic regression on counts.

scikit-learn belongs to the extra ``ranker``. Its import takes seconds, so that it is imported when
words are first counted.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from warex.exports.chat import message_texts
from warex.exports.rows import ChatMessage


def can_count_words() -> bool:
    """Whether scikit-learn is installed."""
    return find_spec("sklearn") is not None


def prompt_text(prompt: Sequence[ChatMessage]) -> str:
    """Return a prompt as text, without the system message."""
    return "\n".join(message_texts([it for it in prompt if it.get("role") != "system"]))


class BagOfWords:
    """The counts of the words of texts, of which some are labelled and others are asked about."""

    def __init__(self, texts: Sequence[str], failing: Sequence[bool]) -> None:
        """Count the words; the labels of texts that are only asked about are not read.

        Raises ValueError if no text has a word.
        """
        from sklearn.feature_extraction.text import CountVectorizer

        self._counts: Any = CountVectorizer(token_pattern=r"\w+").fit_transform(texts)
        self._failing = failing

    def failures(self, learnt: Sequence[int], asked: Sequence[int]) -> list[bool]:
        """Return which texts are taken for failures; both arguments are places of texts."""
        from sklearn.linear_model import LogisticRegression

        kinds = [self._failing[at] for at in learnt]
        if len(set(kinds)) == 1:
            return kinds[:1] * len(asked)
        model = LogisticRegression(max_iter=1000, class_weight="balanced")
        model.fit(self._counts[list(learnt)], kinds)
        return [bool(it) for it in model.predict(self._counts[list(asked)])]
