"""Runs a harness's own script as it is, and says when its agent has ended: before it is judged.

Its one argument is JSON: ``script`` and its ``arguments``; ``judge``, the ``module`` and the
``function`` in it by which the script comes to its judge. A harness that ends its agent by itself,
after the last step for instance, says nothing of it on the wire, and judges by the same browser.

Run by the Python of the harness, which may be as old as 3.10.
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
"""The variable with the address to ask once the agent has ended; not there without a proxy."""


def main(told: dict[str, Any]) -> None:
    """Run the script as if it had been started by itself."""
    script, judge = Path(told["script"]), told["judge"]
    # In the place of this program's own folder: nothing here is the harness's.
    sys.path[0] = str(script.parent)
    # Not imported ahead of its time: some harnesses set variables first that it reads.
    sys.meta_path.insert(0, _OnImport(judge["module"], judge["function"]))
    sys.argv = [str(script), *told["arguments"]]
    runpy.run_path(str(script), run_name="__main__")


def after_agent(judge: Callable[..., Any]) -> Callable[..., Any]:
    """Return what tells WAREX that the agent has ended, and then goes to the judge."""

    @functools.wraps(judge)
    def told(*args: Any, **kwargs: Any) -> Any:
        if address := os.environ.get(ENDED):
            with urllib.request.urlopen(address, timeout=30):
                pass
        return judge(*args, **kwargs)

    return told


class _OnImport(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Puts ``after_agent`` around one function of a module, when that is imported."""

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
