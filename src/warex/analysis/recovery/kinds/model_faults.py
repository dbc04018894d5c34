"""Whether an agent recovered from a fault of its model.

The agent is the program and its model together. It recovered if a usable answer of the model came
while it was still running, whether its SDK repeated the call or its loop asked again.
"""

from dataclasses import replace

from warex.analysis.recovery.right_requests import DeliveredInjection
from warex.analysis.recovery.trial_events import KEEPS_ANSWER, ModelCall, TrialEvents
from warex.analysis.recovery.verdicts import Recovery
from warex.traces.events import FaultPlanned


def is_model_fault(trial: TrialEvents, plan: FaultPlanned) -> bool:
    """Whether an injection hit a call to the model."""
    return plan.target == "llm" or trial.call_of(plan.exchange) is not None


def classify_model_fault(trial: TrialEvents, injection: DeliveredInjection) -> Recovery:
    """Judge a delivered injection into a call to the model."""
    plan, since = injection.plan, injection.felt.felt_at
    hit = trial.call_of(plan.exchange)
    if set(plan.effects) <= KEEPS_ANSWER and not injection.delivered.client_left:
        return injection.judged("not_needed", "The model's answer came late but whole.")
    if plan.looks_healthy and hit is not None and _has_content(hit):
        why = "The answer was whole and of another step: the trace cannot tell who noticed."
        return injection.judged("undecided", why)
    after = [
        call
        for call in trial.calls
        if since <= call.began <= trial.ended and call.event.exchange != plan.exchange
    ]
    for tries, call in enumerate(after, start=1):
        if not is_usable(trial, call):
            continue
        between = [one.event for one in after[: tries - 1]]
        # A repeat of the call that was hit belongs to the same step, and costs none.
        steps = {one.step for one in (*between, call.event)}
        steps -= {hit.event.step} if hit else set()
        again = hit is not None and hit.event.step == call.event.step
        why = (
            "The same call was made again and answered."
            if again
            else f"The agent went on: its model answered at step {call.event.step}."
        )
        return replace(
            injection.judged("recovered", why, tries=tries, call=call),
            seconds=call.began - since + sum(call.saved_s for call in between),
            steps=len(steps),
            tokens=sum(
                (one.input_tokens or 0) + (one.output_tokens or 0) for one in (*between, call.event)
            ),
        )
    why = "The model was not asked again."
    if after:
        why = f"The model was asked {len(after)} more times, and no answer could be used."
    if len(after) == 1:
        why = "The model was asked once more, and its answer could not be used."
    return injection.judged("not_recovered", why, tries=len(after))


def is_usable(trial: TrialEvents, call: ModelCall) -> bool:
    """Whether the model's own answer came whole and is not empty."""
    event = call.event
    ended_well = event.finish in (None, "stop", "tool_calls")
    complete = event.error is None and event.complete and ended_well
    return complete and _has_content(call) and event.exchange not in trial.altered


def _has_content(call: ModelCall) -> bool:
    return bool(call.event.answer.strip() or call.event.tool_calls)
