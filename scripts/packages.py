"""Draw the folders of warex from its imports: python scripts/packages.py [--write]

Prints a Mermaid flowchart of the top folders of `src/warex`, each with the folders in it. An arrow
leads from a folder to one that it imports, unless a longer way leads there too. With `--write` the
flowchart replaces the one in `docs/architecture.md`.
"""

import re
import sys
import tomllib
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
BLOCK = re.compile(r"```mermaid\n.*?```\n", re.DOTALL)
PER_LINE = 4


def chart() -> str:
    """Return the flowchart as a code block."""
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
    arrows = [
        (one, other)
        for one, others in packages.items()
        for other in sorted(others)
        if other not in _reached(packages, others - {other})
    ]
    arrows += [(one, "ground") for one, others in packages.items() if not others]
    lines = [_box(_name(one), parts) for one, parts in boxes.items()]
    lines.append(_box("ground", sorted(ground)))
    lines += [f"{_name(one)} --> {_name(other)}" for one, other in arrows]
    return "\n".join(["```mermaid", "flowchart TD", *(f"  {it}" for it in lines), "```", ""])


def _lowest_layer() -> set[str]:
    """Return the modules on which all others may build, by import-linter's first contract."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    return {f"warex.{it}" for it in layers[-1].split(" : ")}


def _reached(imports: dict[str, set[str]], start: set[str]) -> set[str]:
    """Return all that is imported from ``start`` on, in any number of steps."""
    seen: set[str] = set()
    rest = list(start)
    while rest:
        new = imports[rest.pop()] - seen
        seen |= new
        rest += new
    return seen


def _name(module: str) -> str:
    return module.rpartition(".")[2]


def _box(name: str, parts: list[str]) -> str:
    names = [_name(it) for it in parts]
    lines = [" · ".join(names[at : at + PER_LINE]) for at in range(0, len(names), PER_LINE)]
    return f'{name}["' + "<br/>".join([f"<b>{name}</b>", *lines]) + '"]'


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(BLOCK.sub(lambda _: chart(), PAGE.read_text("utf-8"), count=1), "utf-8")
    else:
        sys.stdout.write(chart())
