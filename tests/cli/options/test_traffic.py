from dataclasses import fields
from pathlib import Path

import pytest

from tests.cli.conftest import Warex
from tests.cli.reference import commands
from warex.campaigns.plan.campaign_plan import CampaignPlan
from warex.cli.campaigns import live_display
from warex.traffic import TrafficOptions, option_of


@pytest.mark.parametrize("value", ["https://x/", "x/y", "a b", "", "*.", "x:80"])
def test_a_host_is_a_name_and_nothing_else(warex: Warex, value: str) -> None:
    for option in ("--pass-through", "--llm-host"):
        done = warex("proxy", option, value)

        assert done.code == 2
        assert "write shop.example or *.example" in done.err


@pytest.mark.parametrize(
    ("option", "value"), [("--upstream", "corp"), ("--map", "x"), ("--pass-through", "a b")]
)
def test_an_option_that_cannot_work_leaves_no_folder_behind(
    warex: Warex, tmp_path: Path, option: str, value: str
) -> None:
    done = warex("run", "demo", "--out", tmp_path / "run", option, value)

    assert done.code == 2
    assert f"Invalid value for '{option}': {value!r} is not a " in done.err
    assert not (tmp_path / "run").exists()


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[CampaignPlan]:
    """What `warex run` would have run."""
    inputs: list[CampaignPlan] = []
    monkeypatch.setattr(
        live_display, "run_and_report", lambda planned, out, options, *gate: inputs.append(planned)
    )
    return inputs


def test_a_campaign_takes_what_the_proxy_takes(warex: Warex, planned: list[CampaignPlan]) -> None:
    done = warex("run", "demo", "--arm", "start", "--llm-host", "LLM.example", "--out", "x")

    assert done.code == 0
    assert planned[0].config.traffic == TrafficOptions(arm="start", llm_hosts=("llm.example",))


@pytest.mark.parametrize(("typed", "record"), [((), "concerned"), (("--record", "all"), "all")])
def test_options_override_the_campaign_file_and_extend_its_lists(
    warex: Warex, planned: list[CampaignPlan], tmp_path: Path, typed: tuple[str, ...], record: str
) -> None:
    file = tmp_path / "c.toml"
    file.write_text(
        'name = "c"\nagents = [{name = "a", model = "scripted:patient"}]\n'
        'conditions = [{name = "clean"}]\n'
        '[traffic]\nrecord = "concerned"\ninsecure = true\npass_through = ["bank.example"]\n'
    )

    done = warex("run", file, "--pass-through", "*.pay.example", *typed)

    assert done.code == 0, done.err
    traffic = planned[0].config.traffic
    assert (traffic.record, traffic.insecure) == (record, True)
    assert traffic.pass_through == ("bank.example", "*.pay.example")


@pytest.mark.parametrize("command", ["exec", "proxy", "run"])
def test_each_traffic_field_is_an_option_of_every_proxy_command(command: str) -> None:
    flags = {option_of(field).flag for field in fields(TrafficOptions)}

    existing = dict(commands())[f"warex {command}"]

    assert flags <= {name for each in existing.params for name in each.opts}
