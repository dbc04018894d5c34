"""What other distributions add to WAREX: classes that their entry points name.

An entry point has the name by which a scenario or a campaign names the class. A distribution's code
is imported when that name, or the list of all names, is asked for.
"""

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import TYPE_CHECKING, Literal

from warex.errors import MachineError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

type PluginGroup = Literal["warex.faults", "warex.benchmarks"]
"""The groups of entry points that WAREX reads."""


def plugin_names(group: PluginGroup, built_in: Collection[str]) -> tuple[str, ...]:
    """Return the names of a group's entry points, in alphabetical order.

    Raises MachineError if two distributions, or one and WAREX, use the same name.
    """
    return tuple(_entry_points(group, frozenset(built_in)))


def load_plugin[T](
    group: PluginGroup,
    name: str,
    base: type[T],
    built_in: Collection[str],
    problem_of: Callable[[type[T]], str],
) -> type[T] | None:
    """Return the class of an entry point; None if no distribution has one of this name.

    ``problem_of`` returns a clause that says why a class does not fit, empty if it does.

    Raises MachineError, which names the distribution, if the class cannot be imported, is not a
    concrete subclass of ``base``, or does not fit, and if a name is used twice.
    """
    entry = _entry_points(group, frozenset(built_in)).get(name)
    if entry is None:
        return None
    try:
        plugin = entry.load()
    except Exception as error:
        cause = f"{type(error).__name__}: {error}"
        raise _unusable(entry, f"cannot be imported ({cause})") from error
    if not (isinstance(plugin, type) and issubclass(plugin, base)):
        raise _unusable(entry, f"is not a subclass of {base.__module__}.{base.__name__}")
    if abstract := ", ".join(sorted(getattr(plugin, "__abstractmethods__", ()))):
        raise _unusable(entry, f"does not define {abstract}")
    if problem := problem_of(plugin):
        raise _unusable(entry, problem)
    return plugin


@cache
def _entry_points(group: PluginGroup, built_in: frozenset[str]) -> Mapping[str, "EntryPoint"]:
    # Imported here: it takes longer than all else that most commands need.
    from importlib.metadata import entry_points

    by_name: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        other = by_name.get(entry.name)
        if entry.name in built_in or other is not None:
            owner = "WAREX itself" if other is None else _distribution(other)
            raise MachineError(
                f"the package {_distribution(entry)} adds {entry.name!r} to {group}, a name that"
                f" {owner} uses already; rename the entry point or uninstall the package"
            )
        by_name[entry.name] = entry
    return by_name


def _unusable(entry: "EntryPoint", problem: str) -> MachineError:
    return MachineError(
        f"the package {_distribution(entry)} adds {entry.name!r} to {entry.group}, but"
        f" {entry.value!r} {problem}; mend, update or uninstall the package"
    )


def _distribution(entry: "EntryPoint") -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else repr(entry.value)
