"""The testbed on a flaky web, under the name by which ``verifiers`` loads a taskset.

``vf-eval warex-testbed-v1``. Such a name is a top-level module's; the code is in ``warex.rl``.
"""

from warex.rl.verifiers import TestbedEnv, TestbedHarness, TestbedTaskset

__all__ = ["TestbedEnv", "TestbedHarness", "TestbedTaskset"]
