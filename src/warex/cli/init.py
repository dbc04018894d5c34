"""`warex init [NAME]`: a campaign file to begin with."""

from pathlib import Path

import click

from warex.cli.say import say
from warex.errors import InputError

_SUFFIX = ".toml"


@click.command("init")
@click.argument("name", default="my-agent")
@click.option("--benchmark", default="testbed", show_default=True, help="What is done.")
def command(name: str, benchmark: str) -> None:
    """Write a commented campaign file, NAME.toml: every key, and it runs as it stands.

    NAME is `my-agent` unless given.
    """
    from warex.campaigns.template import template
    from warex.traces import cannot_write

    path = Path(name if name.endswith(_SUFFIX) else f"{name}{_SUFFIX}")
    text = template(path.name.removesuffix(_SUFFIX), benchmark, str(path))
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(f"{path} is there already; give another name, or remove it") from None
    except FileNotFoundError:
        raise InputError(f"{path.parent} is no folder; make it first") from None
    except OSError as error:
        raise cannot_write(path, error) from None
    say(f"wrote {path}\n\n  warex run {path} --dry-run\n  warex run {path}")
