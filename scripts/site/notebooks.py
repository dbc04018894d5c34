"""Notebooks as pages of the site: their text and code, without outputs."""

import json
from pathlib import Path
from typing import Any


def notebook_page(file: Path) -> str:
    """Return a notebook as Markdown."""
    notebook: Any = json.loads(file.read_text("utf-8"))
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in notebook["cells"]]
    return "\n\n".join(
        f"```python\n{source}\n```" if kind == "code" else source for kind, source in cells
    )
