"""Reads the commands of the Chrome DevTools Protocol that code or a tool sends to a browser.

``client.send('Page.reload')``, ``driver.execute_cdp_cmd('Page.navigate', {'url': …})``.
"""

import re
from typing import Final

from warex.llm.actions.base import Code, CodeCall
from warex.text.lazy_pattern import lazy_re

_SENDS = lazy_re(r"\w*(?:send|cdp|command|cmd)\w*", re.IGNORECASE)
_COMMAND = r"[A-Z][A-Za-z]{1,40}\.[a-z][A-Za-z]{1,60}"
_METHOD = lazy_re(rf"({_COMMAND})|.*?['\"]?\bmethod['\"]?\s*[:=]\s*['\"]({_COMMAND})['\"].*", re.S)
"""A command by itself, or in the message of a socket: ``{'method': 'Page.reload'}``."""
_PARAMETER = lazy_re(
    r"['\"]?\b(url|expression|key)['\"]?\]?\s*[:=,]\s*"
    r"(?:\"((?:[^\"\\]|\\.)*+)\"|'((?:[^'\\]|\\.)*+)'|([\w.$]+(?:\(\))?))"
)
_ACTS: Final = lazy_re(r"Page\.(?:reload|navigate\w*)|Input\.\w+")
_LONGEST: Final = 4000


def devtools_command(call: CodeCall) -> CodeCall | Code | None:
    """Return what the command does that a call sends; None if it sends none that acts."""
    if not _SENDS.fullmatch(call.name):
        return None
    texts = [text[:_LONGEST] for text in call.arguments]
    match = next(filter(None, map(_METHOD.fullmatch, texts)), None)
    command = (match[1] or match[2]) if match else ""
    parameters = {
        name: double or single or bare
        for text in texts
        for name, double, single, bare in _PARAMETER.findall(text)
    } | dict(call.keywords)
    if command == "Runtime.evaluate":
        return Code("javascript", parameters.get("expression", ""), call.context)
    if not _ACTS.fullmatch(command):
        return None
    domain, _, name = command.partition(".")
    arguments = tuple(parameters[each] for each in ("url", "key") if each in parameters)
    return CodeCall(name, f"browser.{domain}", arguments, context=call.context)
