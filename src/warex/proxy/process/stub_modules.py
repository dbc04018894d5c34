"""Loads only the parts of mitmproxy that a lane's proxy uses.

Importing all of mitmproxy takes most of a second of processor time, two thirds of it for unused
parts: QUIC and HTTP/3, the command parser, YAML option files, and twenty-six of thirty addons.

- Importing any module of ``mitmproxy.addons`` runs the package's ``__init__``, which imports all
  thirty. An empty package with the same name and path allows to import each alone.
- A module that is never called gets a **stub**, in which every name is a class without instances:
  ``isinstance`` is False, and a call raises, which cuts the exchange and voids the trial. A new
  version may import other names.
- mitmproxy checks the type of each event and message part, which takes about a sixth of a request
  (``bench/``). These checks are disabled. ``python -O`` would do so, too, but recompiles modules at
  each start if bytecode cannot be written.

Only for a process that is nothing but a proxy: mitmproxy's own programs need the real modules.
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
"""Modules and packages whose names are imported but never called."""


def install_stubs() -> None:
    """Install an empty ``mitmproxy.addons`` and the stubs, unless mitmproxy is loaded."""
    if _ADDONS in sys.modules:
        return
    parent = find_spec("mitmproxy")
    path = None if parent is None else parent.submodule_search_locations
    real = None if path is None else PathFinder.find_spec(_ADDONS, path)
    if real is None or real.submodule_search_locations is None:
        return  # Another layout than mitmproxy 12's: import it regularly.
    empty = ModuleSpec(_ADDONS, None, is_package=True)
    empty.submodule_search_locations = list(real.submodule_search_locations)
    sys.modules[_ADDONS] = module_from_spec(empty)
    sys.meta_path.insert(0, _StubFinder())
    _disable_type_checks()


def _disable_type_checks() -> None:
    """Disable mitmproxy's type checks of events and messages, as ``python -O`` does."""
    from mitmproxy import http
    from mitmproxy.proxy import utils

    # Before the layers are imported, which use it as a decorator.
    utils.expect = lambda *_event_types: lambda method: method
    http.MessageData.__post_init__ = lambda self: None  # type: ignore[method-assign]


class _StubFinder:
    """Finds and loads the stubs (PEP 451)."""

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
            # Dunder names are used for introspection.
            if name.startswith("__"):
                raise AttributeError(name)
            made = _Stub(f"{whole}.{name}", (), {})
            setattr(module, name, made)
            return made

        module.__getattr__ = of  # type: ignore[method-assign]


class _Stub(type):
    """The metaclass of stub names."""

    def __getattr__(cls, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Stub(f"{cls.__name__}.{name}", (), {})

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(
            f"mitmproxy calls {cls.__name__}, which is not loaded: take it out of"
            " warex.proxy.process.stub_modules.STUBBED"
        )
