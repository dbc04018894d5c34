"""A built-in campaign becomes a file for any benchmark: valid, whole, the same conditions."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from warex.benchmarks import BENCHMARKS
from warex.campaigns.config.campaign import CampaignConfig, built_in_names, load_campaign
from warex.campaigns.config.customization import CustomCampaign, Overrides, customize
from warex.errors import CampaignError

KINDS = [kind.name for kind in BENCHMARKS]
EXTERNAL = ("webarena", "step", "real", "webvoyager")


def made(benchmark: str | None = None, source: str = "paper", **changes: Any) -> CustomCampaign:
    return customize(source, Overrides(benchmark=benchmark, **changes), file="c.toml")


def config(benchmark: str | None = None, source: str = "paper", **changes: Any) -> CampaignConfig:
    return made(benchmark, source, **changes).config("c.toml")


@pytest.mark.parametrize("source", built_in_names())
def test_without_a_change_it_is_the_built_in_one(source: str) -> None:
    assert config(source=source).model_dump() == load_campaign(source).model_dump()


@pytest.mark.parametrize("source", built_in_names())
@pytest.mark.parametrize("benchmark", KINDS)
def test_every_benchmark_gets_the_conditions_of_the_built_in_one(
    benchmark: str, source: str
) -> None:
    adapted_to = made(benchmark, source)
    config = adapted_to.config("c.toml")

    wanted = load_campaign(source).conditions
    assert config.conditions == wanted[1:] if adapted_to.no_proxy_reason else wanted
    assert config.benchmark.name == benchmark


@pytest.mark.parametrize("benchmark", EXTERNAL)
def test_the_papers_steps_tasks_and_observations_go_with_its_benchmarks(benchmark: str) -> None:
    inputs = config(benchmark)

    (agent,) = inputs.agents
    steps = {"webarena": 20, "step": 20, "real": 25, "webvoyager": 30}
    assert (agent.model, agent.max_steps) == ("gpt-4o", steps[benchmark])
    assert agent.observation
    assert (inputs.name, inputs.repeats) == (f"paper-{benchmark}", 1)
    assert bool(inputs.tasks.all) == (benchmark in ("real", "webvoyager"))


def test_other_campaigns_take_no_steps_of_the_papers() -> None:
    assert config("real", "frequency-sweep").agents[0].observation is None
    assert config("real", "frequency-sweep").name == "frequency-sweep-real"


def test_no_proxy_is_left_out_where_only_the_proxy_serves_the_sites() -> None:
    assert "only the proxy can serve" in (made("step").no_proxy_reason or "")
    assert "map.webarena.test" in (
        made("webarena", sites={"map": "http://127.0.0.1:3000"}).no_proxy_reason or ""
    )
    assert made("webarena", sites={"map": "http://10.0.0.7:3000"}).no_proxy_reason is None
    assert "# There is no condition no-proxy: SteP's sites" in made("step").text
    mapped = {"https://a.example": "http://127.0.0.1:8001"}
    options = {"command": "true {task}", "tasks": ["a"]}
    assert made("command", options=options).no_proxy_reason is None
    assert "served from elsewhere" in (
        made("command", options=options, sites=mapped).no_proxy_reason or ""
    )


def test_agents_are_named_by_their_model_or_by_themselves() -> None:
    inputs = config("real", agents=("gpt-4o", "oss=gpt-oss:20b"), base_url="http://h/v1")

    assert [(agent.name, agent.model) for agent in inputs.agents] == [
        ("gpt-4o", "gpt-4o"),
        ("oss", "gpt-oss:20b"),
    ]
    assert {agent.base_url for agent in inputs.agents} == {"http://h/v1"}


def test_given_values_replace_those_of_the_example() -> None:
    inputs = config(
        "step", dir="d", options={"checkout": "a", "webarena": "b"}, sites={"map": "http://h"}
    )

    assert inputs.benchmark.dir == "d"
    assert inputs.benchmark.options == {"checkout": "a", "webarena": "b"}
    assert inputs.benchmark.sites == {"map": "http://h"}
    # The judge is the paper's, wherever the checkout is.
    voyager = config("webvoyager", options={"checkout": "a"})
    assert voyager.benchmark.options == {"judge": True, "judge_model": "gpt-4o", "checkout": "a"}
    # Goto is the demo agent's to have, not one's own agent's.
    assert config("real").benchmark.options == {"actions": ["chat", "bid", "infeas", "nav"]}
    own = {"agent": {"file": "a.py", "name": "A"}}
    assert config("real", options=own).benchmark.options == own
    # The example's sites are those of its own command.
    assert not config("command", options={"command": "c", "tasks": ["t"]}).benchmark.sites


def test_sites_are_in_and_out_by_name() -> None:
    assert config("webarena", only_sites=("gitlab",)).tasks.sites == ("gitlab",)
    assert config("webarena", only_sites=("gitlab",)).tasks.without_sites is None
    out = config("webarena", without_sites=("gitlab",)).tasks.without_sites
    assert out == ("map", "wikipedia", "gitlab")
    assert config("real", without_sites=("gomail",)).tasks.all
    assert config(only_sites=("calendar.warex.test",)).tasks.sample is None


def test_the_agent_of_a_command_may_be_the_command_itself() -> None:
    line = "python a.py --goal={task}"
    options = {"tasks": ["a"]}

    inputs = config("command", agents=(line,), options=options)
    named = config("command", agents=(f"mine={line}",), options=options)

    assert inputs.benchmark.options == {"command": line, "tasks": ["a"]}
    assert named.benchmark.options == inputs.benchmark.options
    assert [each.agents[0].name for each in (inputs, named)] == ["agent", "mine"]
    with pytest.raises(CampaignError, match="has one command"):
        config("command", agents=(line, "gpt-4o"), options=options)
    # With a command beside it, it is a model's name.
    fields = {"command": "x {task}", "tasks": ["a"]}
    assert config("command", agents=("my model",), options=fields).agents[0].model == "my model"


def test_a_required_option_that_is_not_given_stays_as_in_the_example() -> None:
    assert config("webvoyager", options={"judge": False}).benchmark.options["checkout"] == (
        "WebVoyager"
    )
    benchmark = config("command", options={"tasks": ["t"]}).benchmark
    assert "my_agent.py" in str(benchmark.options["command"])
    assert benchmark.sites
    # But no task of the example's is one for another command.
    assert config("command", agents=("python a.py {task}",)).benchmark.options["tasks"] == []


def test_names_are_quoted_as_in_toml() -> None:
    text = made("real", agents=('a "b" \\c=gpt-4o',)).text

    assert tomllib.loads(text)["agents"][0]["name"] == 'a "b" \\c'


@pytest.mark.parametrize("source", built_in_names())
def test_a_new_name_changes_nothing_else(source: str) -> None:
    renamed = customize(source, Overrides(), name='a "b" \\1', file="c.toml").text

    assert tomllib.loads(renamed) == {
        **tomllib.loads(made(source=source).text),
        "name": 'a "b" \\1',
    }
    assert renamed.count("\n#") == made(source=source).text.count("\n#")


def test_a_control_and_missing_tasks_have_a_comment() -> None:
    text = made("command", "frequency-sweep", options={"command": "c {task}"}).text

    assert "# Clean once more: what a difference of nothing looks like.\n[[conditions]]\n" in text
    assert "\n# Write what the command is to do" in text
    assert "# Write" not in made("command", options={"command": "c", "tasks": ["t"]}).text


def test_unknown_names_are_refused_in_a_sentence() -> None:
    with pytest.raises(CampaignError, match=r"no built-in campaign 'papr'; did you mean 'paper'"):
        made(source="papr")
    with pytest.raises(CampaignError, match=r"no benchmark 'rael'; did you mean 'real'"):
        made("rael")
    with pytest.raises(CampaignError, match=r"no benchmark ''; there are"):
        made("")
    with pytest.raises(CampaignError, match=r"agents"):
        made("real", agents=("=gpt-4o",))
    for value in ("\x7f", "\udcff", None):
        with pytest.raises(CampaignError, match="cannot be written into a file of TOML"):
            made("real", options={"version": value})


def test_the_written_file_loads(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(made("real").text)

    assert load_campaign(str(tmp_path / "c.toml")).name == "paper-real"
