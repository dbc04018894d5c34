"""A campaign file says what is run, or is told every mistake."""

from pathlib import Path

import pytest

from warex.benchmarks import BenchmarkConfig
from warex.campaigns.config.campaign import (
    CampaignConfig,
    built_in_names,
    load_campaign,
)
from warex.campaigns.plan.dosing import dosed_scenario
from warex.errors import CampaignError

GOOD = """
name = "c"
[[agents]]
name = "a"
model = "scripted:giveup"
[[conditions]]
name = "clean"
"""


def written(folder: Path, text: str, name: str = "c.toml") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def mistakes(folder: Path, text: str) -> str:
    with pytest.raises(CampaignError) as caught:
        load_campaign(written(folder, text))
    assert str(folder / "c.toml") in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", built_in_names())
def test_every_built_in_campaign_loads_with_its_scenarios(name: str) -> None:
    config = load_campaign(name)

    assert config.name == name
    for condition in config.conditions:
        dosed_scenario(condition, config.longest_hold_s)


def test_the_demo_shows_the_paper() -> None:
    demo = load_campaign("demo")

    assert len(demo.tasks.names or ()) == 8
    assert [agent.model for agent in demo.agents] == ["scripted:giveup", "scripted:patient"]
    assert [condition.name for condition in demo.conditions] == [
        "no-proxy",
        "clean",
        "network-error",
        "server-error",
        "javascript-failure",
    ]
    assert demo.longest_hold_s == 1


def test_defaults_are_filled_in(tmp_path: Path) -> None:
    config = load_campaign(written(tmp_path, GOOD))

    assert (config.benchmark.name, config.repeats, config.seed, config.jobs) == ("testbed", 1, 1, 2)
    assert config.tasks.all


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (GOOD.replace('name = "c"', 'nmae = "c"'), ["'nmae'", "did you mean 'name'"]),
        ("repeats = 0\n" + GOOD, ["repeats", "0"]),
        ("seed = 1.5\n" + GOOD, ["seed", "1.5"]),
        ("jobs = true\n" + GOOD, ["jobs", "true"]),
        ("timeout_s = nan\n" + GOOD, ["timeout_s", "NaN"]),
        ("longest_hold_s = -1\n" + GOOD, ["longest_hold_s", "-1"]),
        ("schema_version = 2\n" + GOOD, ["schema_version", "2"]),
        ("tasks = { sample = 0 }\n" + GOOD, ["tasks", "sample", "0"]),
        ("tasks = { sample = 1, match = 'x' }\n" + GOOD, ["tasks", "exactly one of all"]),
        ("tasks = {}\n" + GOOD, ["tasks", "found none"]),
        ("tasks = { sites = [] }\n" + GOOD, ["tasks"]),
        (
            GOOD.replace(
                "[[conditions]]", "screenshot = true\nobservation = ['html']\n[[conditions]]", 1
            ),
            ["agents", "screenshot = true, and observation has none"],
        ),
        ("tasks = { names = [] }\n" + GOOD, ["tasks"]),
        (GOOD + '[[conditions]]\nname = "clean"\n', ["two conditions are called 'clean'"]),
        (GOOD + '[[agents]]\nname = "a"\nmodel = "m"\n', ["two agents are called 'a'"]),
        (GOOD + 'scenario = "paper/server-error"\n', ["'clean' is reserved", "no scenario"]),
        (GOOD.replace("clean", "claen"), ["'claen' needs a scenario", "did you mean 'clean'"]),
        (GOOD.replace('"a"', '" a"'), ["agents", "name"]),
        (GOOD.replace('model = "scripted:giveup"', ""), ["'model' is missing"]),
        (GOOD + '[[agents]]\nname = "b"\nmodel = "m"\nbase_url = "x"\n', ["base_url", "x"]),
        ("budget = { usd = 0 }\n" + GOOD, ["budget.usd: 0 is not allowed; give a number above 0"]),
        ("budget = { tokens = 0 }\n" + GOOD, ["budget.tokens: 0", "a whole number from 1"]),
        ("budget = { minutes = 0 }\n" + GOOD, ["budget.minutes: 0", "a number above 0"]),
        ("budget = { usd = inf }\n" + GOOD, ["budget.usd: infinity is not allowed"]),
        ("budget = 5\n" + GOOD, ["budget: 5", "a mapping with the keys usd, tokens, minutes"]),
        (GOOD.replace("scripted:", "scirpted:"), ["'scirpted:giveup'", "did you mean 'scripted:'"]),
        (GOOD.replace("clean", "x") + 'defence = "refesh"\n', ["did you mean 'refresh'?"]),
        (GOOD.replace("clean", "x") + "defence = 3\n", ["defence: 3", "one of refresh, "]),
        (
            GOOD.replace("clean", "x") + 'defence = { name = "a", tekst = "b" }\n',
            ["'tekst' here; did you mean 'text'?", "'text' is missing"],
        ),
        (GOOD.replace("clean", "x"), ["'x' needs a scenario, a defence or both"]),
        (GOOD.replace("clean", "x") + "intensity = 2.0\n", ["'x' needs a scenario"]),
        (
            GOOD.replace("clean", "x") + 'defence = "refresh"\nfrequency = 2\n',
            ["'x' has no scenario to make frequency of"],
        ),
        (
            GOOD.replace("clean", "x") + 'defence = "refresh"\nfrequency = 0\n',
            ["'x' has no scenario to make frequency of"],
        ),
        (GOOD + "frequency = 0\n", ["'clean' is reserved and takes no frequency"]),
        (
            GOOD.replace("clean", "x")
            + 'scenario = "paper/javascript"\nfrequency = 2\nfirst = 2\n',
            ["'x' has a frequency and a first", "give one"],
        ),
        (GOOD + "control = true\n", ["'clean' is reserved and takes no control"]),
        (
            GOOD.replace("clean", "x") + 'control = true\nscenario = "paper/server-error"\n',
            ["'x' is a control and takes no scenario"],
        ),
        (GOOD + "[prices]\nmine = 3\n", ["prices.mine: 3"]),
        (GOOD + "[prices.mine]\ninput = 1\n", ["prices.mine: 'output' is missing"]),
        (GOOD + "[prices.mine]\ninput = -1\noutput = 1\n", ["prices.mine.input: -1"]),
        (GOOD + "[prices.mine]\nas_if = 'gpt-4o'\n", ["prices.mine: there is no key 'as_if'"]),
        ('name = "c"\n', ["agents", "conditions"]),
        ("", ["is empty"]),
    ],
)
def test_every_mistake_is_a_sentence_that_names_the_place(
    tmp_path: Path, text: str, says: list[str]
) -> None:
    reported = mistakes(tmp_path, text)

    assert [words for words in says if words not in reported] == [], reported


def test_a_model_of_any_other_name_is_the_harnesses(tmp_path: Path) -> None:
    for model in ("gpt-4o", "ollama:llama3", "openai/gpt-4o-mini", "anthropic:claude"):
        text = GOOD.replace("scripted:giveup", model)
        assert load_campaign(written(tmp_path, text)).agents[0].model == model


def test_all_mistakes_are_reported_together(tmp_path: Path) -> None:
    reported = mistakes(tmp_path, "repeats = 0\njobs = 0\n" + GOOD)

    assert "repeats" in reported
    assert "jobs" in reported


def test_an_unknown_campaign_gets_a_suggestion() -> None:
    with pytest.raises(CampaignError, match=r"no campaign 'dmeo'; did you mean 'demo'\?$"):
        load_campaign("dmeo")


def test_a_folder_is_not_a_campaign(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match=r"is a folder, .* `warex report` shows that"):
        load_campaign(str(tmp_path))


def test_a_missing_file_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match=r"none\.toml"):
        load_campaign(str(tmp_path / "none.toml"))


def test_a_scenario_file_is_found_beside_its_campaign(tmp_path: Path) -> None:
    rules = '[{"name": "r", "trigger": {"first": 1}, "fault": {"kind": "http_error"}}]'
    written(tmp_path, f'{{"name": "mine", "rules": {rules}}}', "mine.json")
    text = GOOD + '[[conditions]]\nname = "x"\nscenario = "mine.json"\n'

    config = load_campaign(written(tmp_path, text))

    scenario = dosed_scenario(config.conditions[1], None)
    assert scenario is not None
    assert scenario.name == "mine"


def test_the_docs_name_every_key_with_its_default(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs/reference/campaigns.md").read_text(encoding="utf-8")
    config = load_campaign(written(tmp_path, GOOD))

    for name in CampaignConfig.model_fields:
        value = getattr(config, name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        default = f"`{value:g}`" if is_number else None
        if isinstance(value, bool):
            default = f"`{str(value).lower()}`"
        assert f"| `{name}` | {default or ''}" in page, name
    example = page.split("```toml\n")[1].split("```")[0]
    assert load_campaign(written(tmp_path, example, "example.toml")).name == "my-agent"


TABLE = """
[benchmark]
name = "command"
sites = ["https://shop.example"]
[benchmark.options]
command = "true"
tasks = ["t"]
"""


def test_a_benchmark_may_be_a_table(tmp_path: Path) -> None:
    config = load_campaign(written(tmp_path, GOOD + TABLE))

    assert config.benchmark.name == "command"
    assert config.benchmark.path("c.toml") == tmp_path / "c.toml"
    frozen = config.model_dump(mode="json", exclude_none=True)["benchmark"]
    assert frozen["options"] == {"command": "true", "tasks": ["t"]}
    assert BenchmarkConfig.model_validate(frozen).model_dump(mode="json") == frozen


def test_a_benchmark_by_its_name_is_frozen_as_its_name(tmp_path: Path) -> None:
    config = load_campaign(written(tmp_path, GOOD))

    assert config.model_dump(mode="json")["benchmark"] == "testbed"


def test_what_no_table_has_is_reported_with_its_place(tmp_path: Path) -> None:
    message = mistakes(tmp_path, GOOD + TABLE.replace("sites", "site"))

    assert "benchmark: there is no key 'site' here; did you mean 'sites'?" in message


def test_a_playbook_is_found_beside_its_campaign(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("rules: [{say: hello}]")
    text = GOOD.replace("scripted:giveup", "playbook:p.yaml")

    (agent,) = load_campaign(written(tmp_path, text)).agents

    assert agent.model == f"playbook:{tmp_path / 'p.yaml'}"
    (elsewhere,) = load_campaign(written(tmp_path, text.replace("p.yaml", "q.yaml"))).agents
    assert elsewhere.model == "playbook:q.yaml"


def test_the_papers_campaign_has_exactly_its_seven_conditions() -> None:
    paper = load_campaign("paper")

    assert [
        (each.name, each.scenario, each.defence.name if each.defence else None)
        for each in paper.conditions
    ] == [
        ("no-proxy", None, None),
        ("clean", None, None),
        ("network-error", "paper/network-error", None),
        ("server-error", "paper/server-error", None),
        ("javascript-delay", "paper/javascript", None),
        ("network-error+refresh", "paper/network-error", "refresh"),
        ("server-error+refresh", "paper/server-error", "refresh"),
    ]
    assert [each.name for each in paper.agents] == ["giveup", "suggestible", "patient"]
    assert (paper.tasks.sample, paper.repeats, paper.longest_hold_s) == (30, 2, None)


@pytest.mark.parametrize(
    ("name", "axis", "doses"),
    [
        ("intensity-sweep", "intensity", [0.25, 0.5, 1, 2, 4]),
        ("frequency-sweep", "first", [1, 2, 3, 5, 8]),
    ],
)
def test_a_sweep_has_clean_a_control_and_rising_doses(
    name: str, axis: str, doses: list[float]
) -> None:
    clean, control, *dosed = load_campaign(name).conditions

    assert clean.name == "clean"
    assert control.control
    assert [getattr(each, axis) for each in dosed] == doses
    assert len({each.scenario for each in dosed}) == 1


def test_the_doses_of_the_intensity_sweep_are_as_their_names_say() -> None:
    for condition in load_campaign("intensity-sweep").conditions[2:]:
        scenario = dosed_scenario(condition, None)
        assert scenario is not None
        delay = getattr(scenario.rules[0].fault, "delay", 0.0)
        assert condition.name == f"scripts-{delay:g}s"


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (
            'pass_through = ["a b"]',
            "traffic: pass_through: 'a b' is not a host; write shop.example",
        ),
        ('upstream = "corp"', "traffic: upstream: 'corp' is not a proxy; write http://host:port"),
        ('record = "none"', 'traffic.record: "none" is not allowed; give'),
        ('llm_host = ["x"]', "there is no key 'llm_host' here; did you mean 'llm_hosts'?"),
        ('maps = "a=b"', 'traffic.maps: "a=b" is not allowed; give a list'),
    ],
)
def test_a_mistake_in_its_traffic_is_a_sentence(tmp_path: Path, table: str, says: str) -> None:
    with pytest.raises(CampaignError) as caught:
        load_campaign(written(tmp_path, f"{GOOD}\n[traffic]\n{table}\n"))

    assert says in str(caught.value)
