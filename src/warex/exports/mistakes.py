"""Recognises wrong answers to pages on which nothing failed: rejections for preference data."""

import re
from typing import Final

from warex.analysis.recovery.trial_events import ModelAction
from warex.exports.prompt_page import PromptPage
from warex.llm.actions.vocabulary import Vocabulary

_ON_ELEMENTS: Final = ("click", "type")
_ID: Final = re.compile(r"\d{1,6}|[a-z]{1,2}\d{1,6}")


def is_mistake(act: ModelAction, page: PromptPage, words: Vocabulary) -> bool:
    """Whether an action is wrong on a page that has not failed, whatever the task.

    It loads the page again, gives the task up, or is used on an element that the page does not
    show. Only of a trial that was not solved is this certain, since a page may be loaded again for
    good reasons.
    """
    if act.name in words.retry or act.name in words.infeasible:
        return True
    ids = {it.id for it in page.usable}
    if not ids or act.does not in _ON_ELEMENTS or not act.texts:
        return False
    return _ID.fullmatch(act.texts[0]) is not None and act.texts[0] not in ids
