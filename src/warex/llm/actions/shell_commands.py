"""Reads what the commands of a shell do: of a browser's command line, for an address, of keys.

Each command becomes a call of its program, or code that it runs (``python -c "…"``).
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from warex.llm.actions.base import Code, CodeCall, Context, Language
from warex.llm.actions.shell_words import Command, split_commands
from warex.text.lazy_pattern import lazy_re

_PREFIXES = frozenset(
    ("sudo", "env", "nohup", "command", "exec", "nice", "stdbuf", "xvfb-run", "timeout", "time")
)
"""Programs that run the command behind their options and numbers."""
_RUNNERS = frozenset(("npx", "uvx", "bunx", "pnpx", "uv", "pnpm", "yarn", "npm", "bun", "pipx"))
_RUN = frozenset(("run", "dlx", "exec", "tool", "x"))
"""Subcommands of these that run a program."""
_OF_PREFIX = lazy_re(r"-.*|[\d.]+[smhd]?|[A-Za-z_]\w*=.*", re.DOTALL)
_SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh"))
_INTERPRETERS: Mapping[str, Language] = {
    "python": "python",
    "ipython": "python",
    "node": "javascript",
    "deno": "javascript",
}
_EVALUATES = frozenset(("eval", "evaluate", "run-code", "exec-js", "js"))
_FOR_ADDRESSES = lazy_re(
    r"curl|wget|aria2c|https?|xh|lynx|w3m|e?links|open|xdg-open|sensible-browser|firefox"
    r"|chrome|chromium(-browser)?|google-chrome(-stable)?"
)
"""Programs that ask for the addresses in their arguments."""
_BROWSERS = lazy_re(
    r"browser|playwright|puppeteer|chrom|firefox|selenium|webdriver|stagehand|devtools|surf"
)
"""Programs that drive a browser have one of these in their name."""
_VALUED = lazy_re(
    r"--(session|profile|cdp|port|headers|proxy|config|browser|timeout|state|device|viewport"
    r"|user-agent|provider|model)|-[sp]"
)
"""Options of browsers' command lines that have a value of their own."""
_URL = lazy_re(r"https?://\S+", re.IGNORECASE)
_HOST = lazy_re(r"(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?(?:[/?#]\S*)?|localhost\S*", re.IGNORECASE)
_FUNCTION = lazy_re(
    r"(?m)^[ \t]*(?:function[ \t]+([\w-]{1,80})(?:[ \t]*\(\))?|([\w-]{1,80})[ \t]*\(\))\s*"
    r"\{((?:[^{}]|\$\{[^{}]*\}){0,4000})\}"
)
_PACKAGE = lazy_re(r"(?:@([\w.-]+)/)?([\w.-]+)(?:@[\w.-]+)?")


def shell_calls(script: str) -> tuple[CodeCall | Code, ...]:
    """Return the calls and the code of a script, in order."""
    files: dict[str, str] = {}
    functions = {it[1] or it[2]: it[3] for it in _FUNCTION.finditer(script)}
    script = _FUNCTION.sub("", script)
    calls: list[CodeCall | Code] = []
    for command in split_commands(script):
        if command.output and command.stdin and command.words[0] in ("cat", "tee"):
            files[command.output] = command.stdin
        if command.words[0] in functions:
            calls.append(Code("shell", functions[command.words[0]], command.context))
        else:
            calls += _of_command(command.words, command, files)
    return tuple(calls)


def _of_command(
    words: Sequence[str], command: Command, files: Mapping[str, str]
) -> Iterator[CodeCall | Code]:
    words = _without_prefixes(words)
    if not words:
        return
    program, arguments, context = _program(words[0]), words[1:], command.context
    base = re.sub(r"[\d.]+$", "", program)
    if program in _SHELLS or program == "eval":
        script = " ".join(arguments) if program == "eval" else _script(arguments, command, files)
        yield Code("shell", script, context)
    elif program == "osascript":
        lines = [word for at, word in enumerate(arguments) if at and arguments[at - 1] == "-e"]
        is_javascript = "JavaScript" in arguments
        script = "\n".join(lines) or command.stdin
        yield Code("javascript" if is_javascript else "applescript", script, context)
    elif base in _INTERPRETERS:
        yield Code(_INTERPRETERS[base], _script(arguments, command, files), context)
    elif _FOR_ADDRESSES.fullmatch(program):
        yield from _for_addresses(program, arguments, context)
    elif program == "sleep":
        yield CodeCall("sleep", "", tuple(arguments[:1]), is_command=True, context=context)
    elif program in ("xdotool", "ydotool"):
        for name, *rest in (arguments[at:] for at in range(len(arguments))):
            if name in ("key", "type", "click"):
                values = tuple(_without_options(rest))[:1]
                yield CodeCall(name, program, values, is_command=True, context=context)
    elif _BROWSERS.search(program):
        yield from _subcommand(program, arguments, context)


def _without_options(words: Sequence[str]) -> Iterator[str]:
    """Yield what xdotool types or presses, and what follows."""
    for before, word in pairwise(("", *words)):
        if not word.startswith("--") and before not in ("--delay", "--window", "--repeat"):
            yield word


def _without_prefixes(words: Sequence[str]) -> Sequence[str]:
    while words and (words[0] in _PREFIXES or words[0] in _RUNNERS):
        is_runner = words[0] in _RUNNERS
        words = words[1:]
        while words and (_OF_PREFIX.fullmatch(words[0]) or (is_runner and words[0] in _RUN)):
            words = words[1:]
    return words


def _program(word: str) -> str:
    """Return a program's name: of a path, or of a package (``@playwright/cli@latest``)."""
    if (package := _PACKAGE.fullmatch(word)) is not None:
        return f"{package[1]}-{package[2]}" if package[1] else package[2]
    return word.rpartition("/")[2]


def _script(arguments: Sequence[str], command: Command, files: Mapping[str, str]) -> str:
    """Return the code that a shell or an interpreter runs; empty if it is not known."""
    for position, word in enumerate(arguments[:-1]):
        if re.fullmatch(r"-[a-z]*c|-e|-p|-pe|--eval|--print|-[a-z]*c\w*", word) or word == "eval":
            return arguments[position + 1]
    named = next((files[word] for word in arguments if word in files), None)
    if named is not None:
        return named
    plain = [word for word in arguments if not word.startswith("-")]
    return "" if plain else command.stdin


def _for_addresses(program: str, arguments: Sequence[str], context: Context) -> Iterator[CodeCall]:
    addresses = [word for word in arguments if _URL.match(word)]
    if not addresses:
        plain = [word for word in arguments if not word.startswith("-")]
        addresses = [word for word in plain if _HOST.fullmatch(word) or "$" in word]
    if any(word.startswith(("--retry", "--tries")) for word in arguments):
        context = "loop"
    for address in addresses:
        yield CodeCall(program, "", (address,), is_command=True, context=context)


def _subcommand(
    program: str, arguments: Sequence[str], context: Context
) -> Iterator[CodeCall | Code]:
    plain = [
        word
        for position, word in enumerate(arguments)
        if not word.startswith("--")
        and not (position and _VALUED.fullmatch(arguments[position - 1]))
    ]
    if not plain:
        return
    name, rest = plain[0], plain[1:]
    if name in _EVALUATES and rest:
        yield Code("javascript", rest[0], context)
    elif name == "batch":
        for line in rest:
            try:
                words = shlex.split(line)
            except ValueError:
                continue
            yield from _subcommand(program, words, context)
    elif name == "find" and len(rest) > 2:
        # agent-browser's ``find role button click``: how, what, and the action.
        yield CodeCall(rest[2], program, (rest[1], *rest[3:]), is_command=True, context=context)
    elif name == "tab" and rest[:1] == ["new"]:
        yield CodeCall("tab-new", program, tuple(rest[1:]), is_command=True, context=context)
    else:
        yield CodeCall(name, program, tuple(rest), is_command=True, context=context)
