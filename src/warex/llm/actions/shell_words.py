"""Splits a shell script into its commands, without running it.

Quotes, comments, continued lines, here-documents and substitutions are read as a POSIX shell does;
names that are assigned before are replaced. ``shlex`` knows no commands, and takes the ``#`` in an
address for a comment.
"""

import re
from dataclasses import dataclass
from typing import Final

from warex.llm.actions.base import Context
from warex.text.lazy_pattern import lazy_re

MOST_CODE: Final = 20_000
"""Characters of a script that are read."""
_MOST_COMMANDS = 200
_DEEPEST = 6
_LONGEST_VALUE = 4000
_PLAIN = lazy_re(r"[^\s'\"\\$`;&|()<>#]++")
_IN_QUOTES = lazy_re(r'[^"\\$`]++')
_NAME = lazy_re(r"\$(?:\{(\w+)\}|(\w+))")
_ASSIGNED = lazy_re(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_REDIRECT = lazy_re(r">[>&|]?|<[>&]?")
_HEREDOC = lazy_re(r"<<(-?)[ \t]*(['\"]?)([\w.-]{1,40})\2")
_OPENS: dict[str, Context] = {
    **dict.fromkeys(("for", "while", "until", "select"), "loop"),
    **dict.fromkeys(("if", "case"), "branch"),
}
_CLOSES = frozenset(("done", "fi", "esac"))
_GLUE = frozenset(("do", "then", "else", "elif", "!", "{", "}", "time", *_OPENS, *_CLOSES))


@dataclass(frozen=True, slots=True)
class Command:
    """A command with its arguments, unquoted."""

    words: tuple[str, ...]
    context: Context = ""
    stdin: str = ""
    """The here-document or here-string that it reads."""
    output: str = ""
    """The file that it writes."""


def split_commands(script: str) -> tuple[Command, ...]:
    """Return the commands of a script, in the order in which they begin to run."""
    if len(script) > MOST_CODE:
        return ()
    splitter = _Splitter(script)
    splitter.read("", 0)
    return tuple(
        Command(tuple(one.words), context, one.stdin, one.output)
        for one, context in splitter.commands[:_MOST_COMMANDS]
    )


@dataclass(slots=True)
class _Unfinished:
    """The command that is being read."""

    words: list[str]
    word: str | None = None
    stdin: str = ""
    output: str = ""
    next_is: str = ""
    """``output`` or ``stdin`` if the next word is not an argument but that."""

    def end_word(self) -> None:
        if self.word is None:
            return
        if self.next_is == "output":
            self.output = self.word
        elif self.next_is == "stdin":
            self.stdin = self.word
        elif not self.next_is:
            self.words.append(self.word)
        self.word, self.next_is = None, ""

    def add(self, text: str) -> None:
        self.word = ((self.word or "") + text)[:_LONGEST_VALUE]


class _Splitter:
    def __init__(self, text: str) -> None:
        self.commands: list[tuple[_Unfinished, Context]] = []
        """Commands; a here-document follows the line of its command."""
        self._text = text
        self._at = 0
        self._names: dict[str, str] = {}
        self._open: list[Context] = []
        """The loops and branches around the current command."""
        self._heredocs: list[tuple[str, _Unfinished]] = []

    def read(self, end: str, depth: int) -> None:
        """Read commands up to ``end``, a bracket or backtick, or to the end of the text."""
        now, is_handler = _Unfinished([]), False
        while self._at < len(self._text) and len(self.commands) < _MOST_COMMANDS:
            char = self._text[self._at]
            if char == end:
                break
            if char in "\n;&|()":
                self._at += 1
                doubled = self._text.startswith(char, self._at) and char in "&|;"
                self._at += doubled
                if char == "\n":
                    now.end_word()
                    self._read_heredocs()
                elif char == "&" and self._text.startswith(">", self._at):
                    continue
                self._end_command(now, is_handler)
                now, is_handler = _Unfinished([]), char == "|" and doubled
            else:
                self._piece(now, char, depth)
        self._read_heredocs()
        self._end_command(now, is_handler)

    def _piece(self, now: _Unfinished, char: str, depth: int) -> None:
        """Read one piece of a word, or what stands between words."""
        text, at = self._text, self._at
        if char.isspace():
            now.end_word()
            self._at += 1
        elif char == "#" and now.word is None:
            self._at = _find(text, "\n", at)
        elif char == "'":
            self._at = _find(text, "'", at + 1) + 1
            now.add(text[at + 1 : self._at - 1])
        elif char == '"':
            now.add("")
            self._quoted(now, depth)
        elif char == "\\":
            self._at += 2
            escaped = text[at + 1 : at + 2]
            if escaped != "\n":
                now.add(escaped)
        elif char in "<>":
            self._redirected(now)
        elif char in "$`":
            self._expansion(now, depth)
        elif plain := _PLAIN.match(text, at):
            self._at = plain.end()
            now.add(plain[0])
        else:
            self._at += 1
            now.add(char)

    def _quoted(self, now: _Unfinished, depth: int) -> None:
        text = self._text
        self._at += 1
        while self._at < len(text) and text[self._at] != '"':
            char = text[self._at]
            if char == "\\":
                escaped = text[self._at + 1 : self._at + 2]
                now.add(
                    escaped if escaped in '"\\$`' else "" if escaped == "\n" else char + escaped
                )
                self._at += 2
            elif char in "$`":
                self._expansion(now, depth)
            else:
                end = _IN_QUOTES.match(text, self._at)
                self._at = end.end() if end else self._at + 1
                now.add(end[0] if end else char)
        self._at += 1

    def _expansion(self, now: _Unfinished, depth: int) -> None:
        text, at = self._text, self._at
        end = "`" if text[at] == "`" else ")" if text.startswith("$(", at) else ""
        if text.startswith("$((", at):
            self._at = _find(text, "))", at) + 2
            now.add(text[at : self._at])
        elif end and depth < _DEEPEST:
            self._at += len(end) if end == "`" else 2
            self.read(end, depth + 1)
            self._at += 1
            now.add(text[at : self._at])
        elif name := _NAME.match(text, at):
            self._at = name.end()
            now.add(self._names.get(name[1] or name[2], name[0]))
        elif text.startswith("$'", at):
            self._at += 1  # Bash's quotes with escapes.
        else:
            self._at += 1
            now.add(text[at])

    def _redirected(self, now: _Unfinished) -> None:
        text = self._text
        if (now.word or "").isdigit():
            now.word = None  # The number of the stream.
        now.end_word()
        if match := _HEREDOC.match(text, self._at):
            self._heredocs.append((match[3], now))
            self._at = match.end()
        elif text.startswith("<<<", self._at):
            now.next_is = "stdin"
            self._at += 3
        elif match := _REDIRECT.match(text, self._at):
            now.next_is = "output" if match[0] in (">", ">>", ">|") else "other"
            self._at = match.end()

    def _read_heredocs(self) -> None:
        """Read the here-documents that begin at this line."""
        for mark, command in self._heredocs:
            begin, lines = self._at, []
            while self._at < len(self._text):
                end = _find(self._text, "\n", self._at)
                line = self._text[self._at : end]
                self._at = end + 1
                if line.strip() == mark:
                    break
                lines.append(line)
            command.stdin = "\n".join(lines) if begin < len(self._text) else ""
        self._heredocs = []

    def _end_command(self, now: _Unfinished, is_handler: bool) -> None:
        now.end_word()
        words = now.words
        while words and words[0] in _GLUE:
            word = words.pop(0)
            if word in _OPENS:
                self._open.append(_OPENS[word])
            elif word in _CLOSES and self._open:
                self._open.pop()
            if word in ("for", "case", "select"):
                return
        assigned: dict[str, str] = {}
        while words and (match := _ASSIGNED.fullmatch(words[0])):
            assigned[match[1]] = match[2]
            words.pop(0)
        if not words:
            self._names |= assigned
            return
        if words[0] in ("export", "local", "readonly", "declare"):
            found_all = map(_ASSIGNED.fullmatch, words[1:])
            self._names |= {match[1]: match[2] for match in found_all if match}
            return
        context: Context = "handler" if is_handler else ""
        if self._open:
            context = "loop" if "loop" in self._open else context or "branch"
        self.commands.append((now, context))


def _find(text: str, wanted: str, at: int) -> int:
    """Return where ``wanted`` is found, or the end of the text."""
    index = text.find(wanted, at)
    return len(text) if index < 0 else index
