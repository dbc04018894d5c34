"""What callers of the Python API give: a mistake is an InputError with a sentence, no TypeError."""

import inspect
import os
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path

from warex.errors import InputError
from warex.text.english import did_you_mean


def checks_arguments[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that raises InputError where a call does not fit its parameters."""
    signature = inspect.signature(function)
    taken = [
        parameter.replace(annotation=parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name != "self"
    ]
    form = signature.replace(parameters=taken, return_annotation=signature.empty)
    return _checked(function, function.__name__, f"it is {function.__name__}{form}")


def made_by[T: type](maker: str) -> Callable[[T], T]:
    """Return a class decorator: its constructor raises InputError where a call does not fit.

    ``maker`` is the call that a user makes instead of constructing one, as the sentence names it.
    """

    def decorate(made: T) -> T:
        constructor = made.__init__  # type: ignore[misc]
        made.__init__ = _checked(constructor, made.__name__, f"{maker} makes one")  # type: ignore[misc]
        return made

    return decorate


def _checked[**P, R](function: Callable[P, R], name: str, form: str) -> Callable[P, R]:
    """Return a function that checks its arguments; ``form`` says how it is called."""
    signature = inspect.signature(function)
    names = [parameter for parameter in signature.parameters if parameter != "self"]
    takes_any = any(each.kind is each.VAR_KEYWORD for each in signature.parameters.values())

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for keyword in kwargs:
            if keyword not in names and not takes_any:
                near = did_you_mean(keyword, names)
                raise InputError(f"{name}(…): there is no argument {keyword!r}; {form}{near}")
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            raise InputError(f"{name}(…): {error}; {form}") from None
        return function(*args, **kwargs)

    return checked


def read_path(where: str, path: str | os.PathLike[str]) -> Path:
    """Return a path that a caller gave; ``where`` begins the sentence. Raises InputError."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else path
    if not isinstance(text, str) or "\0" in text:
        raise InputError(f"{where}{path!a}): it is not a path; give a text or a pathlib.Path")
    return Path(text)


def read_texts(value: object) -> tuple[str, ...]:
    """Return the texts of a list, or a text as a list of one. Raises ValueError."""
    if isinstance(value, str):
        return (value,)
    texts = tuple(value) if isinstance(value, Iterable) else (value,)
    for text in texts:
        if not isinstance(text, str):
            raise ValueError(f"{text!r} is not text; give a list of texts")
    return texts
