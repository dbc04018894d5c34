"""`warex diff TRIAL TRIAL`: where two trials diverge."""

from pathlib import Path

import click

from warex.cli.options.parameters import PATH, json_option
from warex.cli.output import console, echo_json
from warex.cli.trial_path import find_trace
from warex.errors import TraceError


@click.command("diff")
@click.argument("first", metavar="TRIAL", type=PATH)
@click.argument("second", metavar="TRIAL", type=PATH)
@json_option
def command(first: Path, second: Path, as_json: bool) -> None:
    """Align the steps of two trials and print where they diverge.

    Typically a trial under a fault and its clean twin: of the same task, agent and repeat. Also two
    agents, two versions or two repeats. TRIAL is the folder of an attempt, or of a trial for its
    last attempt.
    """
    from warex.analysis.steps.as_json import divergence_json
    from warex.analysis.steps.divergence import diverge
    from warex.analysis.steps.path import trial_path
    from warex.analysis.trial.record import load_trial, read_attempt
    from warex.report.terminal.divergence import render_divergence
    from warex.report.text.divergence import describe_divergence, trial_names
    from warex.report.text.outcomes import describe_outcome

    for path in (first, second):
        if not path.is_dir():
            raise TraceError(
                f"{path} is not a folder; give that of a trial or of one of its attempts"
            )
    folders = find_trace(first), find_trace(second)
    traces = read_attempt(folders[0]), read_attempt(folders[1])
    trials = load_trial(folders[0], trace=traces[0]), load_trial(folders[1], trace=traces[1])
    names = trial_names((trials[0].key, trials[1].key))
    divergence = diverge(trial_path(traces[0].entries), trial_path(traces[1].entries))
    if as_json:
        sentences = list(describe_divergence(divergence, names))
        trial_data = [
            {"name": name, "path": str(trial.path)}
            for name, trial in zip(names, trials, strict=True)
        ]
        echo_json({"trials": trial_data, "summary": sentences, **divergence_json(divergence)})
        return
    outcomes = describe_outcome(trials[0].outcome), describe_outcome(trials[1].outcome)
    console().print(render_divergence(divergence, names, outcomes), crop=False)
