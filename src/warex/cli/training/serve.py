"""`warex serve`: serve a local model and its adapters over OpenAI's chat completions."""

import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warex.cli.options.training import model_option, precision_option
from warex.cli.output import echo
from warex.errors import InputError, MachineError

if TYPE_CHECKING:
    from warex.training.model.loading import Precision


@click.command("serve")
@model_option
@click.option(
    "--adapter",
    "adapters",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="An adapter, served beside the model under its folder's name; several may be given.",
)
@click.option(
    "--merge",
    is_flag=True,
    help="Serve the one adapter alone, merged into the model's weights: it answers sooner.",
)
@click.option(
    "--name",
    metavar="NAME",
    help="Serve the last one given under this name, for an agent that cannot be told another.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="0: any free one.",
)
@click.option(
    "--batch", type=click.IntRange(1), default=8, show_default=True, help="Answered at once."
)
@click.option(
    "--max-tokens",
    type=click.IntRange(1),
    default=512,
    show_default=True,
    help="Of an answer, where a client names no limit.",
)
@click.option(
    "--temperature",
    type=click.FloatRange(0, 2),
    default=1.0,
    show_default=True,
    help="Where a client names none; 0: always the likeliest word.",
)
@precision_option
def command(
    model: str,
    adapters: tuple[Path, ...],
    merge: bool,
    name: str | None,
    host: str,
    port: int,
    batch: int,
    max_tokens: int,
    temperature: float,
    precision: "Precision",
) -> None:
    """Serve a model and its adapters, so that an agent can be driven by them.

    Requests that wait are answered together. It is made for one machine and a few agents; for more
    serve the adapter by vLLM: vllm serve MODEL --enable-lora --lora-modules NAME=DIR.
    """
    from warex.training.inference.batching import Batcher
    from warex.training.inference.server import RequestDefaults, application
    from warex.training.model.loading import load_model, require_packages

    if merge and len(adapters) != 1:
        raise click.UsageError("--merge takes one --adapter")
    require_packages()
    taken = _listen(host, port)
    loaded = load_model(model, precision=precision)
    served: dict[str, str | None] = {model: None}
    for folder in adapters:
        if (known := folder.resolve().name) in served:
            raise InputError(f"--adapter {folder}: {known} is served already; rename the folder")
        served[known] = loaded.add_adapter(folder)
    if merge:
        loaded.merge_adapter()
        served = {known: None}
    if name is not None:
        served[name] = list(served.values())[-1]
    import uvicorn

    batcher = Batcher(loaded, batch)
    batcher.start()
    shown = f"[{host}]" if ":" in host else host
    echo(f"serving  http://{shown}:{taken.getsockname()[1]}/v1  ({', '.join(served)})")
    served_here = application(batcher, served, RequestDefaults(max_tokens, temperature))
    config = uvicorn.Config(served_here, log_level="warning", lifespan="off")
    # A server is ended by an interrupt.
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[taken])
    batcher.close()


def _listen(host: str, port: int) -> socket.socket:
    """Return a listening socket, opened before the model is loaded. Raises MachineError."""
    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
    except OSError as error:
        raise MachineError(
            f"{host} port {port} cannot be listened on: {error.strerror or error}; --port 0 takes"
            " any free one"
        ) from None
