"""mockttp that passes everything on, where it is installed."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.traffic.programs import started
from bench.workspace import Workspace

FOLDER = "WAREX_BENCH_MOCKTTP"
"""Names the folder in which npm has installed mockttp."""
MISSING = f"no mockttp: npm install --prefix DIR mockttp node@22, then {FOLDER}=DIR"


@dataclass(frozen=True, slots=True)
class MockttpProcess:
    """A running mockttp."""

    port: int
    pid: int


@contextmanager
def mockttp(workspace: Workspace) -> Iterator[MockttpProcess | None]:
    """Run mockttp with the workspace's CA; None where it is not installed."""
    folder = Path(os.environ.get(FOLDER, "")).absolute()
    modules = folder / "node_modules"
    own = modules / ".bin" / "node"
    node = str(own) if own.exists() else shutil.which("node")
    if FOLDER not in os.environ or node is None or not (modules / "mockttp").is_dir():
        yield None
        return
    script = Path(__file__).with_name("mockttp.mjs")
    authority = workspace.ca.folder / "mitmproxy-ca.pem"
    command = (node, str(script), str(folder), str(authority), str(workspace.ca.certificate))
    with started(*command) as running:
        port = int(running.read_line())
        yield MockttpProcess(port, running.pid)
