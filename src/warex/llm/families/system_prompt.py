"""Appends a text to a system prompt, in the forms that several APIs share.

All other bytes stay. Each function takes and returns JSON text, and raises ValueError, with the
reason, if the form of the system prompt is unknown.
"""

from pydantic import JsonValue

from warex.llm.body import json_splice
from warex.llm.body.lenient_json import as_dict

SYSTEM_ROLES = ("system", "developer")
"""Roles of system messages; ``developer`` in newer models of OpenAI."""


def in_messages(sent: str, text: str) -> str:
    """Append to the last system message; if there is none, insert one before all others.

    The new one has the role ``system``, which OpenAI maps to ``developer`` if necessary.
    """
    body = json_splice.root(sent)
    messages = json_splice.member(sent, body, "messages") if isinstance(body.value, dict) else None
    if messages is None or not isinstance(messages.value, list):
        raise ValueError("it has no messages")
    system = [
        message
        for message in json_splice.items(sent, messages)
        if as_dict(message.value).get("role") in SYSTEM_ROLES
    ]
    if not system:
        return json_splice.prepend_item(sent, messages, {"role": "system", "content": text})
    content = json_splice.member(sent, system[-1], "content")
    match content:
        case json_splice.Span(value=str() as existing):
            return json_splice.append_to_string(sent, content, f"\n\n{text}" if existing else text)
        case json_splice.Span(value=list() as parts) if all(isinstance(p, dict) for p in parts):
            # Some servers join the parts without a separator.
            own: JsonValue = {"type": "text", "text": f"\n\n{text}" if parts else text}
            return json_splice.append_item(sent, content, own)
        case json_splice.Span(value=None):
            return json_splice.replace(sent, content, text)
        case _:
            raise ValueError("its system message has a content that is neither text nor parts")


def in_member(sent: str, name: str, text: str, *, amazon: bool = False) -> str:
    """Append to a member of the body with text or blocks, or insert it.

    With ``amazon`` the API accepts only blocks, which have no type.
    """
    body = json_splice.root(sent)
    if not isinstance(body.value, dict):
        raise ValueError("it is not an object")

    def block(content: str) -> JsonValue:
        return {"text": content} if amazon else {"type": "text", "text": content}

    new: JsonValue = [block(text)] if amazon else text
    system = json_splice.member(sent, body, name)
    match system:
        case None:
            return json_splice.insert_member(sent, body, name, new)
        case json_splice.Span(value=str() as existing) if not amazon:
            return json_splice.append_to_string(sent, system, f"\n\n{text}" if existing else text)
        case json_splice.Span(value=list() as blocks) if all(isinstance(b, dict) for b in blocks):
            return json_splice.append_item(sent, system, block(f"\n\n{text}" if blocks else text))
        case json_splice.Span(value=None):
            return json_splice.replace(sent, system, new)
        case _:
            raise ValueError("its system prompt is neither text nor blocks")
