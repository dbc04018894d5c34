"""A softmax policy over a page's legal actions, sampled: a linear ranker of hashed words."""

from ast import literal_eval
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np

from warex.exports.prompt_page import PromptPage
from warex.training.ranking.candidates import ActionTemplate, Candidate, candidates
from warex.training.ranking.features import features

type Floats = np.ndarray[Any, np.dtype[np.float64]]

BUCKETS: Final = 2**14
_AGENT: Final = "http-agent"
TEMPLATES: Final = tuple(
    ActionTemplate(action=action, text=text, roles=roles, vocabulary=_AGENT)
    for action, text, roles in (
        ("click", "click('⟦element⟧')", ("link", "button")),
        ("send_msg_to_user", "send_msg_to_user('⟦text⟧')", ("text",)),
        ("send_msg_to_user", "send_msg_to_user('Done.')", ()),
        ("reload", "reload()", ()),
        ("go_back", "go_back()", ()),
        ("report_infeasible", "report_infeasible('It does not work.')", ()),
    )
)


@dataclass(frozen=True, slots=True)
class Choice:
    """An action that was sampled, with what its gradient needs."""

    actions: Sequence[Sequence[int]]
    """The features of each legal action."""
    chosen: int


class Policy:
    """A weight for each bucket of features."""

    def __init__(self) -> None:
        self.weights: Floats = np.zeros(BUCKETS)

    def probabilities(self, actions: Sequence[Sequence[int]]) -> Floats:
        """Return the probability of each action."""
        scores = np.array([self.weights[indexes].sum() for indexes in actions])
        weights = np.exp(scores - scores.max())
        return np.asarray(weights / weights.sum())

    def choose(self, page: PromptPage, number: float | None) -> tuple[Candidate, Choice]:
        """Sample an action of a page; without a number in [0, 1) take the most likely."""
        some, actions = legal(page)
        shares = self.probabilities(actions)
        place = int(shares.argmax())
        if number is not None:
            place = min(int(np.searchsorted(shares.cumsum(), number)), len(some) - 1)
        return some[place], Choice(actions, place)

    def step(self, choices: Sequence[tuple[Choice, float]], rate: float) -> None:
        """Ascend the mean of advantage times log-probability."""
        gradient = np.zeros(BUCKETS)
        for choice, advantage in choices:
            shares = self.probabilities(choice.actions)
            np.add.at(gradient, choice.actions[choice.chosen], advantage)
            for share, indexes in zip(shares, choice.actions, strict=True):
                if share > 1e-6:
                    np.subtract.at(gradient, indexes, advantage * share)
        self.weights += rate * gradient / max(1, len(choices))


def answer_of(candidate: Candidate) -> str:
    """Return what an action answers; empty if it is no answer."""
    if candidate.template.action != "send_msg_to_user":
        return ""
    return str(literal_eval(candidate.text.removeprefix("send_msg_to_user")))


@lru_cache(maxsize=4096)
def legal(page: PromptPage) -> tuple[list[Candidate], list[list[int]]]:
    """Return a page's legal actions and their features."""
    some = candidates(page, TEMPLATES)
    return some, features(page, some, BUCKETS)
