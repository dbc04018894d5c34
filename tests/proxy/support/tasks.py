"""A task for tests that need one but check nothing of it."""

from pathlib import Path

from warex.clock import Clock
from warex.proxy.config import ProxyConfig
from warex.proxy.exchange.llm_calls import LlmCalls
from warex.proxy.exchange.tasks import Task
from warex.proxy.record.recorder import Recorder
from warex.scenarios import Injector, Scenario


def make_task() -> Task:
    injector = Injector(Scenario(name="clean"), 0)
    config = ProxyConfig(ca=Path("unused"))
    return Task("", injector, LlmCalls(config, injector, Recorder(Clock())))
