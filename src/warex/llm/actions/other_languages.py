"""Rewrites code of further languages, so that JavaScript's parser reads its calls.

That parser skips errors, and a method's call is written alike in Java, C#, Kotlin, Go and others.
PHP has ``->`` for the dot, and Ruby calls without parentheses: ``driver.get 'https://…'``.
"""

from typing import Final

from warex.llm.actions.function_forms import with_javascript_functions
from warex.llm.actions.javascript_code import MOST_CODE
from warex.text.lazy_pattern import lazy_re

OTHER_LANGUAGES: Final = (
    *("java", "kotlin", "kt", "scala", "groovy", "csharp", "cs", "go", "golang", "rust", "swift"),
    *("dart", "php", "ruby", "rb"),
)
"""Names of languages after the marks of a block of code."""

_ARROW = lazy_re(r"->|::")
_COMMENT = lazy_re(r"(?m)(?:^|(?<=[ \t]))#(?!\{)[^\n]*$")
_BARE = lazy_re(r"(?m)^([ \t]*[@$]?\w[\w.]{0,200}\.\w{1,80})[!?]?[ \t]*$")
_COMMAND_OF_VALUE = lazy_re(
    r"(?m)^([ \t]*[@$]?\w[\w.]{0,200}\.\w+)[ \t]+([@$]?[a-z]\w{0,60}(?:\.\w{1,60})+)[ \t]*$"
)
"""``driver.get driver.current_url``"""
_LAST_CALL = lazy_re(r"(?m)(\)\.\w{1,80})[!?]?[ \t]*$")
_COMMAND = lazy_re(r"(?m)^([ \t]*[@$]?\w[\w.]{0,200})[ \t]+([\"'][^\n]*|[a-z]\w*_\w*)$")
_NAMED_ARGUMENTS = lazy_re(r"([(,][ \t]*)([a-z]\w{0,40}: [^(){}\n]{0,400})\)")
_DECLARED = lazy_re(
    r"(?m)^([ \t]*)(?:final[ \t]+)?(?:var|val|[A-Z][\w.]{0,60}(?:<[\w.]{1,60}>)?)[ \t]+(\w{1,60})"
    r"[ \t]*=(?!=)"
)
"""``WebElement button = …``"""
_SHORT_DECLARATION = lazy_re(r"(?m)^([ \t]*)(\w{1,60})(?:,[ \t]*\w{1,60})*[ \t]*:=")
"""``url, err := …``"""
_AWAITED = lazy_re(r"\.await\b|\?(?=[;.)\n]|\Z)")
_LIST_OF_TASKS = lazy_re(r"\bTasks\{([^{}]{0,2000})\}")
_CAST = lazy_re(r"\(\([A-Z]\w{0,60}\)[ \t]*(\w{1,60})\)(?=\.)")
"""``((JavascriptExecutor) driver).executeScript(…)``"""
_OBJECT = lazy_re(r"\bnew(?:\(\)|[ \t]+[A-Z][\w.]{0,60}(?:\(\))?)?[ \t]*\{([^{}]{0,400})\}")
_MEMBER = lazy_re(r"(\w)[ \t]*=(?![=>])")
"""``new() { Name = "Save" }``"""


def as_javascript(source: str, language: str) -> str:
    """Return code of a language with its calls in JavaScript's form; other code as it is."""
    if len(source) > MOST_CODE:
        return source
    if language == "php":
        source = _ARROW.sub(".", source)
    source = with_javascript_functions(source, language)
    if language in ("ruby", "rb"):
        source = _COMMAND_OF_VALUE.sub(r"\1(\2)", _COMMENT.sub("", source))
        source = _NAMED_ARGUMENTS.sub(r"\1{\2})", source)
        return _COMMAND.sub(r"\1(\2)", _LAST_CALL.sub(r"\1()", _BARE.sub(r"\1()", source)))
    if language in ("go", "golang"):
        source = _LIST_OF_TASKS.sub(r"Tasks(\1)", source)
        return _SHORT_DECLARATION.sub(r"\1\2 =", source)
    if language == "rust":
        return _AWAITED.sub("", source)
    if language in ("java", "kotlin", "kt", "csharp", "cs", "scala", "groovy", "dart", "swift"):
        source = _OBJECT.sub(lambda match: f"{{{_MEMBER.sub(r'\1:', match[1])}}}", source)
        return _CAST.sub(r"\1", _DECLARED.sub(r"\1const \2 =", source))
    return source
