"""`warex demo`: the embedded campaign, start to report."""

from itertools import count
from pathlib import Path

import click

from warex.cli.options.parameters import PATH
from warex.cli.output import echo

_WORDS = """\
A web agent works on embedded web sites in a real browser, behind the proxy, under the paper's
three failures. No key and no network is needed: the model is a script. It tests WAREX, not
an LLM. Delays are capped at 1 s here; the paper's faults hold for 10 s.
"""


@click.command("demo")
@click.option("-o", "--out", type=PATH, help="Run folder. [default: runs/demo]")
@click.option("--jobs", type=click.IntRange(1, 64), help="Trials to run in parallel. [default: 2]")
@click.pass_obj
def command(typed: tuple[str, ...], out: Path | None, jobs: int | None) -> None:
    """Run the embedded campaign, from an agent in a real browser to a table and a report."""
    from warex.campaigns.config.campaign import load_campaign
    from warex.campaigns.config.options import RunOptions
    from warex.campaigns.plan.campaign_plan import plan
    from warex.cli.campaigns.live_display import run_and_report

    planned = plan(load_campaign("demo"))  # A missing testbed is reported first.
    echo(_WORDS)
    options = RunOptions(jobs=jobs, command=typed)
    run_and_report(planned, out or _free(Path("runs")), options)


def _free(folder: Path) -> Path:
    """Return the first unused name of demo, demo-2, demo-3…"""
    names = (f"demo-{n}" if n > 1 else "demo" for n in count(1))
    return next(path for name in names if not (path := folder / name).exists())
