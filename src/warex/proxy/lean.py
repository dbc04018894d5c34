"""Loads mitmproxy's addons one by one, and not all of them.

Importing any one of ``mitmproxy.addons`` runs that package's ``__init__``, which imports all thirty
with what they need (flask, ldap3, ruamel.yaml…): most of the time that a proxy needs to load, and
a third of its memory, for four addons. A package of that name that has a path and nothing else lets
each be imported alone.

Only for a process that is a proxy and nothing else: mitmproxy's own programs need the real package.
"""

import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, module_from_spec

_PACKAGE = "mitmproxy.addons"


def load_only_what_is_used() -> None:
    """Stand an empty package in for ``mitmproxy.addons``, unless it is there already."""
    if _PACKAGE in sys.modules:
        return
    parent = find_spec("mitmproxy")
    path = None if parent is None else parent.submodule_search_locations
    real = None if path is None else PathFinder.find_spec(_PACKAGE, path)
    if real is None or real.submodule_search_locations is None:
        # Another layout than mitmproxy 12's: its own way is slow, and right.
        return
    empty = ModuleSpec(_PACKAGE, None, is_package=True)
    empty.submodule_search_locations = list(real.submodule_search_locations)
    sys.modules[_PACKAGE] = module_from_spec(empty)
