"""Faults that change an answer, in rules about answers in which they can change nothing."""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import product
from typing import Final

from warex.effects import Effect, Rewrite, Throttle
from warex.exchange import Request, Response
from warex.rewriting.base import Edit
from warex.rewriting.header_edit import HeaderEdit
from warex.scenarios.scenario import Rule
from warex.text.english import listing

_ANY_TYPE: Final = ("text/html", "application/json", "application/x-ndjson")
_EMPTY: Final = frozenset(("GET", "HEAD", "OPTIONS"))
"""Methods of requests that have no body as a rule."""
_SWITCHES: Final = 101
"""The status of an answer that begins a WebSocket."""


def unchangeable(rule: Rule) -> Iterator[str]:
    """Yield the reason if the fault can change none of the answers that the rule matches."""
    effects = rule.fault.effects_on_page()
    if rule.fault.of_websockets:
        yield from _off_websockets(rule)
    elif rule.fault.media_types and _is_of_websockets(rule):
        yield f"{rule.fault.kind} is about streams in answers, and the rule about WebSockets"
    elif rule.fault.media_types:
        yield from _off_streams(rule)
    elif rule.targets_llm and _is_of_websockets(rule):
        yield (
            "calls over a WebSocket to a model are recorded, and no fault of models hits them;"
            " websocket_fault does, in a rule whose `url` names the model's host"
        )
    elif _limits_requests_only(effects) and rule.methods and _EMPTY.issuperset(rule.methods):
        yield (
            f"{rule.fault.kind} limits the bodies of requests only, and a request by"
            f" {listing(rule.methods, 'or')} has none"
        )
    elif any(_needs_body(effect) for effect in effects) and _is_of_websockets(rule):
        yield (
            f"{rule.fault.kind} changes the body of an answer, and the rule is about WebSockets,"
            " whose messages it leaves alone; websocket_fault changes them, and a fault that"
            " answers or cuts, as http_error or connection_cut, hits their handshake"
        )
    else:
        yield from _without_effect(rule, _edits(effects))


def websockets_among(rule: Rule) -> Iterator[str]:
    """Yield a predicate of a rule about WebSockets among others, which its fault cannot change."""
    if _is_of_websockets(rule) or "websocket" not in rule.resources or rule.fault.of_websockets:
        return
    if any(_needs_body(effect) for effect in rule.fault.effects_on_page()):
        yield (
            "hits no WebSocket, though its `resource` names them:"
            f" {rule.fault.kind} changes the body of an answer, and leaves their messages alone;"
            " websocket_fault changes them."
        )


def data_as_documents(rule: Rule) -> Iterator[str]:
    """Yield a predicate of a rule about documents whose fault changes no HTML."""
    if set(rule.resources) != {"document"} or rule.match.content_type:
        return
    kinds = rule.fault.media_types
    edits = _edits(rule.fault.effects_on_page())
    if kinds or (edits and not any(_takes(edit, "GET", 200, "text/html") for edit in edits)):
        yield (
            f"is about documents only, which are HTML as a rule, and {rule.fault.kind} about"
            f" {'streams' if kinds else 'data'}, which scripts ask for; name xhr under `resource`,"
            " or leave it out."
        )


def _off_websockets(rule: Rule) -> Iterator[str]:
    """Yield the reason if a rule with a fault of WebSockets is about something else."""
    if rule.match.llm is not None or rule.match.mcp is not None:
        key = "llm" if rule.match.llm is not None else "mcp"
        yield (
            f"match.{key} is about single calls, and {rule.fault.kind} about WebSockets; leave"
            f" match.{key} out, and name the host under `url`"
        )
    elif "websocket" not in rule.resources:
        yield (
            f"{rule.fault.kind} is about WebSockets, and the rule about"
            f" {' or '.join(rule.resources)} only; name websocket under `resource`, or leave it out"
        )


def _off_streams(rule: Rule) -> Iterator[str]:
    """Yield the reason if a rule with a fault of streams is about something else."""
    fault, types = rule.fault, rule.match.content_type or ()
    if rule.match.llm is not None or rule.match.mcp is not None:
        key = "llm" if rule.match.llm is not None else "mcp"
        yield (
            f"match.{key} is about single calls, and {fault.kind} about the streams of sites;"
            f" faults named {key}_… change the answers of those"
        )
    elif types and not any(fnmatchcase(it, each) for it in fault.media_types for each in types):
        yield (
            f"{fault.kind} is about streams ({', '.join(fault.media_types[:2])}…), and the rule"
            f" about {listing(types, 'or')} only; leave match.content_type out"
        )


def _edits(effects: Sequence[Effect]) -> Sequence[Edit]:
    """Return the edits of a body; none if one is of headers, which depends on those there are."""
    edits = [effect.edit for effect in effects if isinstance(effect, Rewrite)]
    return [] if any(isinstance(edit, HeaderEdit) for edit in edits) else edits


def _takes(edit: Edit, method: str, status: int, media_type: str) -> bool:
    """Whether an edit takes up an answer of a kind."""
    request = Request(method, "https://site.example/")
    return edit.begin(request, Response(status, {"content-type": media_type})) is not None


def _limits_requests_only(effects: Sequence[Effect]) -> bool:
    limits = [it for it in effects if isinstance(it, Throttle)]
    return bool(limits) and len(limits) == len(effects) and all(it.down is None for it in limits)


def _needs_body(effect: Effect) -> bool:
    if isinstance(effect, Throttle):
        return False
    traits = effect.traits
    of_body = traits.rewrites or traits.paces or traits.malforms
    return of_body or traits.depends_on_site or traits.changes_messages


def _is_of_websockets(rule: Rule) -> bool:
    named = rule.match.of_websockets or rule.match.status == (_SWITCHES,)
    return named or set(rule.resources) == {"websocket"}


def _without_effect(rule: Rule, edits: Sequence[Edit]) -> Iterator[str]:
    """Yield the reason if no edit of the fault takes up any of the answers, found by trying."""
    match = rule.match
    types = match.content_type or _ANY_TYPE
    if not edits or any("*" in each for each in types):
        return
    for edit, method, status, kind in product(
        edits, match.method or ("GET",), match.status or (200,), types
    ):
        if _takes(edit, method, status, kind):
            return
    if match.content_type:
        yield f"{rule.fault.kind} changes nothing in an answer of type {listing(types)}"
    elif match.status:
        which = listing(map(str, match.status))
        yield f"{rule.fault.kind} changes a body, and an answer with status {which} has none"
    else:
        which = listing(match.method or ())
        yield f"{rule.fault.kind} changes a body, and the answer to {which} has none"
