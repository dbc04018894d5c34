"""Model calls in each API's format, for the faults of models."""

from tests.cases import every
from tests.llm.families.vectors import vectors
from warex.effects import Reply
from warex.exchange import Request
from warex.faults import Fault
from warex.llm import LLM_APIS, LlmAnswer, read_answer
from warex.llm.exchange import LlmExchange
from warex.seeds import KeyedRng

CALLS = [
    LlmExchange(
        "x1", Request("POST", f"https://model.test{vector.path}"), llm_request=request, step=3
    )
    for family in LLM_APIS
    for vector in vectors(family.name)[:8]
    for request in [vector.recognised()]
]


def _id(call: LlmExchange) -> str:
    return f"{call.llm_request.api}-{'streamed' if call.llm_request.stream else 'whole'}"


each_call = every("call", CALLS)


def answered(fault: Fault, call: LlmExchange, seed: int = 1) -> tuple[Reply, LlmAnswer]:
    """Return a fault's answer to a call, and how WAREX reads it."""
    (reply,), _ = fault.effects(call, {}, KeyedRng(seed, "rule"))
    assert isinstance(reply, Reply)
    kind = reply.headers["content-type"]
    return reply, read_answer(call.llm_request, reply.status, kind, reply.body)
