import json
from pathlib import Path
from typing import Any

import pytest

from warex.benchmarks import BENCHMARKS, Benchmark
from warex.campaigns.config.campaign import load_campaign
from warex.cli import main

each = pytest.mark.parametrize("kind", BENCHMARKS, ids=lambda kind: kind.name)


def output_of(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    result = capsys.readouterr()
    assert (ended.value.code or 0) == code, result
    assert "Traceback" not in result.err
    return result.err if code else result.out


def test_the_list_names_every_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    lines = output_of(capsys, "benchmarks").splitlines()

    assert [line.split()[0] for line in lines] == [kind.name for kind in BENCHMARKS]
    rows: list[dict[str, Any]] = json.loads(output_of(capsys, "benchmarks", "--json"))
    assert [row["name"] for row in rows] == [kind.name for kind in BENCHMARKS]


@each
def test_what_a_benchmark_needs_is_shown_without_its_environment(
    kind: type[Benchmark], capsys: pytest.CaptureFixture[str]
) -> None:
    shown = output_of(capsys, "benchmarks", "show", kind.name)
    result = json.loads(output_of(capsys, "benchmarks", "show", kind.name, "--json"))

    assert kind.summary in shown
    assert kind.example().splitlines()[0] in shown
    assert result["vocabulary"]["finish"] == list(kind.vocabulary.finish)
    assert set(result["options"]) == set(kind.options_model.model_fields)
    assert (result["tasks"] is None) == ("why_no_tasks" in result)
    for text in (result["needs"], result["arming"], result["example"]):
        assert text.strip()


@each
def test_each_benchmarks_example_is_a_campaign(kind: type[Benchmark], tmp_path: Path) -> None:
    (tmp_path / "example.toml").write_text(kind.example())

    campaign = load_campaign(str(tmp_path / "example.toml"))

    assert campaign.benchmark.name == kind.name
    assert not set(campaign.benchmark.options) - set(kind.options_model.model_fields)


def test_the_testbeds_tasks_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert "calendar-create-coffee" in output_of(capsys, "benchmarks", "show", "testbed")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("show", "agentlba"), 2, "did you mean 'agentlab'?"),
        (("show", "agentlab", "--dir", "/nonexistent"), 3, "warex benchmarks setup agentlab --dir"),
        (("setup", "testbed", "--dir", "x"), 2, "needs no environment of its own"),
        (("setup", "agentlab"), 2, "Missing option '--dir'"),
        (
            ("setup", "agentlab", "--dir", "{tmp}", "--python", "nope"),
            2,
            "is not a Python that can",
        ),
    ],
)
def test_impossible_values_are_refused_in_a_sentence(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    arguments: tuple[str, ...],
    code: int,
    says: str,
) -> None:
    inputs = [part.format(tmp=tmp_path / "env") for part in arguments]

    assert says in output_of(capsys, "benchmarks", *inputs, code=code)


def test_doctor_names_what_a_benchmark_lacks(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    result = output_of(capsys, "doctor", "--benchmark", "agentlab", "--dir", str(tmp_path), code=3)

    assert "the benchmark 'agentlab' cannot run here yet" in result
    assert f"warex benchmarks setup agentlab --dir {tmp_path}" in result


def test_a_checkout_is_named_by_an_option(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    app = tmp_path / "apps/mail"
    app.mkdir(parents=True)
    (app / "real-tasks.json").write_text('[{"id": "task_e1"}]')
    inputs = ("--option", f"checkout={tmp_path}")

    shown = output_of(capsys, "benchmarks", "show", "webarena-infinity", *inputs)
    result = output_of(capsys, "doctor", "--benchmark", "webarena-infinity", *inputs, code=3)

    assert "    mail/task_e1\n" in shown
    assert f"{tmp_path}: no checkout of WebArena-Infinity" in result
    assert "--option 'checkout' is not a KEY=VALUE" in output_of(
        capsys, "benchmarks", "show", "step", "--option", "checkout", code=2
    )
    assert "needs options" in output_of(capsys, "doctor", "--benchmark", "webarena", code=2)
    assert "--option goes with --benchmark" in output_of(capsys, "doctor", *inputs, code=2)


def test_doctor_finds_nothing_missing_where_nothing_is_needed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    result = json.loads(output_of(capsys, "doctor", "--benchmark", "testbed", "--json"))

    assert result["ok"] is True
    assert [finding["name"] for finding in result["findings"]] == ["browser", "keys", "tasks"]
