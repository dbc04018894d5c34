"""Stock mitmdump with WAREX in it, as a user starts it."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from tests.ports import reserved_port
from warex.cli import cli

MITMDUMP = shutil.which("mitmdump", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")


@dataclass
class Dump:
    port: int
    process: "subprocess.Popen[str]"
    output: list[str]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> str:
        self.process.send_signal(signal.SIGINT)
        rest, _ = self.process.communicate(timeout=20)
        return "".join(self.output) + rest


@contextmanager
def mitmdump(folder: Path, *more: str, conf: Path | None = None, **options: str) -> Iterator[Dump]:
    script, port = folder / "warex_addon.py", reserved_port()
    script.write_text(CliRunner().invoke(cli, ["addon"]).output)
    command = [str(MITMDUMP), "-s", str(script), "--listen-host", "127.0.0.1", "-p", str(port)]
    command += ["--set", f"confdir={conf or folder / 'conf'}"]
    command += more
    for name, value in options.items():
        command += ["--set", f"warex_{name}={value}"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        messages: list[str] = []
        assert process.stdout is not None
        for line in process.stdout:
            messages.append(line)
            if "listening" in line:
                break
        yield Dump(port, process, messages)
    finally:
        process.kill()
        process.communicate()
