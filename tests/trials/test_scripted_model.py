"""The scripted model serves a whole campaign, or says why it cannot."""

import json
import urllib.request
from pathlib import Path

import pytest

from warex.agents.scripted_model.wire import MODELS
from warex.errors import MachineError, ProcessDied
from warex.trials.scripted_model import PERSONAS, SCRIPTED_PREFIX, ScriptedModelProcess
from warex_testbed.tasks import FILES

pytestmark = pytest.mark.wire


def test_the_scripted_model_answers_while_the_campaign_runs() -> None:
    with (
        ScriptedModelProcess(FILES) as model,
        model.port() as port,
        urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=10) as answer,
    ):
        assert "data" in json.load(answer)


def test_a_scripted_model_that_does_not_start_is_the_machines_fault(tmp_path: Path) -> None:
    with (
        pytest.raises(MachineError, match=r"the scripted model does not start: .* code 2"),
        ScriptedModelProcess([tmp_path / "none.toml"]),
    ):
        pass


def test_the_personas_are_those_of_the_program() -> None:
    assert MODELS.keys() == {f"{SCRIPTED_PREFIX}{persona}" for persona in PERSONAS}


def test_a_killed_scripted_model_voids_one_trial_and_restarts() -> None:
    with ScriptedModelProcess(FILES) as model:
        assert model._running is not None
        process, _ = model._running

        def trial() -> None:
            with model.port():
                process.kill()
                process.wait()

        with pytest.raises(ProcessDied, match="SIGKILL"):
            trial()
        with (
            model.port() as port,
            urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=10) as answer,
        ):
            assert "data" in json.load(answer)
