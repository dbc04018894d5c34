"""Selects the steps of runs that are worth training on, with the wanted answers (paper §4.2)."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from warex.analysis.run.load import Run, benchmark_vocabulary
from warex.analysis.trial.attribution import entries_by_task
from warex.analysis.trial.record import TrialRecord, vocabulary_of
from warex.errors import InputError, TraceError
from warex.exports.answers.foreknowledge import foreknowledge
from warex.exports.answers.oracle import Oracle, OracleAnswer, oracle_answers
from warex.exports.answers.thoughts import replace_texts, without_thought
from warex.exports.chat import answer, chat, message_texts, tools
from warex.exports.fitting import fit_messages
from warex.exports.mistakes import is_mistake
from warex.exports.names import Thoughts
from warex.exports.prompt_page import read_prompt
from warex.exports.rows import ChatMessage, Row
from warex.exports.steps import Step, StepRole, steps
from warex.llm.actions.parser import parse_actions
from warex.llm.actions.vocabulary import Vocabulary
from warex.llm.base import LlmAnswer
from warex.traces.blobs import BlobStore
from warex.traces.events import Entry, LlmCall, TrialBegan
from warex.traces.outcome import Counted
from warex.traces.paths import BLOBS, EVENTS, NO_PROXY
from warex.traces.reader import read_trace

KIND_OF_SITE: Final = r"([A-Za-z]+)[-_./]"
"""Matches the kind of site at the start of a task's name: ``shop-order-basket``."""
_LONGEST: Final = 32_000
_UNTAUGHT: Final = "clean, of a trial that was not solved"
_OFF_PLAN: Final = "clean, of a trial that was not solved, in a state that the oracle does not know"
_MAGIC: Final = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpg", b"RIFF": "webp", b"GIF8": "gif"}


@dataclass(frozen=True, slots=True)
class SelectionOptions:
    """Which steps are selected, and how they are written."""

    relabel: bool = False
    """Whether lost steps are included, with an answer that requests the page again."""
    largest: int = _LONGEST
    """Characters of a prompt; of a longer one the page's last elements are cut."""
    images: bool = True
    group: str = KIND_OF_SITE
    """Pattern whose first group is the kind of site in a task's name."""
    thoughts: Thoughts = "auto"
    mistakes: bool = False
    """Whether wrong answers to pages that have not failed are included, of unsolved trials."""
    oracle: Oracle | None = None
    """What answers all steps on pages that have not failed, whatever state the agent has come to;
    lost steps are then relabelled, too."""


@dataclass(frozen=True, slots=True)
class Example:
    """A row with the agent's own answer."""

    row: Row
    part: StepRole | Literal["mistake"]
    """``mistake``: a wrong answer to a page that has not failed."""
    own: ChatMessage
    """The agent's own answer; the same as the row's unless that is relabelled."""
    model: str = ""
    """Whose answer that is, as the agent named it in its request."""


@dataclass(slots=True)
class ExampleSelection:
    """The examples found in runs."""

    examples: list[Example] = field(default_factory=list)
    vocabularies: dict[str, Vocabulary] = field(default_factory=dict)
    images: dict[str, bytes] = field(default_factory=dict)
    """By path below the data set's folder."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Numbers of skipped trials and steps, by reason."""


def find_examples(runs: Sequence[Run], choice: SelectionOptions) -> ExampleSelection:
    """Return all training examples of the runs' counted trials.

    Raises TraceError, and InputError if an answer or a history holds what only a scripted agent can
    know.
    """
    result = ExampleSelection()
    examples: list[Example] = []
    for run in runs:
        scripted_agents = frozenset(run.scripted)
        for record in run.trials:
            if not isinstance(record.outcome, Counted):
                result.left_out["of a trial that does not count"] += 1
                continue
            scripted = record.key.agent in scripted_agents
            examples += _of_trial(run, record, choice, result, scripted=scripted)
    known: set[bytes] = set()
    for example in _in_one_form(examples, result.vocabularies):
        text = repr(example.row.messages).encode("utf-8", "surrogatepass")
        if (digest := hashlib.sha256(text).digest()) in known:
            result.left_out["the same as another"] += 1
            continue
        known.add(digest)
        result.examples.append(example)
    return result


def _in_one_form(
    examples: Sequence[Example], vocabularies: Mapping[str, Vocabulary]
) -> Iterator[Example]:
    """Yield examples; those that load a page again get the form of the other wanted answers.

    Their thought is removed if less than half of the others have one.
    """
    others = [it for it in examples if not _is_retry(it) and _is_wanted(it)]
    thoughtful = [it for it in others if _bare(it.row, vocabularies) != it.row.answer]
    bare = len(thoughtful) * 2 < len(others)
    for example in examples:
        row = example.row
        if bare and _is_retry(example):
            row = row.model_copy(update={"messages": [*row.prompt, _bare(row, vocabularies)]})
        yield replace(example, row=row)


def _is_retry(example: Example) -> bool:
    return example.part == "lost" and example.row.relabelled


def _is_wanted(example: Example) -> bool:
    return example.part not in ("lost", "mistake") or example.row.relabelled


def _bare(row: Row, vocabularies: Mapping[str, Vocabulary]) -> ChatMessage:
    """Return a row's answer without its thought, where that can be separated."""
    return without_thought(row.answer, vocabularies[row.vocabulary]) or row.answer


def _of_trial(
    run: Run,
    record: TrialRecord,
    choice: SelectionOptions,
    result: ExampleSelection,
    *,
    scripted: bool,
) -> Iterator[Example]:
    if record.key.condition == NO_PROXY or not (record.path / EVENTS).is_file():
        result.left_out["of a trial without a trace"] += 1
        return
    trace = read_trace(record.path / EVENTS)
    began = next(iter(trace.events(TrialBegan)), None)
    words = vocabulary_of(
        record.path, began, benchmark_vocabulary(run.manifest, record.key.benchmark)
    )
    if words is None:
        result.left_out["of an agent whose actions are not known"] += 1
        return
    name = _named(result.vocabularies, record.key.benchmark, words)
    oracle = choice.oracle
    drops_by_itself = scripted or oracle is not None
    drops = choice.thoughts == "drop" or (choice.thoughts == "auto" and drops_by_itself)
    parts = tuple(entries_by_task(trace.entries).values()) or (trace.entries,)
    for entries in parts:
        actions = _actions_alone(entries, words) if drops else None
        known = _foreknown(entries, words, actions or {}) if scripted else {}
        answers = {} if oracle is None else oracle_answers(oracle, entries, words)
        for step in steps(entries, record.recoveries, words):
            wanted = answers.get(step.call.seq) if step.part == "clean" else None
            teaches = step.part != "clean" or record.solved or wanted is not None
            if not teaches and not (choice.mistakes and _is_mistake(step, words)):
                result.left_out[_UNTAUGHT if oracle is None else _OFF_PLAN] += 1
            else:
                for example in _example(
                    run, record, step, words, name, choice, result, actions, wanted
                ):
                    _require_no_foreknowledge(example, known, drops=drops)
                    wrong = not teaches or (step.part == "clean" and example.row.relabelled)
                    yield replace(example, part="mistake") if wrong else example


def _is_mistake(step: Step, words: Vocabulary) -> bool:
    return is_mistake(step.act, read_prompt(chat(step.call.event)[:-1]), words)


def _actions_alone(entries: Sequence[Entry], words: Vocabulary) -> dict[str, str]:
    """Return what replaces each answer of a trial that has a thought beside its action."""
    answers = [answer(it.event) for it in entries if isinstance(it.event, LlmCall)]
    alone = ((reply, without_thought(reply, words)) for reply in answers)
    return {
        text: "\n".join(message_texts([action]))
        for reply, action in alone
        if action is not None and (text := "\n".join(message_texts([reply])).strip())
    }


def _foreknown(
    entries: Sequence[Entry], words: Vocabulary, replaced: Mapping[str, str]
) -> dict[str, str]:
    """Return the answers that stay and say what only a scripted agent can know, with what."""
    calls = [it.event for it in entries if isinstance(it.event, LlmCall)]
    answers = ["\n".join(message_texts([answer(call)])).strip() for call in calls]
    earlier = dict.fromkeys(filter(None, answers), "")
    reasons: dict[str, str] = {}
    for call, text in zip(calls, answers, strict=True):
        if not text or text in reasons or text in replaced:
            continue
        action = without_thought(answer(call), words)
        thought = text.replace("\n".join(message_texts([action])), "") if action else text
        prompt = [it for it in chat(call)[:-1] if it.get("role") != "assistant"]
        shown = "\n".join(message_texts(replace_texts(prompt, earlier)))
        if (why := foreknowledge(thought, shown)) is not None:
            reasons[text] = why
    return reasons


def _require_no_foreknowledge(example: Example, known: Mapping[str, str], *, drops: bool) -> None:
    row = example.row
    texts = "\n".join(message_texts([*row.messages, example.own]))
    for text, why in known.items():
        if text in texts:
            remedy = "leave the agent out with --agent" if drops else "add --thoughts drop"
            raise InputError(
                f"{row.run}/{row.trial}, step {row.step} of agent {row.agent}: its answer or its"
                f" history says {why}; no other agent could write that, and a model would learn to"
                f" rely on it: {remedy}"
            )


def _named(known: dict[str, Vocabulary], benchmark: str, words: Vocabulary) -> str:
    """Return a vocabulary's unique name; agents of one benchmark may differ in theirs."""
    name, number = benchmark or words.name, 1
    while known.setdefault(name, words) != words:
        number += 1
        name = f"{benchmark or words.name}-{number}"
    return name


def _example(
    run: Run,
    record: TrialRecord,
    step: Step,
    words: Vocabulary,
    vocabulary: str,
    choice: SelectionOptions,
    result: ExampleSelection,
    actions: Mapping[str, str] | None,
    oracle: OracleAnswer | None,
) -> Iterator[Example]:
    call = step.call.event
    recorded = chat(call)
    *prompt, own = replace_texts(recorded, actions or {})
    rewritten = [*prompt, own] != recorded
    if not prompt:
        result.left_out["without a prompt"] += 1
        return
    wanted, action, relabelled, texts = own, step.act.name, False, step.act.texts
    if oracle is not None and not oracle.is_own(step.act):
        wanted, action, relabelled, texts = oracle.message, oracle.action.name, True, oracle.texts
    elif step.part == "lost" and (choice.relabel or choice.oracle):
        again = retry_answer(words, step) if step.retry_recovers else None
        if again is None:
            result.left_out["lost, and no action of the agent asks again"] += 1
            return
        wanted, action = again
        wanted = wanted if actions is None else without_thought(wanted, words) or wanted
        relabelled = True
    fitted = fit_messages([*prompt, wanted], choice.largest, texts)
    if fitted is None:
        result.left_out["too long: goal, history and the element acted on do not fit"] += 1
        return
    messages = fitted.messages
    trial = str(record.path.relative_to(run.path)) if record.path.is_relative_to(run.path) else ""
    plan, group = step.planned_fault, re.match(choice.group, record.key.task)
    # Images are read only for rows that are kept.
    images = tuple(_images(messages, record.path, choice, result))
    row = Row(
        id=_identifier(run.name, trial or str(record.path), call.exchange),
        kind="clean" if step.part == "clean" else "failure",
        action=action,
        relabelled=relabelled,
        rewritten=rewritten,
        cut=fitted.cut,
        benchmark=record.key.benchmark,
        agent=record.key.agent,
        condition=record.key.condition,
        task=record.key.task,
        site=step.site or record.site or "",
        group=group[1] if group else "",
        url=step.url,
        fault=str(plan.fault.get("kind", "")) if plan else "",
        category=plan.category if plan else "",
        page_family=plan.page if plan else "",
        run=run.name,
        trial=trial,
        step=call.step,
        vocabulary=vocabulary,
        tools=tools(call.tools),
        images=images,
        messages=messages,
    )
    yield Example(row, step.part, own, call.model)


def retry_answer(words: Vocabulary, step: Step) -> tuple[ChatMessage, str] | None:
    """Return an answer that requests a step's page again, with the name of its action.

    None if the agent's vocabulary has no such action or the page's URL is unknown.
    """
    if not words.asks_again or ("{url}" in words.asks_again and not step.url):
        return None
    text = words.asks_again.replace("{url}", step.url)
    acts = parse_actions(LlmAnswer("", text=text, complete=True), words)
    return ({"role": "assistant", "content": text}, acts[0].name) if acts else None


def _identifier(*place: str) -> str:
    return hashlib.sha256("/".join(place).encode("utf-8", "replace")).hexdigest()[:16]


def _images(
    messages: list[ChatMessage], attempt: Path, choice: SelectionOptions, result: ExampleSelection
) -> Iterator[str]:
    """Yield the paths of a prompt's images; remove the blob references from its parts."""
    store = BlobStore(attempt / BLOBS)
    for message in messages:
        content = message.get("content")
        if not isinstance(content, list):
            continue
        parts: list[dict[str, Any]] = []
        for part in content:
            reference = part.get("blob")
            if reference is None:
                parts.append(part)
            elif choice.images and (data := _blob(store, reference, result)) is not None:
                suffix = next((s for magic, s in _MAGIC.items() if data.startswith(magic)), "png")
                name = f"images/{reference.rpartition('/')[2]}.{suffix}"
                result.images[name] = data
                parts.append({"type": "image"})
                yield name
        message["content"] = (
            parts
            if any(part["type"] == "image" for part in parts)
            else "\n".join(part["text"] for part in parts)
        )


def _blob(store: BlobStore, reference: str, result: ExampleSelection) -> bytes | None:
    try:
        return store.get(reference)
    except TraceError:
        result.left_out["an image that is no longer there"] += 1
        return None
