"""A task for tests that need one but check nothing of it."""

from pathlib import Path

from warex.clock import Clock
from warex.lane.config import ProxyConfig
from warex.lane.record.recorder import Recorder
from warex.lane.tasks import Task
from warex.lane.traffic.llm import LlmCalls
from warex.scenarios import Injector, Scenario


def make_task() -> Task[LlmCalls]:
    injector = Injector(Scenario(name="clean"), 0)
    config = ProxyConfig(ca=Path("unused"))
    return Task("", injector, LlmCalls(config, injector, Recorder(Clock())))
