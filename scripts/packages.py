"""Draw the folders of warex from its imports: python scripts/packages.py [--write]

Prints a table of the top folders of `src/warex`, each with the folders in it and those that it
imports, unless one of these imports them too. Each row imports only rows below it. With `--write`
the table replaces the one in `docs/architecture.md`.
"""

import re
import sys
import tomllib
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
HEAD = "| package | in it | imports |\n| --- | --- | --- |\n"
TABLE = re.compile(re.escape(HEAD) + r"(?:\|.*\n)+")


def table() -> str:
    """Return the table in Markdown."""
    graph = grimp.build_graph("warex")
    folders = sorted(graph.find_children("warex"))
    imports = {
        one: {
            other
            for other in folders
            if other != one
            and graph.direct_import_exists(importer=one, imported=other, as_packages=True)
        }
        for one in folders
    }
    ground = _lowest_layer()
    packages = {one: others - ground for one, others in imports.items() if one not in ground}
    boxes = {
        one: [it for it in sorted(graph.find_children(one)) if graph.find_children(it)]
        for one in packages
    }
    rows = [
        (_name(one), boxes[one], sorted(others - _reached(packages, others)) or ["ground"])
        for one, others in sorted(
            packages.items(), key=lambda item: (-_height(packages, item[0]), item[0])
        )
    ]
    rows.append(("ground", sorted(ground), []))
    return HEAD + "".join(
        f"| **{name}** | {_names(parts)} | {_names(imported)} |\n" for name, parts, imported in rows
    )


def _lowest_layer() -> set[str]:
    """Return the modules on which all others may build, by import-linter's first contract."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    return {f"warex.{it}" for it in layers[-1].split(" : ")}


def _reached(imports: dict[str, set[str]], start: set[str]) -> set[str]:
    """Return all that the modules of ``start`` import, in any number of steps."""
    reached: set[str] = set()
    rest = list(start)
    while rest:
        new = imports[rest.pop()] - reached
        reached |= new
        rest += new
    return reached


def _height(imports: dict[str, set[str]], module: str) -> int:
    """Return the number of steps of the longest way from a module to the ground."""
    return max((1 + _height(imports, other) for other in imports[module]), default=0)


def _name(module: str) -> str:
    return module.rpartition(".")[2]


def _names(modules: list[str]) -> str:
    return ", ".join(map(_name, modules))


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(TABLE.sub(lambda _: table(), PAGE.read_text("utf-8"), count=1), "utf-8")
    else:
        sys.stdout.write(table())
