"""The reference names every message that does not pass as it came."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs/reference/what-passes.md"
ERRORS = {"InvalidRequest", "InvalidResponse", "InvalidFraming", "MalformedMessage"}


def reasons() -> Iterator[str]:
    """Yield the constant parts of every reason for which a message is refused or cut."""
    for path in (ROOT / "src/warex/engine/http").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id=name), args=[reason, *_]) if name in ERRORS:
                    yield from texts(reason)
                case ast.FunctionDef(name=name) if name.startswith("invalid_"):
                    for each in ast.walk(node):
                        if isinstance(each, ast.Return) and each.value is not None:
                            yield from texts(each.value)


def texts(reason: ast.expr) -> Iterator[str]:
    for node in ast.walk(reason):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) > 1:
            yield node.value.strip()


def test_docs_name_every_message_that_does_not_pass() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    names = set(reasons())

    assert len(names) > 30
    assert {reason for reason in names if reason not in page} == set()
