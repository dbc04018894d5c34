"""`warex view RUN…`: look at runs in the browser."""

import secrets
import socket
from contextlib import suppress
from pathlib import Path

import click

from warex.cli.options.parameters import PATH
from warex.cli.output import echo
from warex.errors import InputError, MachineError
from warex.extras import require_extra

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@click.command("view")
@click.argument("runs", metavar="RUN...", type=PATH, nargs=-1, required=True)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="0 takes any free port.")
@click.option("--host", default="127.0.0.1", help="An address of this machine's loopback.")
@click.option("--open/--no-open", "opens", default=True, help="Open the browser.")
@click.option("--follow", is_flag=True, help="Show new trials while a campaign runs.")
@click.option(
    "--static",
    "static",
    type=PATH,
    metavar="DIR",
    help="Write the pages into DIR instead, for a file server or to open as files.",
)
def command(
    runs: tuple[Path, ...], port: int, host: str, opens: bool, follow: bool, static: Path | None
) -> None:
    """Show one or more runs in the browser: the grid, each trial, and where two trials diverge.

    RUN may also be the folder of one trial, such as `warex exec --out` writes.

    The server listens on this machine alone, and at a secret address that is printed. It ends with
    Ctrl-C.
    """
    from warex.view.documents import Documents

    if host not in _LOOPBACK:
        raise InputError(
            f"--host {host}: a run holds prompts and answers, so the viewer listens on loopback"
            f" only ({', '.join(_LOOPBACK)}); write a folder for a file server with --static DIR"
        )
    documents = Documents(runs, follow=follow)
    if static is not None:
        from warex.view.static_site import write_static_site

        write_static_site(documents, static)
        echo(f"wrote  {static / 'index.html'}")
        return
    require_extra("view", "warex view", "starlette", "uvicorn")
    listening = _listen(host, port)
    import uvicorn

    from warex.view.server import application

    bound: int = listening.getsockname()[1]
    token = secrets.token_urlsafe(16)
    served = application(documents, token, bound)
    config = uvicorn.Config(served, log_level="warning", lifespan="off", access_log=False)
    config.load()  # What the address answers with is ready when it is printed.
    url = f"http://{f'[{host}]' if ':' in host else host}:{bound}/{token}/"
    echo(f"viewing  {url}  (Ctrl-C ends it)")
    if opens:
        import webbrowser

        webbrowser.open(url)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises MachineError."""
    try:
        listening = socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
    except OSError as error:
        raise MachineError(
            f"{host} port {port} is not available: {error.strerror or error}; --port 0 takes"
            " a free port"
        ) from None
    # Accepted connections inherit it. An answer's head and body are two writes, and the second
    # would wait 40 ms for the browser's acknowledgement of the first.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
