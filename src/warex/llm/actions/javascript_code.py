"""Reads the calls in JavaScript or TypeScript, without running it.

Setting ``location``, ``location.href`` or an element's ``src`` counts as a call of it. ``const``
names are replaced by their texts, and functions are read where they are called or passed on.
"""

from collections.abc import Iterable
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Final

from warex.llm.actions.base import CodeCall, Context, finds_element, inner_context, listens
from warex.llm.actions.name_heuristics import is_own_address
from warex.text.lazy_pattern import lazy_re

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MOST_CODE: Final = 12_000
"""Characters of code that are read; the parser takes up to 0.2 s for so many hostile ones."""
_CHUNK = 1024
_MOST_PROGRESS = 4000
"""Reports of progress in which the parser has to end; ordinary code of this length takes 300."""
_MOST_NODES = 20_000
_MOST_CALLS = 200
_DEEPEST = 60
_DEEPEST_FUNCTION = 4
_LONGEST_VALUE = 4000
_DECLARED = ("function_declaration", "generator_function_declaration", "method_definition")
_FUNCTIONS = ("arrow_function", "function_expression", "generator_function")
_GIVES_ON = frozenset(("then", "let"))
"""Methods that call a function with what they are called on: ``cy.url().then(url => …)``."""
_RUNS = frozenset(("call", "apply", "run", "invoke", "accept", "execute"))
"""Methods of a function that call it, in other languages too."""
_BUILDERS = frozenset(("chromedp",))
"""Modules whose functions return an action that a list or ``Run`` carries out."""
_TIMERS = frozenset(("setTimeout", "setInterval", "setImmediate", "requestAnimationFrame"))
"""Functions that call another one when the code has ended."""
_WRAPPERS = ("await_expression", "parenthesized_expression", "non_null_expression")
_IDENTIFIER = lazy_re(r"[\w$]+")
_CONTEXTS: dict[str, Context] = {
    **dict.fromkeys(
        ("for_statement", "for_in_statement", "while_statement", "do_statement"), "loop"
    ),
    "catch_clause": "handler",
    **dict.fromkeys(("if_statement", "switch_statement", "ternary_expression"), "branch"),
}


def javascript_calls(source: str) -> tuple[CodeCall, ...] | None:
    """Return the calls that code makes, in order; None if it is not JavaScript.

    TypeScript's annotations are skipped.
    """
    if len(source) > MOST_CODE:
        return None
    root = _parsed(source.encode(errors="replace"))
    if root is None:
        return None
    reader = _Reader()
    reader.read(root)
    return tuple(reader.calls[:_MOST_CALLS]) if reader.calls or not root.has_error else None


def _parsed(source: bytes) -> "Node | None":
    """Return the root of the syntax tree; None if the code takes more than ``_MOST_PROGRESS``.

    The parser looks for the cheapest way to repair code in another language: of some, ``->``
    repeated, in time that grows with its square.
    """
    parser, calls = _parser(), count()
    try:
        return parser.parse(
            lambda at, point: source[at : at + _CHUNK],
            progress_callback=lambda *_: next(calls) > _MOST_PROGRESS,
        ).root_node
    except ValueError:
        parser.reset()
        return None


@cache
def _parser() -> "Parser":
    import tree_sitter_javascript
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_javascript.language()))


class _Reader:
    def __init__(self) -> None:
        self.calls: list[CodeCall] = []
        self._values: dict[str, str] = {}
        self._sources: dict[str, str] = {}
        """The expressions to which names are bound: ``page.url()``."""
        self._constructors: dict[str, str] = {}
        """The classes of which names are objects: ``XMLHttpRequest``."""
        self._elements: dict[str, tuple[str, ...]] = {}
        """The arguments by which the elements of a page were found that names are bound to."""
        self._functions: dict[str, Node] = {}
        self._methods: dict[str, Node] = {}
        """The functions of classes and objects, by their own names."""
        self._later: list[tuple[Node, Context]] = []
        """The functions that timers call."""
        self._nodes = 0
        self._depth = 0
        self._open: list[int] = []
        """The functions that are being read."""

    def read(self, root: "Node") -> None:
        """Read a program, and then what its timers call."""
        self.visit(root, "")
        for function, context in self._later:
            self.visit(function, context)

    def visit(self, node: "Node", context: Context, *, is_receiver: bool = False) -> None:
        self._nodes += 1
        if self._nodes > _MOST_NODES or self._depth > _DEEPEST or len(self.calls) > _MOST_CALLS:
            return
        self._depth += 1
        self._read(node, inner_context(context, _CONTEXTS.get(node.type, "")), is_receiver)
        self._depth -= 1

    def _read(self, node: "Node", context: Context, is_receiver: bool) -> None:
        kind = node.type
        if kind in ("call_expression", "new_expression"):
            self._call(node, context, is_receiver)
        elif kind == "if_statement" and _never_holds(node.child_by_field_name("condition")):
            alternative = node.child_by_field_name("alternative")
            self._all(() if alternative is None else (alternative,), context)
        elif kind in _DECLARED:
            if (name := node.child_by_field_name("name")) is not None:
                is_method = kind == "method_definition"
                (self._methods if is_method else self._functions)[_source(name)] = node
        elif kind == "variable_declarator":
            self._bind(node, "name", context)
        elif kind == "assignment_expression":
            self._bind(node, "left", context)
        elif kind == "augmented_assignment_expression":
            # ``page.Crash += …`` in C# calls the function at the event.
            right = node.child_by_field_name("right")
            is_listener = right is not None and right.type in _FUNCTIONS
            inner = inner_context(context, "event") if is_listener else context
            self._all(node.named_children, inner)
        elif kind in _FUNCTIONS:
            body = node.child_by_field_name("body")
            self._all(() if body is None else (body,), context)
        elif kind == "member_expression":
            self._all(node.named_children, context, is_receiver=True)
        elif kind == "pair" and _is_function(node.child_by_field_name("value")):
            function = node.named_children[-1]
            self._methods[_source(node.named_children[0])] = function
            if _is_argument(node.parent):
                self.visit(function, context)
        else:
            # Functions are known before their declaration.
            declares = (*_DECLARED, "class_declaration")
            self._all(sorted(node.named_children, key=lambda it: it.type not in declares), context)

    def _all(self, nodes: Iterable["Node"], context: Context, *, is_receiver: bool = False) -> None:
        for node in nodes:
            self.visit(node, context, is_receiver=is_receiver)

    def _bind(self, node: "Node", target_field: str, context: Context) -> None:
        target = node.child_by_field_name(target_field)
        value = node.child_by_field_name("value" if target_field == "name" else "right")
        if target is None or value is None:
            return
        name = _source(target)
        if _is_function(value) or self._is_built(value):
            self._functions[name] = value
            if "." in name:
                self._methods[name.rpartition(".")[2]] = value
            return
        self.visit(value, context)
        text = self._value(value)
        receiver, _, attribute = name.rpartition(".")
        if attribute in ("location", "href") and "location" in name:
            receiver = name.removesuffix(".href")
            self.calls.append(CodeCall("href", receiver, (self._text(value),), context=context))
        elif attribute in ("src", "Url") and receiver:
            # ``driver.Url = "https://…"`` in C#.
            self.calls.append(CodeCall(attribute, receiver, (self._text(value),), context=context))
        else:
            self._values.pop(name, None)
            self._sources.pop(name, None)
            self._constructors.pop(name, None)
            for each in _IDENTIFIER.findall(name)[:_DEEPEST]:
                self._elements.pop(each, None)
                if element := self._element_arguments(value):
                    self._elements[each] = element
            if value.type == "new_expression":
                self._constructors[name] = _chain(value.child_by_field_name("constructor"))[0]
            if text is not None:
                self._values[name] = text
            elif value.type in ("member_expression", "call_expression", "await_expression"):
                self._sources[name] = _source(value)

    def _is_built(self, value: "Node") -> bool:
        """Whether an expression is an action for later: ``chromedp.Reload()``."""
        if value.type != "call_expression":
            return False
        name, receiver, _ = _chain(value.child_by_field_name("function"))
        return receiver.partition(".")[0] in _BUILDERS and name != "Run"

    def _element_arguments(self, value: "Node") -> tuple[str, ...]:
        """Return by what an expression finds an element; nothing if it finds none."""
        node: Node | None = value
        while node is not None and node.type in (*_WRAPPERS, "subscript_expression"):
            node = node.named_children[0] if node.named_children else None
        if node is None or node.type != "call_expression":
            return ()
        name, _, before = _chain(node.child_by_field_name("function"))
        arguments = node.child_by_field_name("arguments")
        if arguments is None or not finds_element(name):
            return ()
        return tuple(map(self._text, (*before, *arguments.named_children[:_DEEPEST])))

    def _call(self, node: "Node", context: Context, is_receiver: bool) -> None:
        new = node.type == "new_expression"
        function = node.child_by_field_name("constructor" if new else "function")
        arguments = node.child_by_field_name("arguments")
        argument_nodes = [] if arguments is None else arguments.named_children
        if function is None:
            return
        if function.type not in ("identifier", *_FUNCTIONS):
            self.visit(function, context)
        name, receiver, before = _chain(function)
        # A function that is passed on is called, after the call itself unless it is one of the
        # code's own.
        passed = [each for each in argument_nodes if each.type in _FUNCTIONS]
        self._all((each for each in argument_nodes if each.type not in _FUNCTIONS), context)
        given_context = inner_context(context, "event") if listens(name) else context
        for each in argument_nodes:
            if each.type == "identifier" and _source(each) in self._functions:
                self._enter(self._functions[_source(each)], (), given_context)
        if function.type in _FUNCTIONS:
            self.visit(function, context)
        elif function.type == "parenthesized_expression":
            pass
        elif (own := self._own_function(name, receiver)) is not None:
            self._enter(own, argument_nodes, context)
        elif name and not new:
            element = self._elements.get(receiver.partition(".")[0], ())
            texts = (*element, *map(self._text, (*before, *argument_nodes)))
            self.calls.append(
                CodeCall(
                    name,
                    receiver,
                    texts,
                    module=self._constructors.get(receiver, ""),
                    is_receiver=is_receiver,
                    context=context,
                )
            )
        if name in _GIVES_ON:
            self._give_on(function, argument_nodes)
        if name in _TIMERS and not _in_promise(node):
            self._later += ((each, context) for each in passed)
        else:
            self._all(passed, given_context)

    def _give_on(self, method: "Node", argument_nodes: Iterable["Node"]) -> None:
        """Bind the first parameter of a function to what the method is called on."""
        receiver = method.child_by_field_name("object")
        if receiver is None:
            return
        for function in argument_nodes:
            for name in _parameters(function)[:1]:
                self._values.pop(name, None)
                self._sources[name] = _source(receiver)

    def _own_function(self, name: str, receiver: str) -> "Node | None":
        """Return the function of the code that a call calls; None if it is another's."""
        if not receiver:
            return self._functions.get(name)
        if name in _RUNS and receiver in self._functions:
            return self._functions[receiver]
        method = self._methods.get(name)
        # ``const reload = () => page.reload()`` does not call itself.
        return method if method is not None and method.id not in self._open else None

    def _enter(self, function: "Node", argument_nodes: Iterable["Node"], context: Context) -> None:
        body = function.child_by_field_name("body") or function
        if len(self._open) >= _DEEPEST_FUNCTION:
            return
        outer = dict(self._values), dict(self._functions)
        texts = [self._value(each) for each in argument_nodes]
        for position, parameter in enumerate(_parameters(function)):
            text = texts[position] if position < len(texts) else None
            self._values.pop(parameter, None)
            if text is not None:
                self._values[parameter] = text
        self._open.append(function.id)
        self.visit(body, context)
        self._open.pop()
        self._values, self._functions = outer

    def _text(self, node: "Node") -> str:
        if node.type == "object":
            return self._object(node)
        value, source = self._value(node), _source(node)
        if value is not None:
            return value
        root = node
        while root.type == "member_expression" and (below := root.child_by_field_name("object")):
            root = below
        name = _source(root)
        # ``here.href``, where ``here`` is the page's location.
        address = source.replace(name, self._sources.get(name, name), 1)
        return address if is_own_address(address) else self._sources.get(source, source)

    def _object(self, node: "Node") -> str:
        """Return the source of an object, ``{ url }`` with what the name is bound to."""
        members: list[str] = []
        for member in node.named_children[:_DEEPEST]:
            name = source = _source(member)
            if member.type == "shorthand_property_identifier":
                value = self._values.get(name)
                source = (
                    f"{name}: {self._sources.get(name, name) if value is None else repr(value)}"
                )
            members.append(source)
        return f"{{ {', '.join(members)} }}" if members else "{}"

    def _value(self, node: "Node", depth: int = 0) -> str | None:
        """Return the text of an expression; None if it is unknown."""
        if depth > _DEEPEST:
            return None
        if node.type == "identifier":
            return self._values.get(_source(node))
        if node.type in ("string", "template_string"):
            parts: list[str | None] = []
            for part in node.named_children:
                if part.type == "template_substitution":
                    inner = part.named_children
                    parts.append(self._value(inner[0], depth + 1) if len(inner) == 1 else None)
                else:
                    parts.append(_unescaped(part))
            return _joined(parts)
        if node.type == "binary_expression" and any(one.type == "+" for one in node.children):
            return _joined(self._value(part, depth + 1) for part in node.named_children)
        if node.type == "parenthesized_expression" and node.named_child_count == 1:
            return self._value(node.named_children[0], depth + 1)
        return None


def _is_function(node: "Node | None") -> bool:
    return node is not None and node.type in _FUNCTIONS


def _is_argument(node: "Node | None") -> bool:
    """Whether an object is what a call is given: ``$.ajax({error: …})``."""
    return node is not None and node.parent is not None and node.parent.type == "arguments"


def _in_promise(node: "Node") -> bool:
    """Whether code is within ``new Promise(…)``, which is mostly awaited."""
    above = node.parent
    while above is not None:
        made = above.child_by_field_name("constructor")
        if made is not None and _source(made) == "Promise":
            return True
        above = above.parent
    return False


def _parameters(function: "Node") -> list[str]:
    """Return the names of a function's parameters."""
    single = function.child_by_field_name("parameter")
    listed = function.child_by_field_name("parameters")
    nodes = [single] if single is not None else listed.named_children if listed else []
    return [bound[0] if (bound := _IDENTIFIER.match(_source(each))) else "" for each in nodes]


def _never_holds(condition: "Node | None") -> bool:
    return condition is not None and _source(condition).strip("() ") == "false"


def _joined(parts: Iterable[str | None]) -> str | None:
    known: list[str] = []
    for part in parts:
        if part is None:
            return None
        known.append(part)
    text = "".join(known)
    return text if len(text) <= _LONGEST_VALUE else None


def _chain(function: "Node | None") -> tuple[str, str, list["Node"]]:
    """Return a call's name, its receiver, and the arguments within the receiver."""
    names: list[str] = []
    arguments: list[Node] = []
    node = function
    while node is not None and len(names) <= _DEEPEST:
        if node.type == "member_expression":
            if (last := node.child_by_field_name("property")) is not None:
                names.append(_source(last))
            node = node.child_by_field_name("object")
        elif node.type == "call_expression":
            if (argument_list := node.child_by_field_name("arguments")) is not None:
                arguments = [*argument_list.named_children, *arguments]
            node = node.child_by_field_name("function")
        elif node.type == "new_expression":
            if (argument_list := node.child_by_field_name("arguments")) is not None:
                arguments = [*argument_list.named_children, *arguments]
            node = node.child_by_field_name("constructor")
        elif node.type in _WRAPPERS:
            node = node.named_children[0] if node.named_children else None
        elif node.type == "subscript_expression":
            node = node.child_by_field_name("object")
        else:
            break
    if node is None or node.type not in ("identifier", "this"):
        return "", "", []
    names.append(_source(node))
    return names[0], ".".join(reversed(names[1:])), arguments[:_DEEPEST]


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def _unescaped(node: "Node") -> str:
    text = _source(node)
    if node.type != "escape_sequence":
        return text
    return _ESCAPES.get(text[1:], text[1:])


def _source(node: "Node") -> str:
    return (node.text or b"")[:_LONGEST_VALUE].decode(errors="replace")
