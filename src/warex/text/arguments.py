"""What callers of the Python API give: a mistake is an InputError with a sentence, no TypeError."""

import inspect
import os
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path

from warex.errors import InputError


def checks_arguments[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that raises InputError where a call does not fit its parameters."""
    signature = inspect.signature(function)
    taken = [
        parameter.replace(annotation=parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name != "self"
    ]
    form = signature.replace(parameters=taken, return_annotation=signature.empty)

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            name = function.__name__
            raise InputError(f"{name}(…): {error}; it is {name}{form}") from None
        return function(*args, **kwargs)

    return checked


def read_path(where: str, given: str | os.PathLike[str]) -> Path:
    """Return a path that a caller gave; ``where`` begins the sentence. Raises InputError."""
    text = os.fspath(given) if isinstance(given, str | os.PathLike) else given
    if not isinstance(text, str) or "\0" in text:
        raise InputError(f"{where}{given!a}): it is not a path; give a text or a pathlib.Path")
    return Path(text)


def read_texts(given: object) -> tuple[str, ...]:
    """Return the texts of a list, or a text as a list of one. Raises ValueError."""
    if isinstance(given, str):
        return (given,)
    texts = tuple(given) if isinstance(given, Iterable) else (given,)
    for text in texts:
        if not isinstance(text, str):
            raise ValueError(f"{text!r} is not text; give a list of texts")
    return texts
