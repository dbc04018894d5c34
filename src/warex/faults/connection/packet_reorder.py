"""Packets of a connection come out of order."""

from typing import Annotated, ClassVar, Literal, override

from msgspec.structs import replace
from pydantic import Field

from warex.effects import ReorderPackets
from warex.exchange import Exchange
from warex.faults.base import (
    ConnectionFault,
    ConnectionPhase,
    EffectsAndState,
    FaultState,
    next_number,
)
from warex.seeds import KeyedRng, derive_seed


class PacketReorder(ConnectionFault, frozen=True):
    """Bring packets of a connection out of order, as networks with several paths do."""

    summary: ClassVar = "Reorder packets of a connection, so that later data wait."
    point: ClassVar[ConnectionPhase] = "connect"
    needs_namespace: ClassVar = True

    kind: Literal["packet_reorder"] = "packet_reorder"
    share: Annotated[float, Field(gt=0, le=0.9, allow_inf_nan=False, strict=True)] = Field(
        default=0.05, description="The share of its packets that are held, each way."
    )
    late: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False, strict=True)] = Field(
        default=0.05, description="Seconds for which each is held while those after it pass."
    )

    @override
    def effect(self) -> ReorderPackets:
        return ReorderPackets(self.share, self.late, 0)

    @override
    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        number, state = next_number(state, "connections")
        seed = derive_seed(rng.seed, rng.rule, "packets", number)
        return (replace(self.effect(), seed=seed),), state

    @override
    def outcome(self) -> str:
        return (
            f"made to bring {100 * self.share:g} % of its packets {self.late:g} s late each way,"
            " after packets that were sent later"
        )
