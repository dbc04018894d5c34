"""What the ids of elements in an action stand for, as the prompt describes them."""

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from warex.analysis.steps.model_steps import prompt_messages
from warex.text.lazy_pattern import lazy_re

_ID = r"[A-Za-z]{0,3}\d{1,5}"
_MARKED = lazy_re(rf"\[(?:ref=|id=|bid=|index=)?({_ID})\]|\b(?:bid|ref|index|id)=[\"']?({_ID})\b")
"""How observations mark an element: ``[12] button 'Buy'``, ``button "Buy" [ref=e12]``."""
_IN_ACTION = lazy_re(
    rf"(?<=['\"]){_ID}(?=['\"])"
    r"|(?<=(?i:index)['\"]: )\d{1,5}\b|(?<=(?i:id)['\"]: )\d{1,5}\b|(?<=(?i:ref)['\"]: )\d{1,5}\b"
    r"|(?<=\()\d{1,5}(?=\))"
)
"""How actions name one: ``click('12')``, ``click({'index': 12})``, ``click(12)``."""


def element_labels(messages: JsonValue) -> Mapping[str, str]:
    """Return the descriptions of a prompt's elements by their ids; a later one replaces earlier.

    A description is the line that marks the element, without the id, which differs from page to
    page.
    """
    return dict(_labels(messages))


def _labels(messages: JsonValue) -> Iterator[tuple[str, str]]:
    for message in prompt_messages(messages):
        for line in message.lines:
            marks = list(_MARKED.finditer(line))
            if len(marks) == 1:
                label = _MARKED.sub("", line)
                yield marks[0][1] or marks[0][2], " ".join(label.split())


def has_id(action: str) -> bool:
    """Whether an action names an element by an id."""
    return _IN_ACTION.search(action) is not None


def with_labels(action: str, labels: Mapping[str, str]) -> str:
    """Return the action with the descriptions of its elements in place of their ids."""
    return _IN_ACTION.sub(lambda match: labels.get(match[0], match[0]), action)


def element_name(action: str, labels: Mapping[str, str]) -> str:
    """Return the description of the first element that an action names; empty if unknown."""
    names = (labels.get(match[0], "") for match in _IN_ACTION.finditer(action))
    return next(filter(None, names), "")
