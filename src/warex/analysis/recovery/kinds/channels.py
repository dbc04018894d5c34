"""WebSockets and streams of events that a fault has ended, or whose messages it has changed.

A person sees that they work again when the page opens another one, by itself or since it was loaded
again, and that one brings something.
"""

from collections.abc import Sequence

from warex.analysis.recovery import equivalence
from warex.analysis.recovery.trial_events import SeenRequest, TrialEvents
from warex.effects import effects_with
from warex.traces.events import FaultPlanned, RequestSeen

_OF_MESSAGES = effects_with(lambda traits: traits.changes_messages)


def is_channel(plan: FaultPlanned, hit: RequestSeen) -> bool:
    """Whether a fault hit a WebSocket, or a stream that goes on."""
    return hit.resource == "websocket" or bool(_OF_MESSAGES.intersection(plan.effects))


def working_again(
    trial: TrialEvents, after: Sequence[SeenRequest], hit: RequestSeen, pages: Sequence[str]
) -> list[SeenRequest]:
    """Return the later channels that have brought something.

    If none was opened any more, it is a load of the page, which may get its data otherwise.
    """
    opened = [one for one in after if equivalence.same_operation(one.event, hit)]
    if opened:
        return [one for one in opened if trial.brought_data(one.event.exchange)]
    return [
        one
        for one in after
        if one.is_page
        and (trial.status(one.event.exchange) or 400) < 400
        and any(equivalence.same_page(one.event.url, page) for page in pages)
    ]
