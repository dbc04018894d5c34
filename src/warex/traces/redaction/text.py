"""Redacts the secrets in any text.

One pass of RE2 finds which kinds of secrets may be in a text, mostly none; only these are searched
closely. It works on bytes, since RE2 counts in bytes and files may contain any.
"""

import base64
import binascii
import html
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache, partial
from itertools import islice
from typing import NamedTuple
from urllib.parse import quote_from_bytes, unquote_to_bytes

from msgspec import Struct, field
from msgspec.structs import replace

from warex.text.lazy_pattern import lazy_re
from warex.traces.redaction import assigned, password_words
from warex.traces.redaction.assigned import Cut
from warex.traces.redaction.binary_runs import LEAST, binary_runs
from warex.traces.redaction.effort import REPLACED, Effort
from warex.traces.redaction.environment_secrets import process_secrets
from warex.traces.redaction.gitleaks import (
    PatternSet,
    StagedPatterns,
    compiled,
    context_rules,
    shape_rules,
)
from warex.traces.redaction.heuristics import (
    PASSWORD_STATEMENT,
    RANDOM_VALUE,
    random_values,
    stated_passwords,
    user_spans,
)
from warex.traces.redaction.named import beside, commands, near
from warex.traces.redaction.token_patterns import (
    COUNTED,
    HEX_KEY,
    KEY_PREFILTER,
    PREFIXED,
    REDACTED,
    hex_key,
    prefixed_token,
    redact_vendor_keys,
)
from warex.traces.redaction.typed.actions import typed_values
from warex.traces.redaction.typed.fields import TYPING
from warex.traces.redaction.url_paths import (
    SEGMENT,
    SHORT_SEGMENT,
    short_tokens,
    tokens_in_paths,
)

_REDACTED = REDACTED.encode()
_DECODINGS = 3
"""Levels of nested encodings that are decoded."""
_USER = rb"://[^/?\s<>\"'\\]+@"
_ENCODED = rb"(?i)%(?:25)*3d|%(?:25)*40|%(?:25)*22(?:%(?:25)*3a|:)"
_ENTITY = rb"&(?:quot|lt|apos|#0*3[49]|#[xX]2[27]);"
_NUMERIC = rb"(?:&#[xX]?[0-9a-fA-F]{2,5};){6}"
_LONG = rb"[A-Za-z0-9]{20,}"
_USER_AND_PASSWORD = lazy_re(
    rb"[\w.@+-]{1,64}:((?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[!-~]{6,128})"
)
_ENCODED_RUN = lazy_re(rb"(?:[\w.~+!*()@:/-]++|%[0-9A-Fa-f]{2})++")
_BASE64_RUN = lazy_re(rb"[A-Za-z0-9+/_-]{20,}={0,2}")


def _plain(value: bytes) -> bytes:
    return _REDACTED


class Pass(Struct, frozen=True, eq=False):
    """How a text is redacted; results are cached by it."""

    line: bool = False
    """Whether it is a line of a trace, whose own fields stay."""
    depth: int = 0
    """How many encodings it was in."""
    learn: Callable[[bytes, bool], None] = lambda value, typed: None
    """Called for each value that a name makes secret, and whether an agent types it."""
    hashed: Callable[[bytes], bytes] = _plain
    """Returns what replaces a value of which equal ones stay equal."""

    fields: Collection[str] = ()
    """Names of the fields for passwords of the pages so far."""

    seen: "SeenTexts" = field(default_factory=lambda: SeenTexts())
    """The redacted texts."""

    effort: Effort | None = None
    """The steps that are left to all texts of an event; without it each text has its own."""

    def of_line(self) -> "Pass":
        """Return how a line of a trace is redacted."""
        return replace(self, line=True)

    def of_event(self) -> "Pass":
        """Return how texts are redacted that share their steps."""
        return self if self.effort is not None else replace(self, effort=Effort())

    def within(self) -> "Pass":
        """Return how a text that was encoded in it is redacted."""
        return replace(self, line=False, depth=self.depth + 1)


class Seen(NamedTuple):
    """What is known of a text."""

    cleaned: str
    """The text without its secrets."""
    refs: frozenset[str] | None
    """The ids that it gives to fields for secrets; None if it gives no ids."""
    mentioned: bool | None
    """Whether the last field that it mentions is for a secret; None if it mentions none."""


class SeenTexts:
    """The texts seen so far: an agent sends the whole conversation each time."""

    def __init__(self) -> None:
        self._by_text: dict[str, Seen] = {}
        self._size = 0
        self.get = self._by_text.get

    def keep(self, text: str, seen: Seen) -> None:
        """Keep what is known of a text."""
        if self._size > _MOST_SEEN:
            self.clear()
        self._size += len(text) + 100
        # One copy of an unchanged text.
        unchanged = seen.cleaned == text
        self._by_text[text] = Seen(text, seen.refs, seen.mentioned) if unchanged else seen

    def clear(self) -> None:
        """Forget all texts."""
        self._by_text.clear()
        self._size = 0


_MOST_SEEN = 16_000_000
"""Characters in the cache."""
PLAIN = Pass()
"""What is found depends on the text alone."""

type _Find = Callable[[bytes], Iterable[tuple[int, int] | Cut]]
"""Finds secrets in a text."""
type _Replace = Callable[[bytes, Pass], bytes]


def redact_bytes(text: bytes, how: Pass = PLAIN) -> bytes:
    """Return the text with its secrets replaced; JSON stays valid JSON.

    From where a text has more of them than are replaced singly, all of its rest is.
    """
    text = process_secrets().replaced(text, _REDACTED, in_words=not how.line)
    if len(text) >= LEAST and (runs := list(binary_runs(text))):
        return _around(text, runs, how)
    if len(text) >= _LONG_TEXT and (beginning := _dense_beginning(text, how)):
        return beginning
    shapes = shape_rules(anchored=True)
    prefilters, actions = _by_beginning()
    matching = prefilters.matching(text)
    how = how.of_event() if matching else how
    if first := [place for place in matching if place < len(shapes)]:
        for place in first:
            text = _bounded(text, shapes[place].pattern.encode(), how, REPLACED)
        lower = text.lower()
        text = cut(text, (span for place in first for span in shapes[place].find(text, lower)))
    for place in sorted(matching):
        if place >= len(shapes):
            text = actions[place - len(shapes)](text, how)
    lengths, actions = _by_length()
    for place in sorted(lengths.matching(text)):
        how = how.of_event()
        text = actions[place](text, how)
    return text


_LONG_TEXT = 256 * 1024
_BEGINNING = 64 * 1024
"""Bytes of a long text that are redacted first, since all patterns take 0.1 s for each megabyte."""


def _dense_beginning(text: bytes, how: Pass) -> bytes:
    """Return a long text redacted if its beginning has too many secrets; empty if it has not."""
    how = how.of_event()
    end = max(text.rfind(b" ", 0, _BEGINNING), text.rfind(b"\n", 0, _BEGINNING)) + 1
    if how.effort is None or not end or text.lstrip()[:1] in (b"{", b"[", b'"'):
        return b""  # JSON must stay JSON.
    left, cuts = how.effort.left, how.effort.cuts
    beginning = redact_bytes(text[:end], how)
    if how.effort.cuts > cuts:
        return b"%s[redacted:%d:more]" % (beginning, len(text) - end)
    how.effort.left = left
    return b""


def _around(text: bytes, runs: Iterable[tuple[int, int]], how: Pass) -> bytes:
    """Return the text with the secrets outside of some runs replaced."""
    how = how.of_event()
    pieces: list[bytes] = []
    done = 0
    for begin, end in runs:
        pieces += (redact_bytes(text[done:begin], how), text[begin:end])
        done = end
    return b"".join((*pieces, redact_bytes(text[done:], how)))


@cache
def _by_beginning() -> tuple[StagedPatterns, tuple[_Replace, ...]]:
    """Return the patterns with a literal beginning, and the actions for those behind the rules."""
    own: tuple[tuple[bytes, _Replace], ...] = (
        _counted(KEY_PREFILTER, _keys),
        # No brackets: URL parsers would expect an IPv6 address.
        _counted(_USER, _users, REPLACED),
        (_ENTITY, _entities),
        _learning(TYPING, typed_values, typed=True, steps=4),
        _learning(assigned.PARAMETER, assigned.parameters),
        _counted(assigned.ASSIGNED, _assignments),
        _learning(assigned.NEXT_LINE, assigned.next_lines),
        _learning(assigned.PART, assigned.form_parts),
        _learning(assigned.NAMED, assigned.named_values),
        _learning(assigned.TAG, assigned.tags),
        _learning(assigned.ELEMENT, assigned.elements),
        _learning(assigned.PAIR, assigned.pairs),
        _learning(commands.OPTION, commands.options),
        _learning(commands.HEADER_LINE, commands.header_lines),
        _learning(commands.COMMAND, commands.in_commands),
        _learning(commands.PIPED, commands.piped),
        _learning(commands.SHORT_OPTION, commands.short_options),
        _learning(commands.LOGIN, commands.logins),
        _learning(PASSWORD_STATEMENT, stated_passwords),
        _learning(beside.ARGUMENTS, beside.arguments),
        _learning(beside.LOGS_IN, beside.credentials),
        _learning(beside.NAMED_PAIR, beside.named_pairs),
        _learning(beside.CELL, beside.cells),
        _learning(beside.LABEL_LINE, beside.lines),
        _learning(beside.IN_LINE, beside.in_line),
        _learning(beside.SIBLINGS, beside.siblings),
        _learning(beside.COMMENT, beside.commented),
        _learning(beside.STATEMENT, beside.statements),
        _learning(beside.PROTOCOL, beside.protocol_lines),
        _learning(beside.DEFINITION, beside.definitions),
        _learning(beside.FOREIGN, beside.foreign),
        _learning(near.QUOTED, near.quoted_behind),
        _learning(near.NEAR, near.strong_words),
        _cutting(near.BESIDE, near.likely_words),
        _learning(near.COLUMN, near.columns),
        _learning(near.ROW, near.rows),
        _cutting(near.CODE, near.codes),
        (_ENCODED, _encoded),
        _cutting(SHORT_SEGMENT, short_tokens),
        _cutting(HEX_KEY, _hex_keys),
        _cutting(_keywords(anchored=False), _rare),
        _cutting(_by_context(), _vendors, steps=REPLACED),
    )
    keywords = _keywords(anchored=True)
    shapes = [(rule.pattern.encode(), keywords) for rule in shape_rules(anchored=True)]
    patterns = StagedPatterns((*shapes, *((each, needed_by(each)) for each, _ in own)))
    return patterns, tuple(do for _, do in own)


def needed_by(pattern: bytes) -> bytes | None:
    """Return the prefilter without which a pattern matches no text: the one for names, or None."""
    return near.ANY_NAME if password_words.prefilter() in pattern else None


@cache
def _by_length() -> tuple[PatternSet, tuple[_Replace, ...]]:
    """Return the patterns with counts, and their actions.

    They are a separate set, since RE2 would multiply their states with the other patterns'.
    """
    own: tuple[tuple[bytes, _Replace], ...] = (
        _cutting(SEGMENT, tokens_in_paths),
        _cutting(PREFIXED, _prefixed),
        _counted(COUNTED, _keys),
        _counted(RANDOM_VALUE, _random, REPLACED),
        (_LONG, _base64),
        _cutting(beside.BARE_TOKEN, beside.bare_tokens),
        (_NUMERIC, _entities),
        _learning(near.AT_HOST, near.at_host),
    )
    return PatternSet(tuple(each for each, _ in own)), tuple(do for _, do in own)


def _keywords(*, anchored: bool) -> bytes:
    """Return a pattern for the words without which the rules for shapes match nothing."""
    words = {word for rule in shape_rules(anchored=anchored) for word in rule.keywords}
    return rb"(?i)" + b"|".join(map(re.escape, sorted(words)))


def _by_context() -> bytes:
    words = b"|".join(re.escape(word) for word in sorted(context_rules()))
    return (
        rb"(?i)(?:"
        + words
        + rb")[ \t\w.-]{0,20}[\\\s\"']{0,3}(?:[=>:,]|\|\|)[\x60\"'\s=\\]{0,5}[0-9a-z]{10,}"
    )


def precompile() -> None:
    """Compile all patterns before a fork."""
    _by_beginning()[0].compile_all()
    redact_bytes(b"https://site.example/ type [1] [text] password token=key")


def cut(
    text: bytes,
    spans: Iterable[tuple[int, int] | Cut],
    how: Pass = PLAIN,
    instead: bytes = _REDACTED,
) -> bytes:
    """Return the text with a placeholder in place of each span."""
    pieces: list[bytes] = []
    done = 0
    for begin, end, *more in sorted(spans):
        if end <= done or begin == end:
            continue
        hashed, in_brackets = (*more, False, False)[:2]
        left = begin - in_brackets
        pieces.append(text[done : max(left, done)])
        if left >= done:
            pieces.append(how.hashed(text[begin:end]) if hashed else instead)
        done = end + in_brackets
    return b"".join((*pieces, text[done:])) if pieces else text


def _bounded(text: bytes, pattern: bytes, how: Pass, steps: int = 1) -> bytes:
    """Return the text without its rest, from where a pattern has matched too often."""
    if how.effort is None or len(text) < _SHORT:
        return text
    most = how.effort.share() // steps
    count = 0
    for match in compiled(pattern).finditer(text):
        if count == most:
            text = how.effort.without_rest(text, match.start())
            break
        count += 1
    how.effort.left -= count * steps
    return text


_SHORT = 256
"""Bytes of a text that cannot match often."""


def _counted(pattern: bytes, do: _Replace, steps: int = 1) -> tuple[bytes, _Replace]:
    """Return a pattern and its action, which is done for as many matches as there are steps for."""
    return pattern, lambda text, how: do(_bounded(text, pattern, how, steps), how)


def _bounded_spans(
    text: bytes, find: _Find, how: Pass, steps: int = REPLACED
) -> tuple[bytes, list[tuple[int, int] | Cut]]:
    """Return a text and what is found in it; its rest is replaced if that is too much."""
    effort = how.effort or Effort()
    most = effort.share() // steps
    while len(spans := list(islice(find(text), most + 1))) > most:
        # Some find one kind after another, each in the whole text.
        text = effort.without_rest(text, sorted(spans)[most // 2][0])
    effort.left -= len(spans) * steps
    return text, spans


def _cutting(pattern: bytes, find: _Find, *, steps: int = 1) -> tuple[bytes, _Replace]:
    """Return a pattern and the action that cuts what is found where it matches."""

    def do(text: bytes, how: Pass) -> bytes:
        return cut(*_bounded_spans(text, find, how), how)

    return _counted(pattern, do, steps)


def cut_and_learn(
    text: bytes, spans: Iterable[tuple[int, int] | Cut], how: Pass, *, typed: bool = True
) -> bytes:
    """Return the text with what is secret wherever it stands replaced; learn it."""
    all_spans = list(spans)
    for begin, end, *more in all_spans:
        if not (more and more[0]):
            how.learn(text[begin:end], typed)
    return cut(text, all_spans, how)


def _learning(
    pattern: bytes, find: _Find, *, typed: bool = False, steps: int = 1
) -> tuple[bytes, _Replace]:
    """Return a pattern and the action that cuts what is found, which is secret anywhere."""

    def do(text: bytes, how: Pass) -> bytes:
        return cut_and_learn(*_bounded_spans(text, find, how), how, typed=typed)

    return _counted(pattern, do, steps)


# ---- what has a shape


def _keys(text: bytes, how: Pass) -> bytes:
    return redact_vendor_keys(text)


def _random(text: bytes, how: Pass) -> bytes:
    return cut(text, (Cut(*span, hashed=True) for span in random_values(text)), how)


def _prefixed(text: bytes) -> Iterator[tuple[int, int]]:
    begins = (match.start() for match in compiled(PREFIXED).finditer(text))
    return filter(None, (prefixed_token(text, begin) for begin in begins))


def _hex_keys(text: bytes) -> Iterator[tuple[int, int]]:
    begins = (match.start() for match in compiled(HEX_KEY).finditer(text))
    return filter(None, (hex_key(text, begin) for begin in begins))


def _rare(text: bytes) -> Iterator[tuple[int, int]]:
    lower = text.lower()
    return (span for rule in shape_rules(anchored=False) for span in rule.find(text, lower))


def _vendors(text: bytes) -> Iterator[tuple[int, int]]:
    lower = text.lower()
    heads = [match.group().lower() for match in compiled(_by_context()).finditer(text)]
    for word, rules in context_rules().items():
        if any(word in head for head in heads):
            for rule in rules:
                yield from rule.find(text, lower)


def _base64(text: bytes, how: Pass) -> bytes:
    """Redact base64 (RFC 4648) that contains a secret."""
    if how.depth >= _DECODINGS:
        return text
    return cut(*_bounded_spans(text, partial(_base64_runs, how=how), how))


def _base64_runs(text: bytes, how: Pass) -> Iterator[tuple[int, int]]:
    """Yield the spans of base64 with a secret; an empty one for other texts in base64."""
    for match in _BASE64_RUN.finditer(text):
        run = match.group().rstrip(b"=")
        if len(run) % 4 == 1:
            run = run[:-1]
        altchars = b"-_" if b"-" in run or b"_" in run else None
        try:
            plain = base64.b64decode(run + b"=" * (-len(run) % 4), altchars)
            plain.decode()
        except (binascii.Error, ValueError):
            continue
        pair = _USER_AND_PASSWORD.fullmatch(plain)
        if pair is not None:
            how.learn(pair[1], False)
        has_secret = pair is not None or redact_bytes(plain, how.within()) != plain
        yield match.start(), match.end() if has_secret else match.start()


# ---- what has a name


def _users(text: bytes, how: Pass) -> bytes:
    spans = list(user_spans(text))
    for begin, end in spans:
        _, mark, password = text[begin:end].partition(b":")
        if mark:
            how.learn(unquote_to_bytes(password), False)
    return cut(text, spans, how, b"redacted")


def _assignments(text: bytes, how: Pass) -> bytes:
    spans = partial(assigned.assignments, line=how.line)
    return cut_and_learn(*_bounded_spans(text, spans, how), how, typed=False)


def _entities(text: bytes, how: Pass) -> bytes:
    """Redact a text that HTML has escaped: the secrets of the plain text, as they are escaped."""
    if how.depth >= _DECODINGS:
        return text
    values: set[bytes] = set()

    def learn(value: bytes, typed: bool) -> None:
        if len(value) >= _LEAST_ESCAPED and b"\\" not in value and b"redacted" not in value:
            values.add(value)
        how.learn(value, typed)

    plain = html.unescape(text.decode("utf-8", "surrogateescape"))
    effort = how.effort or Effort()
    cuts = effort.cuts
    redact_bytes(
        plain.encode("utf-8", "surrogateescape"),
        replace(how.within(), learn=learn, effort=effort),
    )
    if effort.cuts > cuts:
        return effort.without_rest(text, 0)  # Which of it is the rest is not known.
    for value in sorted(values, key=len, reverse=True):
        decoded = value.decode("utf-8", "surrogateescape")
        for escaped in (
            html.escape(decoded),
            *map("".join, zip(*map(_numbers, decoded), strict=True)),
        ):
            text = text.replace(escaped.encode("utf-8", "surrogateescape"), _REDACTED)
    return text


_LEAST_ESCAPED = 6


def _numbers(sign: str) -> tuple[str, str, str]:
    """Return the numeric entities of a character."""
    return f"&#{ord(sign)};", f"&#x{ord(sign):x};", f"&#x{ord(sign):X};"


def _encoded(text: bytes, how: Pass) -> bytes:
    """Redact percent-encoded texts, such as a URL in the query of another."""
    if how.depth >= _DECODINGS:
        return text
    text, runs = _bounded_spans(text, _encoded_runs, how, _ENCODED_STEPS)
    pieces: list[bytes] = []
    done = 0
    for begin, end, *_ in runs:
        run = text[begin:end]
        plain = unquote_to_bytes(run)
        cleaned = redact_bytes(plain, how.within())
        if cleaned != plain:
            safe = "/:@" if b"/" in run else ""
            pieces += (text[done:begin], quote_from_bytes(cleaned, safe).encode())
            done = end
    return b"".join((*pieces, text[done:])) if pieces else text


_ENCODED_STEPS = 4


def _encoded_runs(text: bytes) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _ENCODED_RUN.finditer(text) if b"%" in match.group())
