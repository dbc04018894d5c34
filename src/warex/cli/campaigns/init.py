"""`warex init [NAME]`: write a campaign file."""

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warex.cli import completion
from warex.cli.options.campaign import campaign_changes, campaign_options
from warex.cli.output import echo
from warex.errors import InputError, WarexError

if TYPE_CHECKING:
    from warex.campaigns.config.campaign import CampaignConfig

_SUFFIX = ".toml"
_OUTPUT = "-"


@click.command("init")
@click.argument("name", required=False)
@click.option(
    "--from",
    "source",
    metavar="CAMPAIGN",
    shell_complete=completion.BUILT_IN_CAMPAIGN,
    help="Start from a built-in campaign, such as paper.",
)
@campaign_options
def command(name: str | None, benchmark: str | None, source: str | None, **options: Any) -> None:
    """Write a campaign file, NAME.toml, that can be run and has a comment for every key.

    The default NAME is `my-agent`, or with --from those of the built-in campaign and the benchmark;
    `-` prints the file instead.
    """
    changes = campaign_changes(benchmark, **options)
    if source is None:
        from warex.campaigns.config.template import template

        if changes.besides_benchmark:
            raise InputError(
                "--agent, --base-url, --dir, --option, --site, --only-site and --without-site go"
                " with --from CAMPAIGN; without it, change the file"
            )
        path = _path(name or "my-agent")
        text = template(_stem(path), benchmark or "testbed", str(path))
    else:
        from warex.campaigns.config.customization import customize

        beside = f"{source}-{benchmark}" if benchmark not in (None, "testbed") else source
        path = _path(name or beside)
        text = customize(
            source, changes, name=None if name in (None, _OUTPUT) else _stem(path), file=str(path)
        ).text
    if name == _OUTPUT:
        echo(text, end="")
    else:
        _begin(path, text)


def _path(name: str) -> Path:
    if name == _OUTPUT:
        return Path(f"campaign{_SUFFIX}")
    return Path(name if name.endswith(_SUFFIX) else f"{name}{_SUFFIX}")


def _stem(path: Path) -> str:
    return path.name.removesuffix(_SUFFIX)


def _begin(path: Path, text: str) -> None:
    """Write a campaign and its example's files; print the next steps."""
    from warex.campaigns.config.campaign import load_campaign
    from warex.campaigns.plan.campaign_plan import plan

    _write(path, text)
    config = load_campaign(str(path))
    for name, content in _starter(config):
        beside = path.parent / name
        if beside.exists():
            echo(f"{beside} is there already and stays as it is")
            continue
        beside.parent.mkdir(exist_ok=True)
        _write(beside, content)
    try:
        planned = plan(config)
        planned.benchmark.require_keys([spec.agent for spec in planned.trials], os.environ)
    except WarexError as error:
        echo(f"\nIt cannot run yet. {error}")
        echo(f"`warex benchmarks show {config.benchmark.name}` shows what it needs.")
        echo(f"\nWhen that is fixed, see whether all is there:\n\n  warex doctor {path}")
        return
    echo(f"\n  warex run {path} --dry-run\n  warex run {path}")


def _starter(config: "CampaignConfig") -> Iterator[tuple[str, str]]:
    """Yield the files of a benchmark's example that the campaign also names."""
    from warex.benchmarks import benchmark_kind

    kind = benchmark_kind(config.benchmark.name)
    folder = resources.files("warex.benchmarks.command") / "starter"
    texts = set(_texts(config.model_dump(mode="json")))
    example = set(_texts(tomllib.loads(kind.example())))
    for name in kind.starter_files:
        beside = Path(name).parts[0]
        if any(beside in text for text in texts & example):
            yield name, folder.joinpath(name).read_text("utf-8")


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in nested tables and lists."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, Sequence):
        for each in value:
            yield from _texts(each)


def _write(path: Path, text: str) -> None:
    from warex.traces import write_error

    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(f"{path} is there already; give another name, or remove it") from None
    except FileNotFoundError:
        raise InputError(f"{path.parent} is not a folder; make it first") from None
    except OSError as error:
        raise write_error(path, error) from None
    echo(f"wrote {path}")
