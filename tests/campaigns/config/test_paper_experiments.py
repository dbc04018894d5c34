"""The paper's set-ups are those of its section 4.1."""

from warex.benchmarks import benchmark_kind
from warex.campaigns.config.paper_experiments import EXPERIMENTS, GITLAB_AND_REDDIT


def test_steps_and_observations_are_the_papers() -> None:
    fields = {name: (each.max_steps, each.observation) for name, each in EXPERIMENTS.items()}

    assert fields == {
        "webarena": (20, ("axtree",)),
        "step": (20, ("axtree",)),
        "real": (25, ("axtree", "screenshot")),
        "webvoyager": (30, ("screenshot", "html")),
    }


def test_what_an_agent_is_shown_is_what_its_benchmark_can_show() -> None:
    for name, experiment in EXPERIMENTS.items():
        kind = benchmark_kind(name)
        assert frozenset(experiment.observation) in kind.observations, name
        assert kind.site_names is None or set(experiment.sites) <= set(kind.site_names), name


def test_660_of_webarenas_tasks_are_left() -> None:
    # By the `sites` of its test.raw.json (commit f62e0b99bc7d): how many tasks need which.
    groups = {
        ("shopping",): 187,
        ("shopping_admin",): 182,
        ("gitlab",): 180,
        ("map",): 109,
        ("reddit",): 106,
        ("gitlab", "reddit"): 18,
        ("wikipedia", "map"): 17,
        ("gitlab", "wikipedia"): 6,
        ("shopping", "reddit"): 5,
        ("map", "shopping_admin"): 2,
    }
    out = set(EXPERIMENTS["webarena"].tasks["without_sites"])  # type: ignore[arg-type] # a list

    assert sum(groups.values()) == 812
    left = sum(number for sites, number in groups.items() if not out & set(sites))
    assert left - len(GITLAB_AND_REDDIT) == 660
    assert len(set(GITLAB_AND_REDDIT)) == groups["gitlab", "reddit"]
