"""Writes the functions of further languages as JavaScript's.

So they are read where the code calls them and not where they are defined. ``main`` and a test,
which no code calls, become plain blocks, and so does a class.
"""

import re
from typing import Final

from warex.text.lazy_pattern import lazy_re

_JVM_LIKE: Final = ("java", "csharp", "cs", "kotlin", "kt", "groovy", "scala", "dart")
_CLASS = lazy_re(
    r"(?m)^([ \t]*)(?:[a-z]+[ \t]+){0,4}(?:class|object|namespace)[ \t]+\w{1,80}"
    r"[^{};\n]{0,200}\n?[ \t]*\{"
)
_NAMED = lazy_re(
    r"(?m)^([ \t]*)(?:[a-z]+[ \t]+){0,4}(?:func|fn|fun)[ \t]+(?:\([^()]{0,80}\)[ \t]*)?(\w{1,80})"
    r"[ \t]*\(([^()]{0,400})\)[^{};=\n]{0,200}\{"
)
"""``func (s *Shop) track(page *rod.Page) error {``"""
_METHOD = lazy_re(
    r"(?m)^((?:[ \t]*+(?:@\w[\w.]{0,80}+(?:\([^()\n]{0,80}+\))?+|\[\w{1,40}\])\s++){0,5}+)[ \t]*+"
    r"(?:(?:public|private|protected|internal|static|final|async|override|virtual)[ \t]+){0,5}"
    r"(?!return|new|else|throw|await|using|function)[A-Za-z][\w.]{0,80}(?:<[^<>()]{0,80}>)?"
    r"[ \t]+(\w{1,80})[ \t]*\(([^(){};]{0,400})\)(?:[ \t]*throws[ \t][\w., ]{1,200})?\s{0,80}\{"
)
"""``@Test public void track() {``"""
_RUN_BY_ITSELF = lazy_re(r"(?i:main)|test\w*|Test\w+")
_TEST = lazy_re(r"[@\[](?:\w*Test|Fact|Theory)\b")
_GO_FUNCTION = lazy_re(
    r"\bfunc[ \t]*\(([^()]{0,400})\)[^{}\n(]{0,80}(?:\([^()\n]{0,80}\)[ \t]*)?\{"
)
"""``func(ev interface{}) {``"""
_GO_DEFERRED = lazy_re(r"(?m)^([ \t]*)defer[ \t]+(?!func\b)(.{1,400}\))[ \t]*$")
_RUBY_METHOD = lazy_re(
    r"(?ms)^([ \t]*)def[ \t]+(\w{1,80})[?!]?(?:[ \t]*\(([^()\n]{0,400})\))?[ \t]*\n"
    r"(.{0,4000}?)^\1end\b"
)
_RUBY_LAMBDA = lazy_re(r"(?:->|\blambda\b)[ \t]*(?:\(([^()\n]{0,80})\))?[ \t]*\{([^{}]{0,400})\}")
_RUBY_BLOCK = lazy_re(
    r"(\.\w{1,60}(?:\([^()\n]{0,80}\))?)[ \t]*\{[ \t]*\|(\w{1,60})\|([^{}]{0,400})\}"
)
"""``url.then { |it| driver.get(it) }``"""
_PHP_FUNCTION = lazy_re(
    r"\b(?:fn[ \t]*(\([^()]{0,400}\))(?=[ \t]*=>)"
    r"|(function[ \t]*\([^()]{0,400}\))[ \t]*use[ \t]*\([^()]{0,400}\))"
)
_KOTLIN_LAMBDA = lazy_re(r"(\.\w{1,60})[ \t]*\{(?:[ \t]*(\w{1,60})[ \t]*->)?([^{}]{0,400})\}")
"""``url.let { driver.get(it) }``"""
_KOTLIN_FUNCTION = lazy_re(r"(=[ \t]*)\{(?=[^{}:]{0,400}\})")


def with_javascript_functions(source: str, language: str) -> str:
    """Return code of a language with its functions in JavaScript's form."""
    if language in _JVM_LIKE:
        source = _CLASS.sub(r"\1{", source)
    if language in ("java", "csharp", "cs", "groovy", "dart"):
        source = _METHOD.sub(_of_method, source)
    if language in ("go", "golang", "rust", "kotlin", "kt", "swift"):
        source = _NAMED.sub(_of_named, source)
    match language:
        case "java":
            return source.replace("->", "=>")
        case "go" | "golang":
            source = _GO_DEFERRED.sub(r"\1defer(() => \2)", source)
            return _GO_FUNCTION.sub(lambda it: f"function ({_first_words(it[1])}) {{", source)
        case "kotlin" | "kt":
            source = _KOTLIN_FUNCTION.sub(r"\1() => {", source)
            return _KOTLIN_LAMBDA.sub(
                lambda it: f"{it[1]}(({it[2] or 'it'}) => {{{it[3]}}})", source
            )
        case "php":
            return _PHP_FUNCTION.sub(lambda it: it[1] or it[2], source)
        case "ruby" | "rb":
            return _of_ruby(source)
    return source


def _of_ruby(source: str) -> str:
    source = _RUBY_LAMBDA.sub(r"(\1) => {\n\2\n}", source)
    source = _RUBY_BLOCK.sub(r"\1((\2) => {\n\3\n})", source)
    for name in dict.fromkeys(match[2] for match in _RUBY_METHOD.finditer(source)):
        source = re.sub(rf"(?m)^([ \t]*{name})[ \t]*$", r"\1()", source)
    return _RUBY_METHOD.sub(r"\1function \2(\3) {\n\4\1}", source)


def _of_named(match: re.Match[str]) -> str:
    indent, name, parameters = match.groups()
    if _RUN_BY_ITSELF.fullmatch(name):
        return f"{indent}{{"
    return f"{indent}function {name}({_first_words(parameters)}) {{"


def _of_method(match: re.Match[str]) -> str:
    marks, name, parameters = match.groups()
    if _RUN_BY_ITSELF.fullmatch(name) or _TEST.search(marks):
        return "{"
    names = (each.split()[-1] for each in parameters.split(",") if each.strip())
    return f"function {name}({', '.join(names)}) {{"


def _first_words(parameters: str) -> str:
    """Return the names of parameters, which stand before their types."""
    return ", ".join(each.split()[0].rstrip(":") for each in parameters.split(",") if each.strip())
