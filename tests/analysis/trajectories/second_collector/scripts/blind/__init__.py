"""The scripts of the blind test."""

from tests.analysis.trajectories.second_collector.scripts.blind import (
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
    *(*program.SCRIPTS, *spa.SCRIPTS, *harness.SCRIPTS, *code.SCRIPTS),
    *(*selenium.SCRIPTS, *computer.SCRIPTS, *languages.SCRIPTS, *traps.SCRIPTS),
]
