"""The actions that an agent carries out on an answer, and what they do to the step's page."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import JsonValue

from warex.analysis.recovery.equivalence import same_page
from warex.exports.chat import message_texts
from warex.exports.rows import ChatMessage, Row
from warex.llm.actions.base import Action
from warex.llm.actions.code_blocks import code_in_tool_call
from warex.llm.actions.guess import guess_actions
from warex.llm.actions.name_heuristics import (
    ELEMENT_ARGUMENTS,
    ActionKind,
    action_kind_with_arguments,
)
from warex.llm.actions.parser import parse_actions
from warex.llm.actions.vocabulary import Vocabulary
from warex.llm.base import LlmAnswer, ToolCall

_ID: Final = re.compile(r"\d{1,6}|[a-z]{1,2}\d{1,6}|[A-Z]{3,6}|\d{1,3}-\d{1,6}")
_ELEMENT: Final = ELEMENT_ARGUMENTS | {"id"}
_QUOTED: Final = re.compile(r"'([^'\n]+)'|\"([^\"\n]+)\"")
_BRACKETED: Final = re.compile(r"\[[^\]\n]*\]|<[^>\n]*>|/?>|\b\w+=\S*")
_NEXT: Final = re.compile(r"\[\d+\]|</")
_ROLES: Final = re.compile(r"^\W*(?:button|link)\s+|\s+(?:button|link)\W*$", re.IGNORECASE)
_AGAIN: Final = re.compile(
    r"(?:(?:please )?try |(?:click|tap|press) (?:here )?to )?"
    r"(?:re-?load(?:ing)?|refresh(?:ing)?|re-?try(?:ing)?|try (?:it )?again|load(?:ing)? again)"
    r"(?: (?:the |this )?(?:page|site|list|tab))?(?: again)?"
    r"|(?:(?:die |diese )?seite )?(?:neu laden|aktualisieren)"
    r"|(?:noch ?mals?|noch einmal|erneut|wieder) (?:versuchen|laden)|wiederholen"
    r"|versuchen? sie es erneut"
    r"|(?:r[ée]essaye[rz]|actualise[rz]|recharge[rz]|rafra[iî]chi[rs]s?e?z?)(?: (?:la|cette) page)?"
    r"|(?:reintentar(?:lo)?|actualizar|recargar|v(?:olver|uelv[ae]) a (?:cargar|intentar)(?:l[ao])?"
    r"|(?:intentar(?:lo)?|int[ée]nt[ae](?:lo)?) (?:de nuevo|otra vez|nuevamente))"
    r"(?: (?:la|esta) página)?"
    r"|riprovar?e?|prova di nuovo|ricarica(?:re)?(?: la pagina)?|aggiorna(?:re)?(?: la pagina)?"
    r"|(?:tent(?:ar|e) (?:novamente|de novo|outra vez)|recarreg(?:ar|ue)|atualiz(?:ar|e))"
    r"(?: a? ?página)?"
    r"|opnieuw (?:proberen|laden)|probeer (?:het )?opnieuw|vernieuwen|spróbuj ponownie|odśwież"
    r"|försök igen|ladda om(?: sidan)?"
    r"|повторить(?: попытку)?|обновить(?: страницу)?|попробовать (?:снова|ещё раз)|перезагрузить"
    r"|(?:点击)?(?:重试|刷新|重新(?:加载|尝试|载入)|再试一次)(?:页面|本页)?"
    r"|重新(?:載入|整理|嘗試)(?:頁面)?|重試|再試一次"
    r"|(?:ページを)?(?:再試行|再読み込み|更新|リロード)(?:する)?|やり直す|もう一度(?:試す|お試しください|読み込む)?"
    r"|다시 (?:시도|로드)(?:하기)?|새로 ?고침(?:하기)?",
    re.IGNORECASE,
)
"""Names of a page's own button that loads it or a part of it again; no other words beside them."""
_NOT_DONE: Final = re.compile(r"n/?a", re.IGNORECASE)
"""What a task's end says that cannot be done (WebArena)."""


def executed_action(answer: ChatMessage, vocabulary: Vocabulary) -> Action | None:
    """Return the first action that an agent carries out on an answer, waits aside; None without.

    Names that the vocabulary lacks are read where it has none of the answer's.
    """
    calls = tuple(
        ToolCall(str(call.get("id") or ""), str(function.get("name")), _arguments(function))
        for call in answer.get("tool_calls") or ()
        if isinstance(function := call.get("function"), dict)
    )
    text = "\n".join(message_texts([answer]))
    acts = parse_actions(LlmAnswer("", text=text, tool_calls=calls, complete=True), vocabulary)
    acts = tuple(it for act in acts for it in _in_its_code(act)) or guess_actions(text, calls)
    return next((it for it in acts if not waits(it, vocabulary)), acts[0] if acts else None)


def _in_its_code(action: Action) -> tuple[Action, ...]:
    """Return the actions of the code that an action runs (``evaluate(code='…')``), or itself."""
    if not isinstance(action.arguments, Mapping):
        return (action,)
    call = ToolCall("", action.name, json.dumps(dict(action.arguments)))
    code = code_in_tool_call(call)
    return (guess_actions("", (call,)) if code is not None else ()) or (action,)


def kind_of(action: Action) -> ActionKind | None:
    """Return what an action does, by its name and arguments."""
    arguments = action.arguments
    return action_kind_with_arguments(
        action.name, dict(arguments) if isinstance(arguments, Mapping) else [*values_of(action)]
    )


def waits(action: Action, vocabulary: Vocabulary) -> bool:
    """Whether an action only passes time."""
    return action.name in vocabulary.noop or (
        action.name not in vocabulary.names and kind_of(action) == "wait"
    )


def ends(action: Action, vocabulary: Vocabulary) -> bool:
    """Whether an action ends the task."""
    return action.name in vocabulary.finish or (
        action.name not in vocabulary.names and kind_of(action) == "finish"
    )


def gives_up(action: Action, vocabulary: Vocabulary) -> bool:
    """Whether an action ends the task as one that cannot be done."""
    if action.name in vocabulary.infeasible:
        return True
    arguments, values = action.arguments, values_of(action)
    failed = isinstance(arguments, Mapping) and arguments.get("success") is False
    nothing = bool(values) and _NOT_DONE.fullmatch(values[0]) is not None
    return ends(action, vocabulary) and (failed or nothing or "infeasible" in action.name)


def asks_again(action: Action, row: Row, vocabulary: Vocabulary) -> bool:
    """Whether an action requests the page of the row's step, or the part that failed, again."""
    kind = kind_of(action)
    if action.name in vocabulary.retry or kind == "reload":
        return True
    if kind == "goto":
        return any(same_page(value, row.url) for value in values_of(action))
    return kind == "click" and any(map(_AGAIN.fullmatch, _element_names(action, row)))


def acts_on_nothing(action: Action, row: Row) -> bool:
    """Whether an action's element id is missing on the page that was shown."""
    ids = _element_ids(action) if kind_of(action) in ("click", "type") else []
    page = "\n".join(message_texts(row.prompt)) if ids else ""
    return any(re.search(rf"(?<!\w){re.escape(id)}(?!\w)", page) is None for id in ids)


def values_of(action: Action) -> list[str]:
    """Return an action's arguments as texts."""
    arguments = action.arguments
    values = arguments.values() if isinstance(arguments, Mapping) else arguments
    return [str(value).strip() for value in values if value is not None]


def _arguments(function: Mapping[str, Any]) -> str:
    arguments: JsonValue = function.get("arguments")
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _element_ids(action: Action) -> list[str]:
    """Return the ids by which an action names its element; a selector or a description is none."""
    arguments = action.arguments
    if isinstance(arguments, Mapping):
        named = {name: it for name, it in arguments.items() if name.lower() in _ELEMENT}
        values = [str(it).strip() for it in named.values()]
    else:
        values = values_of(action)[:1]
    return [it for it in values if _ID.fullmatch(it)]


def _element_names(action: Action, row: Row) -> Iterator[str]:
    """Yield what the element that an action is used on may be called.

    That is what the action itself says, and what stands beside the element's id on the page.
    """
    lines = "\n".join(message_texts(row.prompt)).splitlines()
    for value in values_of(action):
        yield from _names_in(value)
        if not _ID.fullmatch(value):
            continue
        own = re.compile(
            rf"\[(?:ref=)?{re.escape(value)}\]|\bid=\"?{re.escape(value)}\"?(?=[\s>/])"
        )
        for line in lines:
            if match := own.search(line):
                before = line[: match.start()]
                # A name stands before its id where a line has one element.
                yield from _names_in("" if "[" in before else before)
                yield from _names_in(_NEXT.split(line[match.end() :])[0])


def _names_in(text: str) -> Iterator[str]:
    yield from ("".join(filter(None, groups)) for groups in _QUOTED.findall(text))
    yield _ROLES.sub("", _BRACKETED.sub(" ", text.removeprefix("text="))).strip(" '\"-")
