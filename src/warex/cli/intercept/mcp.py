"""`warex mcp`: stands between an MCP client and its server on standard input and output."""

import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warex.cli import completion
from warex.cli.options.parameters import PATH
from warex.cli.output import echo
from warex.errors import InputError, MachineError, void_error

if TYPE_CHECKING:
    from warex.lane.config import ProxyConfig
    from warex.sandbox.stdio.surroundings import Surroundings


@click.command("mcp", context_settings={"allow_interspersed_args": False})
@click.argument(
    "arguments",
    metavar="CMD...",
    nargs=-1,
    required=True,
    type=click.UNPROCESSED,
    shell_complete=completion.FILE,
)
@click.option("--name", metavar="NAME", help="The server's name, for rules. [default: CMD's]")
@click.option(
    "--proxy",
    metavar="URL",
    help="Join the trial of this `warex proxy`; its user names the task. [default: $WAREX_PROXY]",
)
@click.option("--task", metavar="NAME", help="Task in that trial. [default: $WAREX_TASK]")
@click.option(
    "--scenario",
    metavar="S",
    help="Outside of a trial: a preset or a file. [default: no faults]",
    shell_complete=completion.SCENARIO,
)
@click.option("--seed", type=int, help="Outside of a trial: seed of all choices. [default: 1]")
@click.option(
    "-o",
    "--out",
    type=PATH,
    help="Outside of a trial: folder for events.jsonl; DIR-2… if it exists.",
)
@click.option(
    "--replay",
    type=PATH,
    metavar="TRIAL",
    help="Outside of a trial: repeat the faults of this one.",
)
def command(
    arguments: tuple[str, ...],
    name: str | None,
    proxy: str | None,
    task: str | None,
    **own: Any,
) -> int:
    """Run a server of tools (MCP over stdio) with faults and a record.

    Put it in front of the server's command, in the client's configuration. Inside of `warex exec`
    or a campaign it belongs to that trial; elsewhere it is one of its own. The exit code is the
    server's, or 128 and the number of the signal that ended it.
    """
    from warex.sandbox.direct import find_program
    from warex.sandbox.stdio.surroundings import (
        Surroundings,
        environments_around,
        read_proxy,
        surroundings,
    )

    find_program(arguments[0], os.environ)
    name = _checked_name(name, arguments)
    if task is not None:
        _check_task(task)
    if proxy is not None:
        around: Surroundings | None = Surroundings(read_proxy(proxy, "--proxy"))
    else:
        around = surroundings(environments_around())
    if around is None:
        if task is not None:
            raise InputError(
                "--task names a task of a trial, and there is none around; see --proxy"
            )
        return _alone(arguments, name, _own_config(**own))
    for option, value in own.items():
        if value is not None:
            raise InputError(
                f"--{option} belongs to the trial around this command (`warex exec`, a"
                " campaign, `warex proxy`); give it there, and leave it out here"
            )
    return _joined(arguments, name, around, task)


def _checked_name(name: str | None, arguments: tuple[str, ...]) -> str:
    from warex.lane.stdio.steps import NAME
    from warex.sandbox.stdio.server_name import server_name

    if name is None:
        return server_name(arguments)
    if re.fullmatch(NAME, name) is None:
        raise InputError(
            f"--name {name!r} is not a name of a server; give up to 63 of a-z, 0-9, dot, dash and"
            " underscore, such as playwright-mcp"
        )
    return name


def _check_task(task: str) -> None:
    from warex.lane.tasks import TASK_NAME, task_name

    if task_name(task) is None:
        raise InputError(f"--task {task!a} is not a name; a task's name is {TASK_NAME}")


def _joined(arguments: tuple[str, ...], name: str, around: "Surroundings", task: str | None) -> int:
    from warex.clock import Clock
    from warex.sandbox.stdio.serving import serve_stdio
    from warex.sandbox.stdio.trial import ProxyCaller, Trial, TrialGone

    caller = ProxyCaller(around.proxy, around.task if task is None else task)
    trial = Trial(caller)
    try:
        trial.begin(name)
        environment = {**os.environ, **around.variables}
        return serve_stdio(arguments, environment, trial, _notice(), Clock())
    except TrialGone as error:
        raise MachineError(f"the trial around this command cannot be joined: {error}") from None
    finally:
        caller.close()


def _own_config(
    scenario: str | None, seed: int | None, out: Path | None, replay: Path | None
) -> "ProxyConfig":
    from warex.cli.options.traffic_config import ProxyOptions, build_proxy_config
    from warex.proxy.certificates.ca import ensure_ca

    seed = 1 if seed is None else seed
    options = ProxyOptions(scenario=scenario, seed=seed, out=out, replay=replay)
    return build_proxy_config(ensure_ca(), options)


def _alone(arguments: tuple[str, ...], name: str, config: "ProxyConfig") -> int:
    from warex.sandbox.stdio.own_trial import free_folder, own_trial
    from warex.sandbox.stdio.serving import serve_stdio
    from warex.sandbox.stdio.trial import Trial

    notice = _notice()
    if config.out is not None:
        config = config.model_copy(update={"out": free_folder(config.out)})
    elif config.scenario is None:
        notice("neither --scenario nor --out, and no trial around: nothing is done or recorded")
    with own_trial(config, notice) as caller:
        trial = Trial(caller)
        trial.begin(name)
        clock = caller.lane.recorder.clock
        code = serve_stdio(arguments, os.environ, trial, notice, clock)
    if caller.lane.recorder.void is not None:
        raise void_error(caller.lane.recorder.void)
    return code


def _notice() -> Any:
    """Return a function that tells the user each sentence once."""
    return cache(lambda sentence: echo(f"warex: {sentence}", err=True))
