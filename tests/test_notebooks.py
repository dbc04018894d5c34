"""The notebooks of the documentation, as they are committed, and as a reader runs them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
SAYS = {
    "compare-two-agents": "cannot tell",
    "read-a-run": "report_infeasible",
    "train-and-look": "reloads a clean page",
}
"""What is in the output of each."""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_without_outputs(path: Path) -> None:
    cells = json.loads(path.read_text("utf-8"))["cells"]

    assert [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of the demo's campaign, on two of its sites."""
    folder = tmp_path_factory.mktemp("notebooks")
    sites = [f"--only-site={name}.warex.test" for name in ("mail", "shop")]
    warex = Path(sys.executable).with_name("warex")
    subprocess.run(
        [warex, "run", "demo", *sites, "--out", "runs/demo"],
        cwd=folder,
        capture_output=True,
        check=True,
    )
    return folder


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_to_its_end(
    path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nbformat
    from nbclient import NotebookClient

    programs = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)

    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}}
    ).execute()

    outputs = [out for cell in notebook.cells for out in cell.get("outputs", ())]
    text = "".join(out.get("text") or out["data"].get("text/plain", "") for out in outputs)
    assert SAYS[path.stem] in text
    assert "Traceback" not in text
