"""Runs a WebArena-Infinity application's ``server.py`` until standard input ends.

Its one argument is the port; its working directory is the application's folder.
"""

import os
import runpy
import sys
import threading


def _end_with_stdin() -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    sys.argv = ["server.py", "--port", sys.argv[1]]
    runpy.run_path("server.py", run_name="__main__")
