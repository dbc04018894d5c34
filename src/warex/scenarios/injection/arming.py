"""Whether the rules of a task are armed, and how many steps its agent has made."""

from warex.llm.steps import StepCounter
from warex.scenarios.injection.rule_state import SkipReason
from warex.traffic import Arm


class Arming:
    """The arming of one task: nothing is hit before it, nor after the task's end."""

    def __init__(self, at: Arm) -> None:
        self.at: Arm = at
        """What arms the rules."""
        self.begin()

    def begin(self) -> None:
        """Begin a task."""
        self.armed = self.at == "start"
        self.task_ended = False
        """Whether the task has ended; then only `arm` arms the rules again."""
        self.steps = 0
        """The agent's steps in this task."""
        self._counter = StepCounter()

    @property
    def awaits_page(self) -> bool:
        """Whether the first page arms the rules."""
        waits = self.at in ("first_page", "first_page_or_llm_call")
        return waits and not self.armed and not self.task_ended

    @property
    def unarmed(self) -> SkipReason:
        """Why the rules skip what they match while they are not armed."""
        return "trial_over" if self.task_ended else "not_armed"

    def llm_call(self, body_digest: str) -> None:
        """Count a call to the model; the same body again is the same step."""
        self._counter = self._counter.after(body_digest)
        self.steps = self._counter.count
        waits = self.at in ("first_llm_call", "first_page_or_llm_call")
        if waits and not self.task_ended:
            self.armed = True

    def arm(self) -> None:
        """Hit and count from now on."""
        self.armed, self.task_ended = True, False

    def disarm(self) -> None:
        """Skip everything from now on: the agent has ended its task."""
        self.armed, self.task_ended = False, True
