"""`warex-testbed serve` and `warex-testbed tasks`.

`serve` prints one JSON line, `{"port": …, "admin_port": …}`, once both ports listen, and ends with
0 on SIGTERM or SIGINT. Bad input ends with 2 and a sentence on standard error.
"""

import argparse
import json
import os
import signal
import ssl
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from warex_testbed.server import Testbed, tls_context


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a port; allowed are 0 (any free) to 65535"
        )
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="warex-testbed", description="Small real web sites with tasks and checks."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="serve all sites", description=_serve.__doc__)
    serve.set_defaults(run=_serve)
    serve.add_argument("--host", default="127.0.0.1", help="address of the sites")
    serve.add_argument("--port", type=_port, default=0, help="port of the sites; 0 is any free one")
    serve.add_argument("--admin-port", type=_port, default=0, help="port of the verifier")
    serve.add_argument("--tls-cert", type=Path, help="certificate chain (PEM): speak TLS")
    serve.add_argument("--tls-key", type=Path, help="its private key (PEM)")
    serve.add_argument(
        "--exit-with-stdin", action="store_true", help="end when standard input is closed"
    )
    tasks = commands.add_parser("tasks", help="list the tasks", description=_tasks.__doc__)
    tasks.set_defaults(run=_tasks)
    return parser


def _tls(certificate: Path | None, key: Path | None) -> ssl.SSLContext | None:
    if certificate is None or key is None:
        if certificate is not key:
            raise ValueError("--tls-cert and --tls-key go together; only one was given")
        return None
    try:
        return tls_context(certificate, key)
    except OSError as error:
        raise ValueError(f"cannot use {certificate} with {key} for TLS: {error}") from error


def _serve(options: argparse.Namespace) -> int:
    """Serve all sites until told to stop; print the ports as one line of JSON."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        tls = _tls(options.tls_cert, options.tls_key)
        bed = Testbed(options.host, options.port, options.admin_port, tls)
    except ValueError as error:
        return _refuse(str(error))
    except OSError as error:
        return _refuse(
            f"cannot listen on {options.host}, port {options.port} and admin port "
            f"{options.admin_port}: {error.strerror}"
        )
    with bed:
        sys.stdout.write(json.dumps({"port": bed.port, "admin_port": bed.admin_port}) + "\n")
        sys.stdout.flush()
        if options.exit_with_stdin:
            threading.Thread(target=_watch_stdin, args=(stop,), daemon=True).start()
        stop.wait()
    return 0


def _tasks(options: argparse.Namespace) -> int:
    """Print each task in a line: its name, where the browser starts, and the goal."""
    # The sites come up sooner without what reads tasks.
    from warex_testbed.tasks import load_tasks

    sys.stdout.writelines(
        f"{task.name}\t{task.start_url()}\t{task.goal}\n" for task in load_tasks()
    )
    return 0


def _watch_stdin(stop: threading.Event) -> None:
    # os.read, not sys.stdin: a thread inside sys.stdin holds a lock that Python wants at exit.
    while os.read(0, 4096):
        pass
    stop.set()


def _refuse(sentence: str) -> int:
    sys.stderr.write(f"warex-testbed: {sentence}\n")
    return 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; return the exit code."""
    options = _parser().parse_args(arguments)
    code: int = options.run(options)
    return code


if __name__ == "__main__":
    sys.exit(main())
