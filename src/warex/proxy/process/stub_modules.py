"""Loads of mitmproxy what a proxy of ours uses, and not the rest.

Loading mitmproxy as it is takes most of a second of processor time, two thirds of it for what no
lane ever does: QUIC and HTTP/3 (no UDP gets in), the parser of its command line, YAML files of its
options, and twenty-six addons of thirty.

- Importing any one of ``mitmproxy.addons`` runs that package's ``__init__``, which imports all
  thirty. An empty package of that name, with the real one's path, lets each be imported alone.
- What is never called gets a **stand-in**: a module whose every name is a class of which nothing is
  an instance. ``isinstance`` says no, as it would; a call raises, and so cuts the exchange and
  voids the trial. It does not matter which names are imported, so a new version may import others.

- mitmproxy checks the type of each event and of each part of a message, which takes about a sixth
  of a request (``bench/``). Those checks are left out. ``python -O`` would leave them out, too, but
  compiles each module anew at each start where bytecode may not be written: packages are installed
  with that of plain Python.

Only for a process that is a proxy and nothing else: mitmproxy's own programs need the real ones.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any, NoReturn

_ADDONS = "mitmproxy.addons"
STUBBED = (
    "aioquic",
    "mitmproxy.command_lexer",
    "mitmproxy.proxy.layers.http._http3",
    "mitmproxy.proxy.layers.quic",
    "pyparsing",
    "ruamel.yaml",
)
"""Modules and packages of which a lane needs no more than that their names can be imported."""


def install_stubs() -> None:
    """Put an empty ``mitmproxy.addons`` and the stand-ins in place, unless mitmproxy is loaded."""
    if _ADDONS in sys.modules:
        return
    parent = find_spec("mitmproxy")
    path = None if parent is None else parent.submodule_search_locations
    real = None if path is None else PathFinder.find_spec(_ADDONS, path)
    if real is None or real.submodule_search_locations is None:
        # Another layout than mitmproxy 12's: its own way is slow, and right.
        return
    empty = ModuleSpec(_ADDONS, None, is_package=True)
    empty.submodule_search_locations = list(real.submodule_search_locations)
    sys.modules[_ADDONS] = module_from_spec(empty)
    sys.meta_path.insert(0, _StubFinder())
    _disable_type_checks()


def _disable_type_checks() -> None:
    """Have mitmproxy take events and messages for what they are, as it does under ``-O``."""
    from mitmproxy import http
    from mitmproxy.proxy import utils

    # Before the layers are loaded, which are decorated with it.
    utils.expect = lambda *_event_types: lambda method: method
    http.MessageData.__post_init__ = lambda self: None  # type: ignore[method-assign]


class _StubFinder:
    """Finds and makes the stand-ins (PEP 451)."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not any(name == it or name.startswith(f"{it}.") for it in STUBBED):
            return None
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """Let Python make the module."""

    def exec_module(self, module: ModuleType) -> None:
        whole = module.__name__

        def of(name: str) -> type:
            # What asks for a dunder asks what kind of module this is.
            if name.startswith("__"):
                raise AttributeError(name)
            made = _Stub(f"{whole}.{name}", (), {})
            setattr(module, name, made)
            return made

        module.__getattr__ = of  # type: ignore[method-assign]


class _Stub(type):
    """The kind of a name that only needs to be there."""

    def __getattr__(cls, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Stub(f"{cls.__name__}.{name}", (), {})

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(
            f"mitmproxy calls {cls.__name__}, which is not loaded: take it out of"
            " warex.proxy.process.stub_modules.NEVER_CALLED"
        )
