"""The few marks that a post may carry, as safe HTML."""

import re
from collections.abc import Iterator

from markupsafe import Markup, escape

_INLINE = re.compile(r"`([^`\n]+)`|\*\*([^*\n]+)\*\*")


def html(text: str) -> Markup:
    """Return a post's text as HTML: paragraphs, `- lists`, `> quotes`, fences, code, bold.

    Everything else is shown as it was typed.
    """
    return Markup("\n").join(_blocks(text.replace("\r\n", "\n").strip()))


def _blocks(text: str) -> Iterator[Markup]:
    fenced = re.split(r"^```[^\n]*\n(.*?)\n```$", text, flags=re.DOTALL | re.MULTILINE)
    for index, part in enumerate(fenced):
        if index % 2:
            yield Markup("<pre><code>{}</code></pre>").format(part)
            continue
        for block in re.split(r"\n\s*\n", part):
            if block.strip():
                yield _block(block.strip().split("\n"))


def _block(lines: list[str]) -> Markup:
    if all(line.startswith("- ") for line in lines):
        items = Markup("").join(Markup("<li>{}</li>").format(_inline(line[2:])) for line in lines)
        return Markup("<ul>{}</ul>").format(items)
    if all(line.startswith(">") for line in lines):
        quoted = Markup("<br>").join(_inline(line[1:].strip()) for line in lines)
        return Markup("<blockquote><p>{}</p></blockquote>").format(quoted)
    return Markup("<p>{}</p>").format(Markup("<br>").join(map(_inline, lines)))


def _inline(line: str) -> Markup:
    parts: list[Markup] = []
    end = 0
    for match in _INLINE.finditer(line):
        parts.append(escape(line[end : match.start()]))
        tag, inside = ("code", match[1]) if match[1] else ("strong", match[2])
        parts.append(Markup(f"<{tag}>{{}}</{tag}>").format(inside))
        end = match.end()
    return Markup("").join([*parts, escape(line[end:])])


def plain(text: str, longest: int = 180) -> str:
    """Return the beginning of a post in one line, without its marks and its fenced blocks."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    line = " ".join(re.sub(r"`|\*\*|^[>-] ?", "", prose, flags=re.MULTILINE).split())
    if len(line) <= longest:
        return line
    return line[:longest].rsplit(" ", 1)[0].rstrip(",.;:") + "…"
