"""Runs a harness's own script, and reports before the judge runs that the agent has ended.

Its one argument is JSON: ``script`` and its ``arguments``; ``judge``, the ``module`` and
``function`` of the judge. The judge may use the agent's browser, so traffic alone does not show
that the agent has ended. The harness's Python may be as old as 3.10.
"""

import functools
import importlib.abc
import importlib.util
import json
import os
import runpy
import sys
import urllib.request
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

ENDED = "WAREX_AGENT_ENDED"
"""Variable with the URL to request once the agent has ended; unset without a proxy."""


def main(config: dict[str, Any]) -> None:
    """Run the script as ``__main__``."""
    script, judge = Path(config["script"]), config["judge"]
    # The script's folder replaces this program's.
    sys.path[0] = str(script.parent)
    # The judge is not imported early, since some harnesses first set variables that it reads.
    sys.meta_path.insert(0, _OnImport(judge["module"], judge["function"]))
    sys.argv = [str(script), *config["arguments"]]
    runpy.run_path(str(script), run_name="__main__")


def after_agent(judge: Callable[..., Any]) -> Callable[..., Any]:
    """Return a wrapper that reports the agent's end and then calls the judge."""

    @functools.wraps(judge)
    def reporting(*args: Any, **kwargs: Any) -> Any:
        if address := os.environ.get(ENDED):
            with urllib.request.urlopen(address, timeout=30):
                pass
        return judge(*args, **kwargs)

    return reporting


class _OnImport(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Wraps one function of a module in ``after_agent`` when the module is imported."""

    def __init__(self, module: str, function: str) -> None:
        self._module, self._function = module, function

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._module:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            self._loader, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        setattr(module, self._function, after_agent(getattr(module, self._function)))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
