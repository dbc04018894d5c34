"""The injections of one channel that change single messages, and each message that they hit."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from warex.effects import ChangeMessages
from warex.lane.state import AppliedInjection
from warex.rewriting.base import ValueChange
from warex.rewriting.json_body.value_changes import apply_replacements
from warex.rewriting.message_selection import SeenMessage

WAITS_FOR_NEXT_S: Final = 5.0
"""Seconds for which a message waits for the one that is to overtake it."""
_ENDS: Final = ("close", "reset", "stall")


class MessageHit(Struct, eq=False):
    """One message that is hit."""

    rule: "MessageRule"
    began: float
    """Second of the trial."""
    changes: Sequence[ValueChange]

    def hold(self) -> None:
        """Note that the client waits from now on, if it has not before."""
        hits = self.rule.applied.messages
        if hits is not None and hits.held_since is None:
            hits.held_since = self.began


class MessageRule(Struct, eq=False):
    """One injection, and the messages that it has counted."""

    applied: AppliedInjection
    effect: ChangeMessages
    about: str
    """Seeds the choice of a value: the request's method and URL."""
    counted: int = 0
    is_over: bool = False

    def hits(self, message: SeenMessage) -> tuple[bool, str | None, Sequence[ValueChange]]:
        """Whether a message is hit; if it is corrupted, its text and what has changed in it."""
        selection = self.effect.selection
        if self.is_over or not selection.fits(message):
            return False, None, ()
        text: str | None = None
        changes: Sequence[ValueChange] = ()
        if self.effect.edit is not None:
            text, changes = self._corrupted(message)
            if text is None:
                return False, None, ()
        self.counted += 1
        is_hit = selection.hits(self.counted)
        ends = is_hit and self.effect.action in _ENDS
        self.is_over = ends or selection.is_over(self.counted)
        return is_hit, text, changes

    def _corrupted(self, message: SeenMessage) -> tuple[str | None, Sequence[ValueChange]]:
        assert self.effect.edit is not None
        try:
            text = message.content.decode()
        except UnicodeDecodeError:
            return None, ()
        made = self.effect.edit.pieces(text, self.about)
        changes = tuple(change for piece in made for change in piece.changes)
        return (apply_replacements(text, made), changes) if changes else (None, ())


def first_hit(
    rules: Sequence[MessageRule], message: SeenMessage, where: str, shown: str, now: float
) -> tuple[MessageHit | None, str | None]:
    """Have each rule count a message; return the first hit, and the text that it leaves.

    ``where`` and ``shown``: the message in the ledger; ``now``: second of the trial.
    """
    hit: MessageHit | None = None
    text: str | None = None
    for rule in rules:
        is_hit, corrupted, changes = rule.hits(message)
        if is_hit and hit is None:
            hit, text = (
                MessageHit(rule, now, _reported(rule.effect, where, shown, changes)),
                corrupted,
            )
    return hit, text


def _reported(
    effect: ChangeMessages, where: str, shown: str, changes: Sequence[ValueChange]
) -> Sequence[ValueChange]:
    if effect.edit is not None:
        return [ValueChange(f"{where}: {it.where}", it.before, it.after) for it in changes]
    after = {
        "close": f"closed with {effect.code}" if effect.code else "the end",
        "reset": "reset",
        "delay": f"{effect.seconds:g} s later",
        "duplicate": "twice",
        "reorder": "after the next one",
        "stall": "silence",
    }
    before = {"duplicate": "once", "reorder": "in its turn"}.get(effect.action, shown)
    return [ValueChange(where, before, after.get(effect.action))]
