"""`--junit`, `--junit-trials` and `--sarif`, and what a job on GitHub shows."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warex.cli.options.parameters import PATH, Printed, add_options
from warex.cli.output import echo, warn

if TYPE_CHECKING:
    from warex.report.ci.outputs import CiOutputs
    from warex.report.ci.publish import CiReport


def ci_options[F: Callable[..., Any]](command: F) -> F:
    """Add the options; the command gets ``junit``, ``junit_trials`` and ``sarif``."""
    return add_options(
        click.option(
            "--junit", type=PATH, metavar="FILE", help="Write JUnit XML here: a case for each gate."
        ),
        click.option("--junit-trials", is_flag=True, help="Add a case for each trial to --junit."),
        click.option(
            "--sarif",
            type=PATH,
            metavar="FILE",
            help="Write SARIF 2.1.0 here: attacks on the agent that succeeded.",
        ),
    )(command)


def ci_outputs(junit: Path | None, junit_trials: bool, sarif: Path | None) -> "CiOutputs":
    """Return what is to be written. Raises an error if it cannot be, before anything runs."""
    from warex.report.ci.outputs import CiOutputs

    outputs = CiOutputs(junit, junit_trials, sarif)
    outputs.check()
    return outputs


def publish_results(
    report: "CiReport", outputs: "CiOutputs", *, printed: Printed | None = None
) -> None:
    """Write the files, and on GitHub the job's summary and annotations.

    Annotations are on standard output, or on standard error unless that is for words.
    """
    from warex.report.ci.publish import publish

    err = printed is not None and not printed.in_words
    publish(report, outputs, os.environ, lambda line: echo(line, err=err), warn)
