"""`warex evaluate`: the recovery test, for a model, its adapters, or an endpoint."""

import json
from collections.abc import Container, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warex.cli.options.parameters import PATH, json_option
from warex.cli.options.training import (
    adapters_option,
    batch_option,
    legal_option,
    limit_option,
    model_option,
    precision_option,
)
from warex.cli.output import console, echo, echo_json
from warex.errors import InputError
from warex.text.escaping import escape_surrogates

if TYPE_CHECKING:
    from warex.exports.rows import ChatMessage, Row
    from warex.training.evaluation.answer_file import AnswerFile
    from warex.training.model.loading import Precision
    from warex.training.ranking.legal import LegalAnswers


@click.command("evaluate")
@click.option(
    "--data",
    type=PATH,
    metavar="DIR",
    help="A data set of `warex export`; the hard test needs none.",
)
@click.option(
    "--test",
    type=click.Choice(("recovery", "hard")),
    default="recovery",
    help="recovery: rows of the data set; hard: WAREX's matched pairs.",
)
@model_option
@adapters_option
@click.option(
    "--endpoint",
    metavar="URL",
    help="Ask the model at this OpenAI-compatible URL, with OPENAI_API_KEY.",
)
@click.option(
    "--split",
    type=click.Choice(("train", "validation", "test")),
    default="test",
    help="Rows to ask.",
)
@limit_option
@click.option("-o", "--out", type=PATH, metavar="DIR", help="Folder for answers and tables.")
@click.option(
    "--resume", is_flag=True, help="Ask only what the same evaluation in --out has no answer to."
)
@batch_option
@legal_option
@precision_option
@json_option
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 1),
    metavar="RATE",
    help="Exit with 1 if the last model recovers from fewer.",
)
def command(
    data: Path | None,
    test: str,
    model: str,
    adapters: tuple[Path, ...],
    endpoint: str | None,
    split: str,
    limit: int | None,
    out: Path | None,
    resume: bool,
    batch: int,
    legal: Path | None,
    precision: "Precision",
    as_json: bool,
    fail_under: float | None,
) -> int:
    """Ask models the held-out steps of a data set, and count the faults they recover from.

    Clean steps are asked, too: a model that always reloads the page is no better. Trivial baselines
    are measured on the same rows.
    """
    from warex.cli.progress.reporter import ProgressReporter
    from warex.exports.dataset import read_dataset
    from warex.training.evaluation.answer_classes import ClassifiedAnswer, classify
    from warex.training.evaluation.answer_file import AnswerFile
    from warex.training.evaluation.baselines import baselines, separable_by
    from warex.training.evaluation.hard_test import read_hard_test, sample_pairs
    from warex.training.evaluation.options import EvaluationOptions, legal_digest, rows_digest
    from warex.training.evaluation.recovery_test import results
    from warex.training.evaluation.tables import (
        baseline_data,
        baseline_summary,
        baseline_table,
        side_by_side,
        summary,
        summary_data,
        verdict_on_test,
    )
    from warex.training.inference.backends import answers_by_endpoint
    from warex.training.ranking.legal import read_legal
    from warex.training.trl_data import sample_rows

    if data is None and test == "recovery":
        raise InputError("name a data set with --data DIR, or ask the hard test: --test hard")
    training_data = read_dataset(data) if data else None
    dataset = read_hard_test() if test == "hard" or training_data is None else training_data
    all_rows = dataset.rows("test" if test == "hard" else split)
    rows = sample_pairs(all_rows, limit) if test == "hard" else sample_rows(all_rows, limit)
    if not rows:
        raise InputError(f"{data} has no row in {split}: there is nothing to ask")
    if resume and out is None:
        raise InputError("--resume goes on with the evaluation of a folder: name it with --out")
    _require_language_model(model, endpoint, adapters, legal)
    bound = read_legal(legal) if legal is not None else None
    models = [model, *map(str, adapters)]
    names = [escape_surrogates(model)] if endpoint else _names(models)
    file = None
    if out is not None:
        paths = models if endpoint else map(_resolved, models)
        options = EvaluationOptions(
            models=dict(zip(names, paths, strict=True)),
            endpoint=endpoint and endpoint.rstrip("/"),
            test=test,
            split="test" if test == "hard" else split,
            rows=rows_digest(all_rows),
            legal=legal_digest(bound) if bound is not None else None,
            precision=precision,
        )
        asked = [(name, row.id) for name in names for row in rows]
        file = AnswerFile(out, options, asked, resume=resume)
    earlier = _earlier(file, rows)
    if file is not None and file.is_finished:
        echo(f"finished  all {len(earlier)} answers are in {file.path}; none is asked", err=True)
    if endpoint is None:
        answers = _local_answers(rows, names, earlier, model, adapters, batch, bound, precision)
    else:
        (name,) = names
        left = [row for row in rows if (name, row.id) not in earlier]
        answered_rows = answers_by_endpoint(endpoint, model, left, at_once=batch)
        answers = ((name, row, answer) for row, answer in answered_rows)
    answered = {name: dict[str, ClassifiedAnswer]() for name in names}
    records, total = list[dict[str, object]](), len(rows) * len(names)
    countdown = ProgressReporter("answers")
    by_id = {row.id: row for row in rows}
    known = ((name, by_id[row], answer) for (name, row), answer in earlier.items())
    try:
        for name, row, answer in chain(known, answers):
            classified = classify(answer, row, dataset.vocabulary(row))
            answered[name][row.id] = classified
            record: dict[str, object] = {
                "model": name, "row": row.id, "kind": row.kind, "class": classified.label,
                "same_kind": classified.same_kind, "action": classified.action, "answer": answer,
                "wanted": row.answer,
            }  # fmt: skip
            records.append(record)
            if file is not None and (name, row.id) not in earlier:
                file.add(record)
            countdown.update(len(records), total)
    except BaseException:
        if file is not None and records:
            progress = f"{len(records)} of {total} answers are kept in {file}"
            echo(f"{progress}; ask the others with --resume", err=True)
        raise
    conditions = results(rows, answered)
    is_own = test == "recovery" and split == "train"
    train = training_data.rows("train") if training_data and not is_own else ()
    freely = None if bound is None else sum(not bound.to(row.prompt).texts for row in rows)
    trivial = baselines(rows, train, dataset.vocabulary)
    beside = {
        "baselines": baseline_data(trivial),
        "separable_by": it.name if (it := separable_by(trivial)) else None,
        "answered_freely": freely,
    }
    numbers = [each | beside for each in summary_data(conditions)]
    if out is not None and file is not None:
        _write(out, numbers, f"{baseline_table(trivial)}\n{side_by_side(rows, answered)}")
        file.finish()
    if as_json:
        echo_json(numbers)
    else:
        console().print(summary(conditions), "", baseline_summary(trivial))
        if verdict := verdict_on_test(trivial):
            echo(f"\n{verdict}")
        if freely is not None:
            echo(
                f"\n{freely} of {len(rows)} prompts have no legal action: they are answered freely"
            )
        if out is not None:
            echo(f"\nanswers  {out / 'answers.jsonl'}\ntable    {out / 'table.md'}")
    if all(row.kind == "clean" for row in rows):
        where = "the hard test" if test == "hard" else split
        echo(
            f"there is no failure to recover from: all {len(rows)} rows of {where} are clean",
            err=True,
        )
    rate = conditions[-1].recovery.value
    return int(fail_under is not None and (rate is None or rate < fail_under))


def _earlier(file: "AnswerFile | None", rows: "list[Row]") -> "dict[tuple[str, str], ChatMessage]":
    """Return the answers that the folder has to these rows, by model and row."""
    ids = {row.id for row in rows}
    records = file.earlier if file is not None else ()
    return {(it["model"], it["row"]): it["answer"] for it in records if it["row"] in ids}


def _local_answers(
    rows: "list[Row]",
    names: Sequence[str],
    earlier: "Container[tuple[str, str]]",
    model: str,
    adapters: tuple[Path, ...],
    batch: int,
    legal: "LegalAnswers | None",
    precision: "Precision",
) -> "Iterator[tuple[str, Row, ChatMessage]]":
    from warex.training.inference.backends import answers_by_model, has_action
    from warex.training.inference.tool_calls import message_of
    from warex.training.ranking.ranker import is_ranker, load_ranker

    def left(name: str) -> "list[Row]":
        return [row for row in rows if (name, row.id) not in earlier]

    if not any(map(left, names)):
        return
    if is_ranker(model):
        ranker = load_ranker(Path(model))
        for row in left(names[0]):
            yield names[0], row, message_of(ranker.answer(row.prompt))
        return
    from warex.training.model.loading import load_model

    loaded = load_model(model, precision=precision)
    known: list[str | None] = [None, *(loaded.add_adapter(it) for it in adapters)]
    for name, adapter in zip(names, known, strict=True):
        for row, answer in answers_by_model(
            loaded, left(name), adapter, batch=batch, done=has_action, legal=legal
        ):
            yield name, row, answer


def _require_language_model(
    model: str, endpoint: str | None, adapters: tuple[Path, ...], legal: Path | None
) -> None:
    """Raise InputError if another model is given what only a local language model takes."""
    from warex.training.ranking.ranker import is_ranker

    if endpoint and adapters:
        raise InputError("--adapter goes with a model of this machine, not with --endpoint")
    if endpoint and legal:
        raise InputError("--legal goes with a model of this machine, not with --endpoint")
    if (adapters or legal is not None) and is_ranker(model):
        if legal is not None:
            raise InputError(f"--legal goes with a language model; {model}, a ranker, is bound")
        raise InputError(f"--adapter goes with a language model, and {model} is a ranker")


def _resolved(model: str) -> str:
    """Return the path of a model of this machine; the name of another."""
    return str(Path(model).resolve()) if Path(model).exists() else model


def _names(names: Sequence[str]) -> Sequence[str]:
    """Return the models' names: base names of files or folders, unless two are equal."""
    short = [Path(it).resolve().name if Path(it).exists() else it for it in names]
    return [escape_surrogates(it) for it in (short if len(set(short)) == len(short) else names)]


def _write(out: Path, numbers: object, table: str) -> None:
    from warex.traces.files import write_atomic

    write_atomic(out / "summary.json", (json.dumps(numbers, indent=2) + "\n").encode())
    write_atomic(out / "table.md", table.encode("utf-8", "replace"))
