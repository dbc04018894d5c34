"""The policy of a scripted model: the steps of its task, and reactions to failures.

Every trial draws a temper: the weights of reactions, the number of tries, how it words answers.
"""

import random  # noqa: TID251  (Of the collection, not of a trial.)
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.analysis.trajectories.collector.site import NEWS, WWW
from tests.analysis.trajectories.collector.tasks import Action, Step, Task, click, goto

_RELOAD: Action = {"do": "reload"}
_BACK: Action = {"do": "back"}

ASKS_AGAIN = (
    *("reload", "goto_same", "variant", "back_forward", "back_click", "error_button"),
    *("reload_done", "wait_reload", "goto_act", "key", "new_tab", "act_again", "redo", "unknown"),
)
ELSEWHERE = ("click_other", "other_page", "other_host", "back", "scroll")
WAITS = ("wait_short", "wait_long")
LOOKS = ("look", "look_then_act")
ENDS = ("give_up", "false_claim", "partial_claim")
IGNORES = ("ignore",)

TEMPERS: dict[str, dict[tuple[str, ...], float]] = {
    "persistent": {ASKS_AGAIN: 8, WAITS: 1, LOOKS: 2, ELSEWHERE: 1},
    "careful": {ASKS_AGAIN: 3, WAITS: 2, LOOKS: 8, ENDS: 0.5},
    "waiting": {WAITS: 8, ASKS_AGAIN: 3, ENDS: 0.5},
    "wandering": {ELSEWHERE: 8, ASKS_AGAIN: 3, ENDS: 1},
    "quitting": {ENDS: 8, ASKS_AGAIN: 1},
    "oblivious": {IGNORES: 8, ELSEWHERE: 1, ENDS: 1},
    "mixed": {ASKS_AGAIN: 4, WAITS: 1, LOOKS: 1, ELSEWHERE: 2, ENDS: 1, IGNORES: 1},
    "monkey": {ASKS_AGAIN: 3, WAITS: 1, LOOKS: 1, ELSEWHERE: 4, ENDS: 0.3, IGNORES: 1},
}
_FREQUENT = ("mixed", "persistent", "careful")


@dataclass(slots=True)
class Decision:
    """One answer's actions, their mood, and the delay in seconds."""

    actions: list[Action]
    mood: str
    """`on`, `trouble`, or `end`."""
    slow: float = 0.0


@dataclass(slots=True)
class Policy:
    """The model of one trial."""

    task: Task
    base: str
    rng: random.Random
    wording: str
    temper: str = ""
    patience: int = 3
    slowness: float = 0.0
    talk: str = "frank"
    claim: str | None = None
    did: list[str] = field(default_factory=list)
    _at: int = 0
    _expecting: bool = False
    _troubles: int = 0
    _queue: list[list[Action]] = field(default_factory=list)
    _looking: bool = False

    def __post_init__(self) -> None:
        """Draw the temper."""
        self.temper = self.rng.choice([*TEMPERS, *_FREQUENT])
        self.patience = self.rng.choice([1, 2, 2, 3, 4])
        self.slowness = self.rng.choice([0, 0, 0.25, 0.5])
        self.talk = self.rng.choice(["silent", "plain", "frank", "frank"])

    def decide(self, seen: str) -> Decision:
        """Return the reaction to the observed page."""
        decision = self._next(seen)
        if self.rng.random() < self.slowness:
            decision.slow = self.rng.choice([1.5, 3, 4, 7, 12])
        if self.rng.random() < 0.08:
            pause: Action = {"do": "pause", "seconds": self.rng.choice([2, 4, 7])}
            decision.actions = [pause, *decision.actions]
        return decision

    def _next(self, seen: str) -> Decision:
        if self._queue:
            return Decision(self._queue.pop(0), "on")
        if not self._expecting:
            return self._go_on()
        if self._looking:
            return self._after_looking(seen)
        step = self.task.steps[self._at]
        if match := re.search(step.expect, seen):
            self._at += 1
            self._troubles = 0
            if self._at == len(self.task.steps):
                return self._end(self.task.says.format(found=match[0]))
            if self.temper == "monkey" and self.rng.random() < 0.25:
                return self._react(self.task.steps[self._at - 1])
            return self._go_on()
        return self._trouble(step)

    def _go_on(self) -> Decision:
        self._expecting = True
        step = self.task.steps[self._at]
        actions = [dict(a) for a in step.actions]
        if self.rng.random() < 0.3 or len(actions) == 1:
            return Decision(actions, "on")
        self._queue = [[a] for a in actions[1:]]
        return Decision(actions[:1], "on")

    def _after_looking(self, seen: str) -> Decision:
        self._looking = False
        if re.search("1 x |[4-9] reviews|milk", seen) and self.rng.random() < 0.85:
            self._at = len(self.task.steps)
            return self._end(self.task.says.format(found="It"))
        return self._redo()

    def _redo(self) -> Decision:
        step = self.task.steps[self._at]
        self._queue = [list(step.actions)]
        return Decision([goto(step.page or step.leads_to)], "trouble")

    def _trouble(self, step: Step) -> Decision:
        self._troubles += 1
        if self._troubles > self.patience:
            kind = self.rng.choice(["give_up", "give_up", "false_claim", "ignore"])
            return self._do(kind, step)
        return self._react(step)

    def _react(self, step: Step) -> Decision:
        groups = TEMPERS[self.temper]
        (group,) = self.rng.choices(list(groups), list(groups.values()))
        if group is LOOKS and not step.writes:
            group = ASKS_AGAIN
        return self._do(self.rng.choice(group), step)

    def _do(self, kind: str, step: Step) -> Decision:
        self.did.append(kind)
        rng = self.rng
        target = step.leads_to if not step.writes or rng.random() < 0.3 else step.page
        match kind:
            case "give_up":
                return self._end(None)
            case "false_claim":
                return self._end(self.task.says.format(found="17"))
            case "partial_claim":
                return self._end(f"Partly done: {self.task.kind}.")
            case "ignore":
                return self._ignore()
            case "redo":
                return self._redo()
            case "reload_done":
                ended = self._end(self.task.says.format(found="I have looked, it"))
                return Decision([_RELOAD, *ended.actions], "trouble")
            case "look" | "look_then_act":
                self._looking = kind == "look_then_act"
                page = "/orders" if step.leads_to.endswith(("thanks", "orders")) else None
                where = self.base + page if page else step.page
                by_link = page and rng.random() < 0.4
                return Decision([click("orders") if by_link else goto(where)], "trouble")
            case "back_forward":
                self._queue = [[{"do": "forward"}]]
                return Decision([_BACK], "trouble")
            case "back_click":
                self._queue = [list(step.actions)]
                return Decision([_BACK], "trouble")
            case "goto_act":
                return Decision([goto(step.page or target), *step.actions], "trouble")
        return Decision(self._simple(kind, step, target), "trouble")

    def _simple(self, kind: str, step: Step, target: str) -> list[Action]:
        rng = self.rng
        simple: dict[str, list[Action]] = {
            "reload": [_RELOAD],
            "back": [_BACK],
            "key": [{"do": "key", "key": rng.choice(["F5", "Control+r"])}],
            "goto_same": [goto(target)],
            "variant": [goto(self._variant(target))],
            "new_tab": [{"do": "new_tab", "url": target}],
            "error_button": [click("reload-button")],
            "wait_reload": [{"do": "wait", "seconds": rng.choice([1, 2, 5])}, _RELOAD],
            "act_again": list(step.actions),
            "unknown": [{"do": rng.choice(["reload", "goto"]), "url": target, "unknown": True}],
            "wait_short": [{"do": "wait", "seconds": rng.choice([1, 2])}],
            "wait_long": [{"do": "wait", "seconds": rng.choice([4, 8])}],
            "scroll": [{"do": "scroll"}],
            "click_other": [click(rng.choice(["home", "help", "cart", "catalog", "again"]))],
            "other_page": [goto(self.base + rng.choice(["/", "/help", "/catalog/", "/cart"]))],
            "other_host": [goto(rng.choice([NEWS + "/", WWW + "/help"]))],
        }
        return simple[kind]

    def _variant(self, url: str) -> str:
        parts = urlsplit(url)
        joined = "&" if parts.query else "?"
        kinds = [
            url + f"{joined}t={self.rng.randrange(10**9)}",
            url.rstrip("/") + "#main",
            url + "/" if not parts.query and not url.endswith("/") else url.rstrip("/"),
        ]
        if "www." in url:
            kinds += [url.replace("www.", ""), url.replace("https://", "http://")]
        return self.rng.choice(kinds)

    def _ignore(self) -> Decision:
        self._at += 1
        self._troubles = 0
        if self._at >= len(self.task.steps):
            return self._end(self.task.says.format(found="It"))
        decision = self._go_on()
        step = self.task.steps[self._at]
        if step.page and self.rng.random() < 0.7:
            self._queue = [list(step.actions)]
            return Decision([goto(step.page)], "on")
        return decision

    def _end(self, claim: str | None) -> Decision:
        self.claim = claim
        if claim is None:
            return Decision([{"do": "infeasible", "text": "gave up"}], "trouble")
        return Decision([{"do": "done", "text": claim}], "end")
