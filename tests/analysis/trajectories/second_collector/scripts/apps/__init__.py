"""The scripts of the apps' test."""

from tests.analysis.trajectories.second_collector.scripts.apps import (
    code,
    computer,
    harness,
    selenium,
)

SCRIPTS = [*code.SCRIPTS, *selenium.SCRIPTS, *computer.SCRIPTS, *harness.SCRIPTS]
