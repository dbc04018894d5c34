"""What other distributions add to WAREX by entry points.

Each kind of plug-in declares its group where the kind lives: faults in ``warex.faults``, benchmarks
in ``warex.benchmarks``, metrics in ``warex.analysis.metrics``, LLM APIs in ``warex.llm.families``,
formats of runs in ``warex.exports``. The name of an entry point is the name of what it adds. A
distribution's code is imported when that name, or the list of all names, is asked for.
"""

from collections.abc import Callable, Collection, Mapping
from functools import cache
from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING, Final, Literal, get_args

from msgspec import Struct

from warex.errors import MachineError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

type GroupName = Literal[
    "warex.faults", "warex.benchmarks", "warex.metrics", "warex.llm_apis", "warex.run_formats"
]
_REMEDY: Final = "fix, update or uninstall the package"


class PluginGroup[T](Struct, frozen=True):
    """A group of entry points."""

    name: GroupName
    built_in: Callable[[], Collection[str]]
    """Returns the names of WAREX's own; an entry point cannot replace one."""
    accept: Callable[[str, object], T]
    """Returns the plug-in for a name and what its entry point names. Raises ValueError, with a
    clause that says why, if that does not fit."""

    def names(self) -> tuple[str, ...]:
        """Return the names of the entry points, in alphabetical order, without WAREX's own."""
        return tuple(sorted(_entry_points(self.name).keys() - frozenset(self.built_in())))

    def owner(self, name: str) -> str:
        """Return the distribution of an entry point, with its version."""
        return _distribution(_entry_points(self.name)[name][0])

    def load(self, name: str) -> T | None:
        """Return a plug-in; None if no distribution has one of this name.

        Raises MachineError, which names the distribution, if it cannot be imported or does not fit,
        and if two distributions use the name.
        """
        return _load(self, name) if name in _entry_points(self.name) else None

    def load_all(self) -> tuple[T, ...]:
        """Return every plug-in that can be used, by name.

        Each of the others is logged as a warning, which names its distribution.
        """
        usable: list[T] = []
        own = frozenset(self.built_in())
        for name, entries in sorted(_entry_points(self.name).items()):
            if name in own:
                _warn(_taken(entries[0], "WAREX itself"))
                continue
            try:
                usable.append(_load(self, name))
            except MachineError as error:
                _warn(str(error))
        return tuple(usable)

    def guard[**P, R](self, name: str, function: Callable[P, R]) -> Callable[P, R | None]:
        """Return a function of a plug-in that returns None, with a warning, instead of failing."""

        def guarded(*arguments: P.args, **keywords: P.kwargs) -> R | None:
            try:
                return function(*arguments, **keywords)
            except Exception as error:  # noqa: BLE001 - another distribution's code
                _warn(f"{name!r} of the package {self.owner(name)} failed ({describe(error)})")
                return None

        return guarded


def describe(error: Exception) -> str:
    """Return an error of another distribution's code: its type and message."""
    return f"{type(error).__name__}: {error}"


def plugin_failure(error: Exception) -> str | None:
    """Return which package and line of a plug-in raised an error; None if none did.

    A plug-in raised it if a module of the package that its entry point names is in the traceback.
    """
    entries = {
        entry.module.partition(".")[0]: entry
        for group in get_args(GroupName.__value__)
        for entries in _entry_points(group).values()
        for entry in entries
    }
    for frame, line in reversed(list(walk_tb(error.__traceback__))):
        module = str(frame.f_globals.get("__name__")).partition(".")[0]
        if module in entries and module != "warex":
            where = f"{Path(frame.f_code.co_filename).name}, line {line}"
            package = _distribution(entries[module])
            return f"the package {package} failed in {where} ({describe(error)}); {_REMEDY}"
    return None


def subclass_of[T](base: type[T], value: object) -> type[T]:
    """Return a value that is a concrete subclass of ``base``; raise ValueError for another."""
    if not (isinstance(value, type) and issubclass(value, base)):
        raise ValueError(f"is not a subclass of {base.__module__}.{base.__name__}")
    if abstract := ", ".join(sorted(getattr(value, "__abstractmethods__", ()))):
        raise ValueError(f"does not define {abstract}")
    return value


@cache
def _entry_points(group: GroupName) -> Mapping[str, tuple["EntryPoint", ...]]:
    """Return a group's entry points by name: more than one where distributions collide."""
    # Imported here: it takes longer than all else that most commands need.
    from importlib.metadata import entry_points

    by_name: dict[str, tuple[EntryPoint, ...]] = {}
    for entry in entry_points(group=group):
        by_name[entry.name] = (*by_name.get(entry.name, ()), entry)
    return by_name


@cache
def _load[T](group: PluginGroup[T], name: str) -> T:
    """Return an installed plug-in. Raises MachineError if it cannot be used."""
    entry, *others = _entry_points(group.name)[name]
    if others:
        raise MachineError(_taken(entry, _distribution(others[0])))
    problem = (
        f"the package {_distribution(entry)} adds {name!r} to {group.name}, but {entry.value!r}"
    )
    try:
        value = entry.load()
    except Exception as error:
        cause = f"cannot be imported ({describe(error)})"
        raise MachineError(f"{problem} {cause}; {_REMEDY}") from error
    try:
        return group.accept(name, value)
    except ValueError as error:
        raise MachineError(f"{problem} {error}; {_REMEDY}") from error


def _taken(entry: "EntryPoint", owner: str) -> str:
    return (
        f"the package {_distribution(entry)} adds {entry.name!r} to {entry.group}, a name that"
        f" {owner} uses already; rename the entry point or uninstall the package"
    )


def _distribution(entry: "EntryPoint") -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else repr(entry.value)


@cache
def _warn(sentence: str) -> None:
    """Log a sentence once; without a handler, it is printed on standard error."""
    import logging

    logging.getLogger(__name__).warning("%s; WAREX goes on without it", sentence)
