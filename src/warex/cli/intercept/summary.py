"""What `warex exec` and `warex proxy` say at their end about the traffic."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from warex.extras import documentation
from warex.text.english import count_noun

if TYPE_CHECKING:
    from warex.lane.record.traffic_summary import TrafficSummary


def summary_sentences(
    saw: "TrafficSummary", out: Path | None, scenario: str | None
) -> Iterator[str]:
    """Yield what was recorded, and what the user may have expected and did not happen."""
    if saw["llm_unread"]:
        yield (
            f"{count_noun(saw['llm_unread'], 'call')} to a model could not be read (first:"
            f" {saw['llm_unread_first']}): steps, tokens, cost, detection and recovery are"
            f" unknown ({documentation('reference/llm')})"
        )
    if saw["answers"] and not saw["acts"] and out is not None:
        from warex.llm.actions.guess import WITHOUT_ACTIONS

        yield (
            f"0 of {count_noun(saw['answers'], 'answer')} of the model with an action that"
            f" WAREX can read; {WITHOUT_ACTIONS}"
        )
    # Connection tries may meet a fault before the page arms the other rules.
    if scenario and not (saw["delivered"] or saw["missed"]):
        yield from _without_faults(saw)
    if out is None:
        return
    if saw["tasks"]:
        yield (
            f"{count_noun(saw['tasks'], 'task')} distinguished,"
            f" {count_noun(saw['unattributed'], 'exchange')} unattributed"
        )
    yield f"trace in {out}: {counts(saw)}; look at it: {shlex.join(('warex', 'inspect', str(out)))}"


def counts(saw: "TrafficSummary") -> str:
    """Return how much passed, and what became of the faults."""
    return (
        f"{count_noun(saw['exchanges'], 'exchange')}, {count_noun(saw['llm_calls'], 'LLM call')},"
        f" {count_noun(saw['delivered'], 'fault')} delivered, {saw['missed']} missed"
    )


def _without_faults(saw: "TrafficSummary") -> Iterator[str]:
    program = "a program's request is a page only if a rule names `other` beside `document`"
    if not saw["armed"]:
        yield (
            "no fault could be applied: the scenario was never armed, since what it waits for"
            f" (arm: first_page or first_llm_call) was not seen; {program}"
        )
    elif saw["exchanges"]:
        why = "" if saw["browser"] else f"; {program}"
        yield f"no rule hit any of {count_noun(saw['exchanges'], 'exchange')}{why}"
