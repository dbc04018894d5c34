"""All scripts of the second corpus."""

from tests.analysis.trajectories.second_collector.scripts import (
    code,
    computer,
    harness,
    languages,
    program,
    selenium,
    spa,
    traps,
)

SCRIPTS = [
    *program.SCRIPTS,
    *harness.SCRIPTS,
    *code.SCRIPTS,
    *spa.SCRIPTS,
    *selenium.SCRIPTS,
    *computer.SCRIPTS,
    *languages.SCRIPTS,
    *traps.SCRIPTS,
]
