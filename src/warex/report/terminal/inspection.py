"""One trial for the terminal."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from warex.analysis.inspection.cache_misses import CacheMiss
from warex.analysis.inspection.tasks import TaskUse
from warex.analysis.inspection.timeline import Inspection
from warex.analysis.steps.model_steps import ModelStep, NewMessage
from warex.analysis.trial.record import TrialRecord
from warex.analysis.trial.strategy import in_words
from warex.analysis.trial.usage import CallCost, LlmUsage
from warex.llm.actions.guess import WITHOUT_ACTIONS
from warex.report.terminal.fault_groups import FaultGroup, each_alone, grouped
from warex.report.terminal.grid import DefinitionList, Grid, Heading
from warex.report.terminal.timeline import Timeline
from warex.report.text.formatting import UNKNOWN, usd
from warex.report.text.outcomes import describe_outcome, describe_recovery
from warex.text.english import count_noun
from warex.traces.outcome import Counted

_MOST_LINES = (4, 3)
"""Lines at the beginning and the end of a message or an answer, without ``full``."""
_INSTRUCTIONS = ("system", "developer")
_MOST_INSTRUCTIONS = (1, 1)
"""The same for messages that are equal in all trials."""
_MOST_MESSAGES = (2, 4)
"""Messages at the beginning and the end of a prompt."""
_MOST_IDS = 8
_MOST_ON_ONE_PAGE = 0.5
"""Share of the steps from which the page is named."""
_LONGEST = 160
"""Maximum characters of a line."""


def render_inspect(inspection: Inspection, *, full: bool = False) -> RenderableType:
    """Return a trial's outcome, faults with recovery evidence, steps and timeline.

    Numbers in square brackets are ``seq`` in the trial's events.jsonl. ``full`` shows complete
    prompts and answers, and DNS lookups.
    """
    moments = tuple(moment for moment in inspection.timeline if full or moment.kind != "dns")
    return Group(
        DefinitionList(tuple(_head(inspection))),
        Text(),
        *_faults(inspection.trial, full),
        Text(),
        *_tasks(inspection),
        *_calls(inspection, full),
        Text("Timeline", style="bold"),
        Timeline(moments),
    )


def _head(inspection: Inspection) -> Iterator[tuple[str, str]]:
    trial = inspection.trial
    key = trial.key
    what = [key.benchmark, key.agent, key.condition, key.task, f"repeat {key.repeat}"]
    yield "trial", " / ".join(part for part in what if part)
    yield "attempt", f"{trial.attempt}, seed {UNKNOWN if trial.seed is None else trial.seed}"
    yield "scenario", inspection.scenario or "none"
    if inspection.scripted:
        yield "agent", "scripted: it tests WAREX, not an LLM; nothing was paid"
    yield "outcome", describe_outcome(trial.outcome)
    for reason in trial.outcome.reasons if isinstance(trial.outcome, Counted) else ():
        yield "", reason
    if trial.exposed:
        yield "faults", describe_recovery(trial)
    for clause in in_words(trial.strategy):
        yield "strategy", clause
    page = trial.strategy.one_page
    if trial.exposed and page is not None and page.steps > _MOST_ON_ONE_PAGE:
        yield "", f"{page.steps:.0%} of the steps after the first fault went to {page.url}"
    if trial.false_success:
        yield "claim", "a success, which the check denies"
    elif trial.claim == "unclear":
        yield (
            "claim",
            "unclear: the last answer says neither that the task is done nor that it failed",
        )
    canary = {True: "came through", False: "did not come through", None: "not tried"}
    yield "canary", canary[trial.canary]
    apart = ", those with the model not counted" if inspection.steps else ""
    yield "exchanges", f"{inspection.exchanges}{apart}"
    if inspection.redacted is not None:
        yield "redacted", f"{count_noun(inspection.redacted, 'place')} of the trace, for a secret"
    if ports := getattr(trial.outcome, "refused_ports", ()):
        listed = ", ".join(map(str, ports))
        yield "localhost", f"refused, though this machine serves it: port {listed}"
        yield "", f"to let it through: --host-ports {listed.replace(' ', '')}"
    for reason in trial.harness_broke:
        yield "harness broke", reason
    if trial.truncated:
        yield "trace", trial.truncated
    yield "folder", str(trial.path)


def _tasks(inspection: Inspection) -> Iterator[RenderableType]:
    if not inspection.tasks:
        return
    yield Text("Tasks", style="bold")
    yield Text("Traffic alone does not show whether a task was done.")
    heads = (
        *(Heading("task", is_text=True), Heading("told by", is_text=True)),
        *map(Heading, ("exchanges", "LLM calls", "steps", "tokens in", "tokens out", "cost")),
        *(Heading("delivered"), Heading("missed"), Heading("recovered", is_text=True)),
    )
    yield Grid(heads, tuple(_task(use, scripted=inspection.scripted) for use in inspection.tasks))
    yield Text()


def _task(use: TaskUse, *, scripted: bool) -> tuple[str, ...]:
    again = f" (run {use.run})" if use.run > 1 else ""
    recovered = {True: "yes", False: "no", None: UNKNOWN}
    llm = use.llm.scripted() if scripted else use.llm
    return (
        f"{use.task}{again}" if use.task else "unattributed",
        (use.told_by or UNKNOWN).replace("_", " "),
        str(use.exchanges),
        str(len(llm.calls)),
        str(llm.steps),
        f"{llm.input_tokens:,}",
        f"{llm.output_tokens:,}",
        usd(llm.cost_usd, llm.as_if) if llm.calls else UNKNOWN,
        str(use.delivered),
        str(use.missed),
        recovered[use.recovered],
    )


def _calls(inspection: Inspection, full: bool) -> Iterator[RenderableType]:
    yield Text("LLM calls", style="bold")
    llm = inspection.trial.llm
    yield Text(f"{UNKNOWN} ({_unknown(inspection)})" if llm is None else _use(llm))
    if inspection.answers:
        yield Text(_read_answers(inspection))
    yield Text()
    costs = {call.seq: call for call in llm.calls} if llm else {}
    misses = {miss.seq: miss for miss in inspection.cache_misses}
    for step in inspection.steps:
        yield Text(f"step {step.number} [{step.seq}] at {step.t:.2f} s, {step.model}", style="bold")
        cost, miss = costs.get(step.seq), misses.get(step.seq)
        yield DefinitionList(tuple(_step(step, cost, miss, full)))
        yield Text()


def _read_answers(inspection: Inspection) -> str:
    answers, read = inspection.answers, inspection.read_answers
    counted = f"{read} of {count_noun(answers, 'answer')} with an action that WAREX can read"
    return counted if read else f"{counted}; {WITHOUT_ACTIONS}"


def _unknown(inspection: Inspection) -> str:
    unread = inspection.trial.llm_unread
    if not unread:
        return "not recorded: the agent did not run behind the proxy"
    why = f"{len(unread)} could not be read, first {unread[0][0]}: {unread[0][1]}"
    read = len(inspection.steps)
    if not read:
        return why
    follow = "that was read follows" if read == 1 else "that were read follow"
    return f"{why}; the {count_noun(read, 'call')} {follow}"


def _use(llm: LlmUsage) -> str:
    if not llm.calls:
        return f"{UNKNOWN} (none came through the proxy)"
    put = f", {llm.cache_write_tokens:,} written to the cache" if llm.cache_write_tokens else ""
    cost = usd(llm.cost_usd, llm.as_if)
    if llm.cost_usd is None:
        cost = f"cost unknown: no price of {', '.join(llm.unpriced)}"
    number = llm.estimated_calls
    uncertain = f"; the tokens of {number} are estimated or partial" if number else ""
    return (
        f"{count_noun(len(llm.calls), 'call')} in {count_noun(llm.steps, 'step')},"
        f" {count_noun(llm.input_tokens, 'token')} in"
        f" ({llm.cached_tokens:,} cached{put}), {llm.output_tokens:,} out"
        f" ({llm.reasoning_tokens:,} reasoning), {cost}{uncertain}"
    )


def _step(
    step: ModelStep, cost: CallCost | None, miss: CacheMiss | None, full: bool
) -> Iterator[tuple[str, str]]:
    if step.page:
        yield "page", step.page
    if step.request:
        yield "request", step.request
    if step.faults:
        yield "faults", ", ".join(step.faults)
    yield from _labelled("prompt", _prompt(step, full))
    answer = [line for line in step.answer.splitlines() if line.strip()]
    yield from _labelled("answer", _shown(answer, full) if answer else [step.error or "empty"])
    if answer and step.error:
        yield "error", step.error
    if step.actions:
        yield "action", "; ".join(step.actions)
    if cost is not None:
        yield "time", _time(cost)
        yield "cost", f"{cost.arithmetic} ({cost.usage})"
    if miss is not None:
        nearest = f"step {miss.step} [{miss.nearest_seq}] of {miss.condition}"
        yield "cache", f"not answered from it; the nearest request is {nearest}: {miss.why}"


def _time(call: CallCost) -> str:
    text = f"{call.latency_s:.2f} s"
    if call.first_token_s is not None:
        text += f", first token after {call.first_token_s:.2f} s"
    return text if call.tokens_per_s is None else f"{text}, {call.tokens_per_s:,.0f} tokens/s"


def _prompt(step: ModelStep, full: bool) -> Iterator[str]:
    """Yield the new messages of the prompt."""
    messages = step.prompt
    yield count_noun(step.characters, "character") + ("" if messages else ", nothing new")
    more = 0 if full else len(messages) - sum(_MOST_MESSAGES)
    for message in messages[: _MOST_MESSAGES[0]] if more > 0 else messages:
        yield from _message(message, full)
    if more > 0:
        yield f"… {count_noun(more, 'more message')} (--full)"
        for message in messages[-_MOST_MESSAGES[1] :]:
            yield from _message(message, full)


def _message(message: NewMessage, full: bool) -> Iterator[str]:
    most = _MOST_INSTRUCTIONS if message.role in _INSTRUCTIONS else _MOST_LINES
    first, *more = _shown(list(message.lines), full, most)
    yield f"{message.role}: {first}"
    yield from (f"  {line}" for line in more)


def _shown(lines: list[str], full: bool, most: tuple[int, int] = _MOST_LINES) -> list[str]:
    """Return the lines to show: the first and the last ones, which hold the request."""
    if full:
        return lines
    head, tail = most
    more = len(lines) - head - tail
    if more <= 1:
        return [_shortened(line) for line in lines]
    return [
        *map(_shortened, lines[:head]),
        f"… {count_noun(more, 'more line')} (--full)",
        *map(_shortened, lines[-tail:]),
    ]


def _shortened(line: str) -> str:
    """Return a line, without its middle if it is long."""
    if len(line) <= _LONGEST:
        return line
    half = (_LONGEST - 3) // 2
    return f"{line[:half].rstrip()} … {line[-half:].lstrip()}"


def _labelled(label: str, lines: Iterator[str] | list[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines):
        yield label if number == 0 else "", line


def _faults(trial: TrialRecord, full: bool) -> Iterator[RenderableType]:
    yield Text("Faults", style="bold")
    if not trial.injections:
        yield Text("none planned")
    groups = each_alone(trial) if full else grouped(trial)
    yield DefinitionList(tuple(line for group in groups for line in _fault(group)))
    for reason, count in trial.skipped:
        yield Text(f"{count} not eligible: {reason}")


def _fault(group: FaultGroup) -> Iterator[tuple[str, str]]:
    (i, recovery), *others = group.members
    yield i.id, f"{i.kind} on {group.where}"
    if others:
        ids = [injection.id for injection, _ in group.members]
        listed = ", ".join(ids[:_MOST_IDS]) + (", …" if len(ids) > _MOST_IDS else "")
        yield "", f"{count_noun(len(ids), 'time')}: {listed}. The first (--full shows each):"
    fate = f"[{i.planned_seq}] → {i.fate}"
    fate += f" [{i.fate_seq}]" if i.fate_seq is not None else ""
    waited = f"held {i.waited_s:.2f} s" + (f", {i.reason}" if i.reason else "")
    yield "", f"{fate} {waited}"
    if recovery is None:
        return
    seqs = [
        f"{name} [{seq}]"
        for name, seq in (("LLM call", recovery.call_seq), ("request", recovery.request_seq))
        if seq is not None
    ]
    spent = ""
    if recovery.seconds is not None:
        steps = count_noun(recovery.steps or 0, "step")
        tokens = count_noun(recovery.tokens or 0, "token")
        spent = f" It took {recovery.seconds:.1f} s, {steps}, {tokens}."
    proof = f" ({', '.join(seqs)})" if seqs else ""
    sure = " (likely)" if recovery.confidence == "likely" else ""
    yield "", f"{recovery.verdict.replace('_', ' ')}{sure}: {recovery.why}{proof}{spent}"
    if recovery.lie is not None:
        yield "", f"lie {recovery.lie.replace('_', ' ')}"
    if recovery.detected is not None:
        seen = (
            f"detected (LLM call [{recovery.detected_seq}])"
            if recovery.detected
            else "not detected"
        )
        yield "", seen
    if recovery.disagreement:
        yield "", f"disagreement: {recovery.disagreement}"
