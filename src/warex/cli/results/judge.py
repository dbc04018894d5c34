"""`warex judge RUN --model MODEL`: let a model read what last answers claim."""

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warex.cli.options.parameters import PATH, json_option
from warex.cli.output import echo, echo_json
from warex.errors import MachineError, TraceError
from warex.text.english import count_noun

if TYPE_CHECKING:
    from warex.agents.reference.endpoint import ModelClient
    from warex.analysis.recovery import Claim


@click.command("judge")
@click.argument("run", metavar="RUN", type=PATH)
@click.option("--model", required=True, help="The judge: a model's name, as its API knows it.")
@click.option(
    "--base-url",
    metavar="URL",
    help="URL of the judge's OpenAI-compatible API. Default: $OPENAI_BASE_URL, or OpenAI's own; the"
    " key is"
    " $OPENAI_API_KEY.",
)
@click.option(
    "--jobs", type=click.IntRange(min=1), default=8, help="Ask about N answers at the same time."
)
@click.option("--again", is_flag=True, help="Ask again about trials that were judged before.")
@json_option
def command(
    run: Path, model: str, base_url: str | None, jobs: int, again: bool, as_json: bool
) -> None:
    """Let a model read what the last answers of unsolved trials claim, success or failure.

    It is asked first about answers that people have labelled, and its agreement with them is
    printed, beside that of WAREX's own reading. What it says of a trial is written into the trial's
    folder as claim.json and replaces WAREX's reading of the words in `warex report`; fields such as
    "success": false still count first. Delete the files to undo it.
    """
    from warex.agents.reference.endpoint import ModelClient, ModelError
    from warex.analysis.recovery.claims import claim_in_words
    from warex.analysis.trial.claim_judge import agreement, labelled_answers
    from warex.traces.judged_claim import JudgedClaim, write_judged_claim

    trials = _answers(run, again=again)
    labelled = labelled_answers()
    counts: Counter[str] = Counter()

    def keep(folder: Path, claim: "Claim | None") -> None:
        counts[claim or "no answer"] += 1
        if claim is not None:
            write_judged_claim(folder, JudgedClaim(claim=claim, judge=model))

    async def ask_all() -> "list[Claim | None]":
        client = ModelClient(model, base_url, os.environ)
        try:
            claims = await _ask(client, [answer.text for answer in labelled], jobs)
            keepers = [partial(keep, folder) for folder, _ in trials]
            await _ask(client, [text for _, text in trials], jobs, keepers)
        finally:
            await client.close()
        return claims

    try:
        claims = asyncio.run(ask_all())
    except ModelError as error:
        note = f" {count_noun(counts.total(), 'trial')} judged before it: kept." if counts else ""
        raise MachineError(f"{error}{note}") from None
    labels = [answer.claim for answer in labelled]
    by_judge = agreement(list(zip(claims, labels, strict=True)))
    by_words = agreement([(claim_in_words(answer.text), answer.claim) for answer in labelled])
    if as_json:
        echo_json(
            {
                "judge": model,
                "labels": {"n": by_judge.n, "equal": by_judge.equal, "kappa": by_judge.kappa},
                "words": {"n": by_words.n, "equal": by_words.equal, "kappa": by_words.kappa},
                "judged": dict(counts),
            }
        )
        return
    for reader, accord in ((model, by_judge), ("WAREX's own reading", by_words)):
        echo(f"{reader} agrees with {accord.equal} of {accord.n} labels (kappa {accord.kappa:.2f})")
    listed = ", ".join(f"{counts[it]} {it}" for it in sorted(counts)) or "none left to judge"
    echo(f"{count_noun(len(trials), 'unsolved trial')} with an answer in words: {listed}")


def _answers(run: Path, *, again: bool) -> list[tuple[Path, str]]:
    """Return the attempts to judge, with their last answers. Raises TraceError."""
    from warex.analysis.run.load import benchmark_vocabulary
    from warex.analysis.trial.claim_judge import answer_to_judge
    from warex.analysis.trial.record import read_attempt, vocabulary_of
    from warex.files.reading import path_exists
    from warex.traces.events import TrialBegan
    from warex.traces.judged_claim import read_judged_claim
    from warex.traces.manifest import read_manifest
    from warex.traces.outcome_file import read_outcome
    from warex.traces.paths import MANIFEST, find_trials

    manifest = read_manifest(run / MANIFEST) if path_exists(run / MANIFEST) else None
    attempts = list(find_trials(run))
    if not attempts:
        raise TraceError(f"{run} holds no trials; give the folder of a run.")
    answers: list[tuple[Path, str]] = []
    for key, _, folder in attempts:
        outcome = read_outcome(folder)
        if outcome is None or (not again and read_judged_claim(folder) is not None):
            continue
        trace = read_attempt(folder, lean=True)
        began = next(iter(trace.events(TrialBegan)), None)
        words = vocabulary_of(folder, began, benchmark_vocabulary(manifest, key.benchmark))
        answer = answer_to_judge(trace.entries, words, outcome)
        if answer is not None:
            answers.append((folder, answer))
    return answers


async def _ask(
    client: "ModelClient",
    texts: Sequence[str],
    jobs: int,
    keepers: "Sequence[Callable[[Claim | None], None]] | None" = None,
) -> "list[Claim | None]":
    """Ask about texts, ``jobs`` at a time; each answer is given to its keeper as it comes."""
    from warex.analysis.trial.claim_judge import judge_messages, parse_judgement

    limit = asyncio.Semaphore(jobs)

    async def ask(number: int, text: str) -> "Claim | None":
        async with limit:
            claim = parse_judgement(await client.ask(list(judge_messages(text))))
        if keepers is not None:
            keepers[number](claim)
        return claim

    return await asyncio.gather(*(ask(number, text) for number, text in enumerate(texts)))
