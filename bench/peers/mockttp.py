"""mockttp, the proxy of HTTP Toolkit: a package of Node's."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.peers import Absent, Running
from bench.setting import Setting
from warex.proxy.ca import BASENAME

FOLDER = "WAREX_BENCH_MOCKTTP"
_PROGRAM = """\
import * as mockttp from 'mockttp';
const https = { keyPath: process.argv[2], certPath: process.argv[3] };
const server = mockttp.getLocal({ https, http2: true, recordTraffic: false });
await server.forUnmatchedRequest().thenPassThrough({ ignoreHostHttpsErrors: true });
await server.start();
console.log(server.port);
process.stdin.on('end', () => process.exit(0)).resume();
"""


@contextmanager
def mockttp(setting: Setting) -> Iterator[Running]:
    """Run it with the CA that clients trust here; raise Absent where it is not installed.

    Without its own record of traffic, which would keep every body.
    """
    program = _installed(setting)
    keys = setting.ca.folder
    with subprocess.Popen(
        [
            *(str(shutil.which("node")), str(program)),
            *(str(keys / f"{BASENAME}-ca.pem"), str(setting.ca.certificate)),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("no pipes to mockttp")
        try:
            said = process.stdout.readline()
            if not said:
                raise RuntimeError("mockttp did not start; its message stands above")
            yield Running(int(said), process.pid)
        finally:
            process.terminate()


def _installed(setting: Setting) -> Path:
    """Return a program beside the installed package."""
    named = os.environ.get(FOLDER)
    modules = Path(named) / "node_modules" if named else None
    if not shutil.which("node") or modules is None or not (modules / "mockttp").is_dir():
        raise Absent(
            f"not installed: get Node and npm, `npm install --prefix DIR mockttp`, and set {FOLDER}"
            " to that DIR"
        )
    folder = setting.fresh("mockttp")
    (folder / "node_modules").symlink_to(modules.resolve())
    program = folder / "proxy.mjs"
    program.write_text(_PROGRAM)
    return program
