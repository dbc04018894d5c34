"""Packets of a connection are lost."""

from typing import Annotated, ClassVar, Literal, override

from pydantic import Field

from warex.effects import Effect, LosePackets
from warex.faults.base import ConnectionFault, ConnectionPhase


class PacketLoss(ConnectionFault, frozen=True):
    """Lose packets of a connection, as a bad radio link does; TCP sends them again."""

    summary: ClassVar = "Lose packets of a connection, so that its data are late."
    point: ClassVar[ConnectionPhase] = "connect"
    needs_namespace: ClassVar = True

    kind: Literal["packet_loss"] = "packet_loss"
    share: Annotated[float, Field(gt=0, le=0.9, allow_inf_nan=False, strict=True)] = Field(
        default=0.05, description="The share of its packets that are lost, each way."
    )

    @override
    def effect(self) -> Effect:
        return LosePackets(self.share)

    @override
    def outcome(self) -> str:
        return f"made to lose {100 * self.share:g} % of its packets each way"
