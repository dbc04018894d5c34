"""An application's server ends with whoever started it."""

import subprocess
import sys
from pathlib import Path

import pytest

from warex.benchmarks import adapters

DRIVER = Path(adapters.__file__).with_name("drivers") / "infinity_app.py"


@pytest.mark.wire
def test_the_server_ends_with_standard_input(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(
        "import sys, threading\n"
        "assert __name__ == '__main__'\n"
        "print('Serving on', sys.argv[1:])\n"
        "threading.Event().wait()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-u", str(DRIVER), "8123"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "Serving on ['--port', '8123']\n"
        assert server.stdin is not None
        server.stdin.close()
        assert server.wait(10) == 0
