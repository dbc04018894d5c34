"""`warex serve`: serve a local model and its adapters over OpenAI's chat completions."""

import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warex.cli.options.training import (
    adapters_option,
    batch_option,
    legal_option,
    model_option,
    precision_option,
)
from warex.cli.output import echo
from warex.errors import InputError, MachineError
from warex.extras import require_extra

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warex.training.inference.batching import ChatModel
    from warex.training.inference.server import RequestDefaults
    from warex.training.model.loading import Precision
    from warex.training.ranking.legal import LegalAnswers


@click.command("serve")
@model_option
@adapters_option
@click.option(
    "--merge", is_flag=True, help="Serve only the adapter, merged into the weights: faster."
)
@click.option("--name", metavar="NAME", help="Also serve the last of them under this name.")
@click.option("--host", default="127.0.0.1", help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    help="Port to listen on; 0: any free port.",
)
@batch_option
@click.option(
    "--max-tokens",
    type=click.IntRange(1),
    default=512,
    help="Maximum tokens of an answer, by default.",
)
@click.option(
    "--temperature", type=click.FloatRange(0, 2), default=1.0, help="Temperature, by default."
)
@legal_option
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
    legal: Path | None,
    precision: "Precision",
) -> None:
    """Serve a model and its adapters to a few agents. Adapters have their folders' names.

    For many agents use vLLM: vllm serve MODEL --enable-lora --lora-modules NAME=DIR.
    """
    from warex.training.inference.server import RequestDefaults
    from warex.training.ranking.legal import read_legal
    from warex.training.ranking.ranker import is_ranker

    defaults = RequestDefaults(max_tokens, temperature)
    if is_ranker(model):
        if legal is not None:
            raise InputError(f"--legal goes with a language model; {model}, a ranker, is bound")
        if adapters or merge:
            option = "--adapter" if adapters else "--merge"
            raise InputError(f"{option} goes with a language model, and {model} is a ranker")
        _serve_ranker(Path(model), name, host, port, defaults)
        return
    from warex.training.inference.batching import Batcher
    from warex.training.model.loading import load_model, require_packages

    if merge and len(adapters) != 1:
        raise click.UsageError("--merge takes one --adapter")
    require_packages()
    bound = read_legal(legal) if legal is not None else None
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
    batcher = Batcher(loaded, batch)
    batcher.start()
    _serve(batcher, served, taken, host, defaults, bound)
    batcher.close()


def _serve_ranker(
    folder: Path, name: str | None, host: str, port: int, defaults: "RequestDefaults"
) -> None:
    from warex.training.inference.ranker_model import RankerModel
    from warex.training.ranking.ranker import load_ranker

    require_extra("view", "warex serve", "starlette", "uvicorn")
    model = RankerModel(load_ranker(folder))
    served = dict.fromkeys(filter(None, (folder.resolve().name, name)))
    _serve(model, served, _listen(host, port), host, defaults)


def _serve(
    model: "ChatModel",
    served: "Mapping[str, str | None]",
    taken: socket.socket,
    host: str,
    defaults: "RequestDefaults",
    legal: "LegalAnswers | None" = None,
) -> None:
    import uvicorn

    from warex.training.inference.server import application

    shown = f"[{host}]" if ":" in host else host
    echo(f"serving  http://{shown}:{taken.getsockname()[1]}/v1  ({', '.join(served)})")
    config = uvicorn.Config(
        application(model, served, defaults, legal), log_level="warning", lifespan="off"
    )
    # A server is ended by an interrupt.
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[taken])


def _listen(host: str, port: int) -> socket.socket:
    """Return a listening socket, opened before the model is loaded. Raises MachineError."""
    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
    except OSError as error:
        raise MachineError(
            f"{host} port {port} is not available: {error.strerror or error}; --port 0 takes"
            " a free port"
        ) from None
