"""Reads the calls in an agent's Python code, without running it.

Names that are bound to constants are replaced, loops over constants are unrolled, and functions
that the code defines are read where they are called. This includes functions of earlier code in the
same interpreter.
"""

import ast
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlencode

from warex.llm.actions.base import CodeCall, Context, finds_element, inner_context, listens
from warex.llm.actions.name_heuristics import is_own_address
from warex.text.lazy_pattern import lazy_re

type _Scalar = str | int | float | bool | None
type _Value = _Scalar | list[_Scalar] | dict[_Scalar, _Scalar]
type _Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
type _Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp

MOST_CODE: Final = 32_000
"""Characters of code that are read."""
_MOST_NODES = 20_000
"""Nodes that are visited; functions and unrolled loops count each time."""
_MOST_CALLS = 200
_DEEPEST = 60
_DEEPEST_FUNCTION = 4
_LONGEST_VALUE = 4000
_MOST_UNROLLED = 20
_MAGIC: Final = lazy_re(r"(?m)^([ \t]*)([!%])(?!=)[ \t]*(\S.*)$")
_CALLS_GIVEN: Final = lazy_re(
    r"\w*map\w*|submit|partial|to_thread|run_in_executor|apply\w*|\w*retry\w*", re.IGNORECASE
)
"""Functions that call what they are given."""
_MOST_DEFINED = 500
"""Names that an interpreter keeps from one piece of code to the next."""


@dataclass(frozen=True, slots=True)
class Definitions:
    """What the names mean that earlier code has bound in an interpreter."""

    values: Mapping[str, _Value] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)
    functions: Mapping[str, _Function] = field(default_factory=dict)
    elements: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


NOTHING_DEFINED: Final = Definitions()


def may_call(source: str) -> bool:
    """Whether text may be code that calls something: prose need not be parsed to see that."""
    return "(" in source or _MAGIC.search(source) is not None


def python_calls(
    source: str, defined: Definitions = NOTHING_DEFINED
) -> tuple[CodeCall, ...] | None:
    """Return the calls that code makes, in order; None if it is not Python."""
    reader = _read(source, defined)
    return None if reader is None else tuple(reader.calls[:_MOST_CALLS])


def python_definitions(source: str, defined: Definitions = NOTHING_DEFINED) -> Definitions:
    """Return what is defined after code has run; the same as before if it is not Python."""
    reader = _read(source, defined)
    return defined if reader is None else reader.definitions()


def _read(source: str, defined: Definitions) -> "_Reader | None":
    if len(source) > MOST_CODE:
        return None
    tree = _parsed(source)
    if tree is None and (plain := _MAGIC.sub(_plain_python, source)) != source:
        tree = _parsed(plain)
    if tree is None:
        return None
    reader = _Reader(defined)
    reader.block(tree.body, "")
    return reader


def _parsed(source: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _plain_python(magic: re.Match[str]) -> str:
    """Return a line of IPython's own, ``!command`` or ``%magic``, as Python."""
    return f"{magic[1]}os.system({magic[3]!r})" if magic[2] == "!" else f"{magic[1]}pass"


class _Reader:
    def __init__(self, defined: Definitions) -> None:
        self.calls: list[CodeCall] = []
        self._values: dict[str, _Value] = dict(defined.values)
        self._sources: dict[str, str] = dict(defined.sources)
        """The expressions to which names are bound: ``page.url``."""
        self._modules: dict[str, str] = dict(defined.modules)
        """The modules from which names come, directly or as results of calls."""
        self._functions: dict[str, _Function] = dict(defined.functions)
        self._elements: dict[str, tuple[str, ...]] = dict(defined.elements)
        """The arguments by which the elements of a page were found that names are bound to."""
        self._nodes = 0
        self._depth = 0
        self._open_functions = 0

    def definitions(self) -> Definitions:
        """Return what the names mean after the code."""
        return Definitions(
            _latest(self._values),
            _latest(self._sources),
            _latest(self._modules),
            _latest(self._functions),
            _latest(self._elements),
        )

    def block(self, statements: Iterable[ast.AST], context: Context) -> None:
        for statement in statements:
            self._visit(statement, context)

    def _visit(self, node: ast.AST, context: Context) -> None:
        self._nodes += 1
        if self._nodes > _MOST_NODES or self._depth > _DEEPEST or len(self.calls) > _MOST_CALLS:
            return
        self._depth += 1
        self._read(node, context)
        self._depth -= 1

    def _read(self, node: ast.AST, context: Context) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._functions[node.name] = node
            case ast.ClassDef():
                self.block((each for each in node.body if _is_function(each)), context)
            case ast.Lambda():
                pass
            case ast.Import() | ast.ImportFrom():
                self._import(node)
            case ast.Assign() | ast.AnnAssign() | ast.NamedExpr():
                self._assign(node, context)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                self._visit(value, context)
                both = ast.BinOp(ast.Name(name), node.op, value)
                self._bind(name, self._value(both))
            case ast.For() | ast.AsyncFor():
                self._visit(node.iter, context)
                inner = inner_context(context, "loop")
                self._each(node.target, node.iter, lambda: self.block(node.body, inner))
                self.block(node.orelse, context)
            case ast.While():
                self.block((node.test, *node.body), inner_context(context, "loop"))
                self.block(node.orelse, context)
            case ast.Try() | ast.TryStar():
                self.block(node.body, context)
                self.block(node.handlers, inner_context(context, "handler"))
                self.block((*node.orelse, *node.finalbody), context)
            case ast.If() | ast.IfExp() if self._value(node.test) is False:
                self.block(node.orelse if isinstance(node.orelse, list) else [node.orelse], context)
            case ast.If() | ast.IfExp():
                self._visit(node.test, context)
                inner = context if _is_main(node.test) else inner_context(context, "branch")
                self.block(node.body if isinstance(node.body, list) else [node.body], inner)
                self.block(node.orelse if isinstance(node.orelse, list) else [node.orelse], inner)
            case ast.withitem():
                self._visit(node.context_expr, context)
                if isinstance(node.optional_vars, ast.Name):
                    self._bind(node.optional_vars.id, node, self._module(node.context_expr))
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                self._comprehension(node, context)
            case ast.Call():
                self._call(node, context, is_receiver=False)
            case ast.Attribute(value=ast.Call() as call):
                self._call(call, context, is_receiver=True)
            case _:
                self.block(ast.iter_child_nodes(node), context)

    def _comprehension(self, node: _Comprehension, context: Context) -> None:
        first = node.generators[0]
        self._visit(first.iter, context)
        inner = inner_context(context, "loop")
        parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        rest = [*first.ifs, *node.generators[1:], *parts]
        self._each(first.target, first.iter, lambda: self.block(rest, inner))

    def _each(self, target: ast.expr, over: ast.expr, read: Callable[[], None]) -> None:
        """Read a loop's body once for each element of a constant, else once."""
        elements = self._value(over)
        if isinstance(elements, list) and isinstance(target, ast.Name):
            for element in elements[:_MOST_UNROLLED]:
                self._bind(target.id, element)
                read()
            return
        for name in _names_in(target):
            self._bind(name, over)
        read()

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            bound = alias.asname or alias.name.partition(".")[0]
            module = node.module if isinstance(node, ast.ImportFrom) else alias.name
            self._bind(bound, node, (module or "").partition(".")[0])

    def _assign(self, node: ast.Assign | ast.AnnAssign | ast.NamedExpr, context: Context) -> None:
        if node.value is None:
            return
        self._visit(node.value, context)
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            value = self._value(node.value)
            element = self._element_arguments(node.value)
            if isinstance(target, ast.Name):
                self._bind(target.id, value, self._module(node.value))
                if isinstance(node.value, ast.Lambda):
                    self._functions[target.id] = node.value
                if element:
                    self._elements[target.id] = element
                continue
            names = list(_names_in(target))
            elements = value if isinstance(value, list) and len(value) == len(names) else None
            for position, name in enumerate(names):
                self._bind(name, node if elements is None else elements[position])

    def _element_arguments(self, node: ast.expr) -> tuple[str, ...]:
        """Return by what an expression finds an element; nothing if it finds none."""
        while isinstance(node, ast.Await | ast.Subscript | ast.Attribute):
            node = node.value
        name, _, before = _chain(node.func) if isinstance(node, ast.Call) else ("", "", [])
        if not isinstance(node, ast.Call) or not finds_element(name):
            return ()
        argument_nodes = (*before, *node.args, *(keyword.value for keyword in node.keywords))
        return tuple(map(self._text, argument_nodes[:_DEEPEST]))

    def _bind(self, name: str, value: _Value | ast.AST, module: str = "") -> None:
        """Bind a name to a value; a node stands for an unknown one."""
        self._values.pop(name, None)
        self._sources.pop(name, None)
        self._elements.pop(name, None)
        if isinstance(value, ast.Attribute | ast.Name):
            self._sources[name] = _source(value)
        elif isinstance(value, ast.Call | ast.Await) and is_own_address(source := _source(value)):
            self._sources[name] = source
        elif not isinstance(value, ast.AST):
            self._values[name] = value
        self._modules[name] = module
        self._functions.pop(name, None)

    def _call(self, node: ast.Call, context: Context, *, is_receiver: bool) -> None:
        self._visit(node.func, context)
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        self.block(arguments, context)
        name, receiver, before = _chain(node.func)
        given_context = inner_context(context, "event") if listens(name) else context
        for argument in arguments:
            # ``retry(load)`` calls what it is given.
            if isinstance(argument, ast.Name) and argument.id in self._functions:
                self._enter(self._functions[argument.id], None, given_context)
        if _CALLS_GIVEN.fullmatch(name):
            self._passed(arguments, context)
        if name in self._functions:
            self._enter(self._functions[name], node, context)
        elif name and not self._is_data(node.func):
            named = {key.arg: self._text(key.value) for key in node.keywords if key.arg}
            root, _, rest = receiver.partition(".")
            element = self._elements.get(root, ())
            positional = (*element, *map(self._text, before), *map(self._text, node.args))
            receiver = ".".join(filter(None, (self._sources.get(root, root), rest)))
            self.calls.append(
                CodeCall(
                    name,
                    receiver,
                    self._with_query(positional, node),
                    named,
                    self._module(node.func),
                    is_receiver=is_receiver,
                    context=context,
                )
            )

    def _with_query(self, arguments: tuple[str, ...], node: ast.Call) -> tuple[str, ...]:
        """Return a call's arguments with its ``params`` in the address that comes first."""
        query = next((self._value(each.value) for each in node.keywords if each.arg == "params"), 0)
        if not isinstance(query, dict) or not arguments or not arguments[0].startswith("http"):
            return arguments
        address, *others = arguments
        added = urlencode([(str(name), value) for name, value in query.items()])
        return (f"{address}{'&' if '?' in address else '?'}{added}", *others)

    def _passed(self, arguments: Sequence[ast.expr], context: Context) -> None:
        """Read a method of a module that is passed on: ``map(requests.get, urls)``."""
        for argument in arguments:
            if isinstance(argument, ast.Attribute) and (module := self._module(argument)):
                name, receiver, _ = _chain(argument)
                texts = tuple(self._text(each) for each in arguments if each is not argument)
                self.calls.append(CodeCall(name, receiver, texts, module=module, context=context))

    def _enter(self, function: _Function, call: ast.Call | None, context: Context) -> None:
        """Read the body of a function of the code, with its parameters bound."""
        if self._open_functions >= _DEEPEST_FUNCTION:
            return
        outer = dict(self._values), dict(self._modules), dict(self._functions)
        self._bind_parameters(function, call)
        self._open_functions += 1
        self.block([function.body] if isinstance(function, ast.Lambda) else function.body, context)
        self._open_functions -= 1
        self._values, self._modules, self._functions = outer

    def _bind_parameters(self, function: _Function, call: ast.Call | None) -> None:
        spec = function.args
        parameters = [each.arg for each in (*spec.posonlyargs, *spec.args)]
        if parameters[:1] == ["self"]:
            parameters = parameters[1:]
        bound: dict[str, ast.expr] = {}
        if spec.defaults:
            bound |= zip(parameters[-len(spec.defaults) :], spec.defaults, strict=False)
        bound |= {
            each.arg: default
            for each, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
            if default is not None
        }
        if call is not None:
            bound |= zip(parameters, call.args, strict=False)
            bound |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        values = {name: (self._value(node), self._module(node)) for name, node in bound.items()}
        for name in (*parameters, *(each.arg for each in spec.kwonlyargs)):
            self._bind(name, *values.get(name, (function, "")))

    def _module(self, node: ast.AST | None) -> str:
        """Return the module from which a value comes: ``requests`` of ``requests.Session()``."""
        while isinstance(node, ast.Attribute | ast.Call | ast.Await | ast.Subscript):
            node = node.func if isinstance(node, ast.Call) else node.value
        return self._modules.get(node.id, "") if isinstance(node, ast.Name) else ""

    def _is_data(self, function: ast.expr) -> bool:
        """Whether a method is called on a text, a number or a list."""
        while isinstance(function, ast.Attribute | ast.Call | ast.Subscript):
            function = function.func if isinstance(function, ast.Call) else function.value
        if isinstance(function, ast.Name):
            return function.id in self._values
        return not isinstance(function, ast.Await)

    def _text(self, node: ast.expr) -> str:
        value = self._value(node)
        if isinstance(value, ast.AST):
            source = _source(node)[:_LONGEST_VALUE]
            return self._sources.get(source, source)
        return value if isinstance(value, str) else repr(value)[:_LONGEST_VALUE]

    def _value(self, node: ast.expr) -> _Value | ast.AST:
        """Return the value of an expression; the expression itself if it is unknown."""
        match node:
            case ast.Constant(value=str() | int() | float() | bool() | None as value):
                return value
            case ast.Name(id=name) if name in self._values:
                return self._values[name]
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                values = self._scalars(parts)
                return node if values is None else values
            case ast.Dict():
                keys, values = self._scalars(node.keys), self._scalars(node.values)
                if keys is None or values is None:
                    return node
                return dict(zip(keys, values, strict=True))
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name in self._values:
                return self._element(self._values[name], self._value(index), node)
            case ast.JoinedStr() | ast.BinOp(op=ast.Add()):
                text = self._joined(node)
                return node if text is None else text
            case _:
                return node

    def _scalars(self, nodes: Sequence[ast.expr | None]) -> list[_Scalar] | None:
        values = [self._scalar(node) for node in nodes]
        known = [value for value in values if not isinstance(value, ast.AST)]
        return known if len(known) == len(values) else None

    def _scalar(self, node: ast.expr | None) -> _Scalar | ast.AST:
        if isinstance(node, ast.Constant | ast.Name | ast.JoinedStr | ast.BinOp):
            value = self._value(node)
            return node if isinstance(value, list | dict) else value
        return ast.Pass()

    @staticmethod
    def _element(
        container: _Value, index: _Value | ast.AST, unknown: ast.expr
    ) -> _Scalar | ast.AST:
        try:
            if isinstance(container, list) and isinstance(index, int):
                return container[index]
            if isinstance(container, dict) and isinstance(index, str | int):
                return container[index]
        except LookupError:
            pass
        return unknown

    def _joined(self, node: ast.expr) -> str | None:
        """Return the text of an f-string or a sum of texts; None if a part is unknown."""
        parts: list[str] = []
        left: list[ast.expr] = [node]
        while left and len(left) < _MOST_CALLS:
            match left.pop():
                case ast.BinOp(op=ast.Add()) as both:
                    left += (both.right, both.left)
                case ast.JoinedStr(values=pieces):
                    left += reversed(pieces)
                case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                    left.append(value)
                case ast.Constant() | ast.Name() | ast.Subscript() as leaf:
                    known = self._value(leaf)
                    if not isinstance(known, str | int | float):
                        return None
                    if isinstance(node, ast.BinOp) and not isinstance(known, str):
                        return None
                    parts.append(str(known))
                case _:
                    return None
            if sum(map(len, parts)) > _LONGEST_VALUE:
                return None
        return None if left else "".join(parts)


def _latest[T](names: dict[str, T]) -> dict[str, T]:
    return dict(list(names.items())[-_MOST_DEFINED:])


def _chain(function: ast.expr) -> tuple[str, str, list[ast.expr]]:
    """Return a call's name, its receiver, and the arguments within the receiver.

    ``page.locator("#buy").click`` is ``click`` of ``page.locator`` with ``"#buy"``.
    """
    names: list[str] = []
    arguments: list[ast.expr] = []
    node: ast.AST = function
    while True:
        match node:
            case ast.Attribute():
                names.append(node.attr)
                node = node.value
            case ast.Call():
                arguments = [*node.args, *(key.value for key in node.keywords), *arguments]
                node = node.func
            case ast.Await() | ast.Subscript():
                node = node.value
            case ast.Name():
                names.append(node.id)
                break
            case _:
                break
        if len(names) > _DEEPEST:
            break
    if not names:
        return "", "", []
    return names[0], ".".join(reversed(names[1:])), arguments[:_DEEPEST]


def _names_in(target: ast.expr) -> Iterator[str]:
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return (part.id for part in parts if isinstance(part, ast.Name))


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and "__name__" in _source(test)


def _source(node: ast.expr) -> str:
    try:
        return ast.unparse(node)
    except (RecursionError, ValueError):
        return "…"
