"""The state of one exchange, the same for both versions of HTTP: what may follow what.

As in h11, there are two states, one of the request and one of the response, and a table for each.
A sender asks the table first; what the table does not allow is a mistake of the sender.
"""

from enum import IntEnum, auto
from typing import Final


class MessageState(IntEnum):
    """The state of a request or a response."""

    IDLE = auto()
    """The head has not arrived."""
    BODY = auto()
    """The head has arrived, the body has not ended."""
    DONE = auto()
    """The message is complete."""
    SWITCHED = auto()
    """HTTP has ended: bytes of another protocol follow (RFC 9110 §7.8, §9.3.6)."""
    FAILED = auto()
    """The message ended before it was complete."""


class Step(IntEnum):
    """A part of a message."""

    INFORMATIONAL = auto()
    HEAD = auto()
    DATA = auto()
    END = auto()
    SWITCH = auto()


IDLE, BODY, DONE = MessageState.IDLE, MessageState.BODY, MessageState.DONE
SWITCHED, FAILED = MessageState.SWITCHED, MessageState.FAILED

_REQUEST: Final = {
    (IDLE, Step.HEAD): BODY,
    (BODY, Step.DATA): BODY,
    (BODY, Step.END): DONE,
    (BODY, Step.SWITCH): SWITCHED,
    (DONE, Step.SWITCH): SWITCHED,
    (SWITCHED, Step.DATA): SWITCHED,
    (SWITCHED, Step.END): DONE,
}
_RESPONSE: Final = {
    (IDLE, Step.INFORMATIONAL): IDLE,
    (IDLE, Step.HEAD): BODY,
    (IDLE, Step.SWITCH): SWITCHED,
    (BODY, Step.DATA): BODY,
    (BODY, Step.END): DONE,
    (SWITCHED, Step.DATA): SWITCHED,
    (SWITCHED, Step.END): DONE,
}


class OutOfOrder(RuntimeError):
    """A step that may not follow; the exchange is not changed."""


class ExchangeState:
    """The states of an exchange's request and response."""

    __slots__ = ("request", "response")

    def __init__(self) -> None:
        self.request = IDLE
        self.response = IDLE

    def request_step(self, step: Step) -> None:
        """Note a part of the request. Raises OutOfOrder."""
        state = _REQUEST.get((self.request, step))
        if state is None:
            raise OutOfOrder(f"{step.name} of a request that is {self.request.name}")
        self.request = state

    def response_step(self, step: Step) -> None:
        """Note a part of the response; it may come before the request is complete.

        Raises OutOfOrder.
        """
        state = _RESPONSE.get((self.response, step))
        if state is None or self.request is IDLE:
            raise OutOfOrder(
                f"{step.name} of a response that is {self.response.name}, "
                f"to a request that is {self.request.name}"
            )
        self.response = state
        if step is Step.SWITCH:
            self.request_step(step)

    def fail(self) -> None:
        """Note the end of the exchange; what is complete stays so."""
        if self.request is not DONE:
            self.request = FAILED
        if self.response is not DONE:
            self.response = FAILED

    @property
    def is_over(self) -> bool:
        """Whether nothing more may come of either message."""
        return self.request in _OVER and self.response in _OVER


_OVER: Final = (DONE, FAILED)
