"""A sample event, and a Hypothesis strategy for events of every kind."""

from string import ascii_letters

from hypothesis import strategies as st
from pydantic import JsonValue

from warex.clock import Clock
from warex.traces import events
from warex.traces.event_parts import Timings
from warex.traces.events import Event, FaultDelivered

DELIVERED = FaultDelivered(injection="i1", exchange="x1", rule="shop-down")


def fixed_clock() -> Clock:
    """Return a clock that stays at second 0 of a trial begun on 1 January 2026."""
    return Clock(monotonic=lambda: 0.0, wall=lambda: 1_767_225_600.0)


_finite = st.floats(allow_nan=False, allow_infinity=False)
# Without letters, since a writer redacts what has a secret's name.
_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=ascii_letters))
_json: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | _finite | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=6,
)
_objects = st.dictionaries(_text, _json, max_size=3)
_headers = st.lists(st.tuples(st.sampled_from(["accept", "Server"]), _text), max_size=3)

any_event: st.SearchStrategy[Event] = st.one_of(
    st.builds(events.TrialBegan, scenario=st.none() | _objects, sites=st.just(("a", "b"))),
    st.builds(events.Armed),
    st.builds(events.Disarmed),
    st.builds(events.RequestSeen, headers=_headers),
    st.builds(events.ResponseSeen, headers=_headers, timings=st.builds(Timings, total=_finite)),
    st.builds(events.Tunnel, seconds=_finite),
    st.builds(events.RequestRefused),
    st.builds(events.Repeated),
    st.builds(events.SiteUnreachable),
    st.builds(events.LlmRetried, retry_after_s=_finite, waited_s=_finite),
    st.builds(events.LlmUnread),
    st.builds(events.TlsRejected),
    st.builds(events.Dns),
    st.builds(events.WebSocketSeen),
    st.builds(events.FaultPlanned, fault=_objects),
    st.builds(events.FaultDelivered),
    st.builds(events.FaultMissed, reason=st.sampled_from(["never", "client_gone"])),
    st.builds(events.Witness),
    st.builds(
        events.LlmCall,
        messages=_json,
        began=_finite,
        latency_s=_finite,
        first_token_s=st.none() | _finite,
    ),
    st.builds(
        events.McpCall,
        id=_json,
        arguments=_json,
        result=_json,
        error_code=st.none() | st.integers(-(2**53), 2**53),
        began=_finite,
        latency_s=_finite,
    ),
    st.builds(events.DefenceApplied),
    st.builds(events.AgentAction, arguments=_json),
    st.builds(events.Canary),
    st.builds(events.TaskBegan),
    st.builds(events.TaskEnded),
    st.builds(events.Control, arguments=_objects),
    st.builds(events.HarnessBroke),
    st.builds(events.TrialEnded),
)
