"""The command line of the scripted model.

Prints ``{"port": …}`` on one line when it is ready. Exit codes: 0 ended by SIGINT or by the end of
its standard input; 2 a bad argument, a bad task file, or an address that cannot be used.
"""

import argparse
import json
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from warex.agents.scripted_model import playbook
from warex.agents.scripted_model.server import ScriptedModel
from warex.agents.scripted_model.tasks import TaskFileError, load


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until the end and return the exit code."""
    options = _parser().parse_args(argv)
    try:
        script = playbook.load(options.playbook) if options.playbook else load(*options.tasks)
        server = ScriptedModel(script, options.host, options.port)
    except (TaskFileError, playbook.PlaybookError) as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"Cannot listen on {options.host}:{options.port}: {error.strerror or error}.")
    with server:
        if options.exit_with_stdin:
            threading.Thread(target=_end_with_stdin, args=(server,), daemon=True).start()
        try:
            sys.stdout.write(json.dumps({"port": server.server_port}) + "\n")
            sys.stdout.flush()
            server.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0


def _end_with_stdin(server: ScriptedModel) -> None:
    """Stop with the parent process, whose end closes the pipe."""
    # Not through the stream: its lock, held here, would break the exit.
    while os.read(sys.stdin.fileno(), 4096):
        pass
    server.shutdown()


def _fail(sentence: str) -> int:
    sys.stderr.write(f"{sentence}\n")
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m warex.agents.scripted_model",
        description="A local server that plays a model, in the form of whichever API it is asked.",
    )
    script = parser.add_mutually_exclusive_group(required=True)
    script.add_argument("--tasks", type=Path, nargs="+", metavar="FILE", help="TOML, [[task]]")
    script.add_argument("--playbook", type=Path, metavar="FILE", help="JSON, as WAREX writes it")
    parser.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1")
    parser.add_argument("--port", default=0, type=_port, help="default: 0, any free one")
    parser.add_argument("--exit-with-stdin", action="store_true", help="end when stdin ends")
    return parser


def _port(value: str) -> int:
    if not value.isdecimal() or int(value) > 65535:
        raise argparse.ArgumentTypeError(f"{value!r} is not a port: 0 to 65535")
    return int(value)


if __name__ == "__main__":
    sys.exit(main())
