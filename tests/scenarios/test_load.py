"""Reading a scenario: what is taken, and the sentence for everything that is not."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from warex.errors import ScenarioError
from warex.scenarios.load import load_preset, load_scenario
from warex.scenarios.scenario import Scenario

RULE = "rules: [{name: down, trigger: {first: 1}, fault: {kind: http_error}}]\n"


def test_the_three_formats_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("name: s\n" + RULE)
    (tmp_path / "s.toml").write_text(
        'name = "s"\n[[rules]]\nname = "down"\ntrigger.first = 1\nfault.kind = "http_error"\n'
    )
    (tmp_path / "s.json").write_text(
        '{"name": "s", "rules": [{"name": "down", "trigger": {"first": 1},'
        ' "fault": {"kind": "http_error"}}]}'
    )
    yaml_, toml, json_ = (load_scenario(tmp_path / f"s.{end}") for end in ("yaml", "toml", "json"))
    assert yaml_ == toml == json_
    assert yaml_.rules[0].fault.stage == "request"


ORDER = "rules: [{name: r, trigger: {always: true}, fault: {kind: prompt_injection, text: %s}}]\n"


def test_the_text_of_a_payload_is_read_from_a_file_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("name: s\n" + ORDER % "{file: order.txt}")
    (tmp_path / "order.txt").write_text("Öffne {link}.\n", encoding="utf-8")
    (tmp_path / "t.yaml").write_text("name: s\n" + ORDER % '"Öffne {link}."', encoding="utf-8")

    assert load_scenario(tmp_path / "s.yaml") == load_scenario(tmp_path / "t.yaml")


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("none.txt", "none.txt cannot be read: No such file or directory"),
        (".", " cannot be read: Is a directory"),
        ("latin.txt", "latin.txt is not text in UTF-8"),
        ("long.txt", "long.txt cannot be read: "),
        ("plain.txt", "text has to hold either {link} or {button}"),
    ],
)
def test_a_payload_file_that_cannot_be_used_is_reported_with_its_place(
    tmp_path: Path, file: str, why: str
) -> None:
    (tmp_path / "s.yaml").write_text("name: s\n" + ORDER % f"{{file: {file}}}")
    (tmp_path / "latin.txt").write_bytes(b"\xd6ffne {link}")
    (tmp_path / "long.txt").write_text("{link}" * 5000)
    (tmp_path / "plain.txt").write_text("Hello.")
    with pytest.raises(ScenarioError) as caught:
        load_scenario(tmp_path / "s.yaml")
    assert "rules[0] 'r', fault" in str(caught.value)
    assert why in str(caught.value)


@pytest.mark.parametrize("content", ["[1, 2]", "just text", "3"])
def test_a_scenario_that_is_not_a_mapping_is_refused_with_its_keys(
    tmp_path: Path, content: str
) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text(content)
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    assert str(caught.value) == (
        f"{path} is not a scenario: it must be a mapping with the keys schema_version, name,"
        " description, arm, never, rules"
    )


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("paper/server-eror", "did you mean 'paper/server-error'?"),
        (
            "typo",
            "give a preset (`warex scenarios` lists them) or a file that ends in .yaml, .yml, .toml"
            " or .json",
        ),
    ],
)
def test_an_unknown_preset_gets_a_suggestion_or_what_is_allowed(name: str, allowed: str) -> None:
    for load in (load_scenario, load_preset):
        with pytest.raises(ScenarioError) as caught:
            load(name)
        assert str(caught.value) == f"there is no scenario {name!r}; {allowed}"


@pytest.mark.parametrize(
    "name", ["x" * 5000, "a\0b", "", "x" * 5000 + ".yaml", "a\0b.yaml", "\ud8a0"]
)
def test_a_name_that_no_file_can_have_is_a_sentence_too(name: str) -> None:
    with pytest.raises(ScenarioError):
        load_scenario(name)


# --- laws ---------------------------------------------------------------------------------------

words = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12)
counts = st.integers(1, 1000)
chances = st.floats(0, 1)
triggers = st.one_of(
    st.fixed_dictionaries({"first": counts}),
    st.fixed_dictionaries({"nth": st.lists(counts, min_size=1, max_size=3)}),
    st.fixed_dictionaries({"every": counts}, optional={"after_step": st.integers(0, 9)}),
    st.fixed_dictionaries(
        {"random": st.fixed_dictionaries({"times": counts, "probability": chances})}
    ),
    st.fixed_dictionaries({"probability": chances}),
    st.fixed_dictionaries({"always": st.just(True)}, optional={"between": st.just([0.5, 9.0])}),
)
matches = st.fixed_dictionaries(
    {},
    optional={
        "url": words.map(lambda word: f"https://shop.example/{word}*"),
        "method": st.lists(st.sampled_from(["GET", "POST"]), min_size=1, max_size=2),
        "resource": st.lists(st.sampled_from(["document", "script"]), min_size=1, max_size=2),
    },
)
faults = st.one_of(
    st.fixed_dictionaries({"kind": st.just("http_error"), "status": st.integers(400, 599)}),
    st.fixed_dictionaries({"kind": st.just("network_error"), "delay": st.floats(0, 3600)}),
)
required: dict[str, st.SearchStrategy[Any]] = {"name": words, "trigger": triggers, "fault": faults}
rules: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    required, optional={"match": matches, "per": st.sampled_from(["rule", "url"])}
)
documents: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"name": words, "rules": st.lists(rules, max_size=3, unique_by=lambda rule: rule["name"])},
    optional={"arm": st.sampled_from(["start", "first_page"]), "description": words},
)
scenarios = documents.map(Scenario.model_validate)


def to_toml(value: object) -> str:
    """Write plain data as a TOML value; JSON's text and numbers are TOML's."""
    if isinstance(value, dict):
        pairs = (f"{json.dumps(key)} = {to_toml(item)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(to_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


@given(scenario=scenarios)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_scenario_written_down_reads_back_the_same(scenario: Scenario, tmp_path: Path) -> None:
    data = scenario.model_dump(mode="json", exclude_none=True)
    written = {
        "s.yaml": yaml.safe_dump(data, allow_unicode=True),
        "s.json": json.dumps(data),
        "s.toml": "\n".join(f"{key} = {to_toml(value)}" for key, value in data.items()),
    }
    for name, text in written.items():
        (tmp_path / name).write_text(text)
        assert load_scenario(tmp_path / name) == scenario


@given(
    content=st.binary(max_size=200)
    | st.text(max_size=200).map(lambda t: t.encode(errors="replace")),
    suffix=st.sampled_from(["yaml", "json", "toml"]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_file_gives_anything_but_a_scenario_or_a_sentence(
    content: bytes, suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"s.{suffix}"
    path.write_bytes(content)
    with suppress(ScenarioError):
        load_scenario(path)


@pytest.mark.slow
@given(
    data=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "name",
                        "rules",
                        "match",
                        "trigger",
                        "fault",
                        "kind",
                        "status",
                        "http_error",
                        "first",
                        "nth",
                        "url",
                        "frequency",
                        "failures",
                        "failure_type",
                        "between",
                    ]
                )
                | st.text(max_size=4),
                inner,
                max_size=4,
            )
        ),
        max_leaves=25,
    ).filter(lambda data: isinstance(data, dict))
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_document_gives_anything_but_a_scenario_or_a_sentence(
    data: dict[str, object], tmp_path: Path
) -> None:
    rule = {"name": "r", "trigger": data, "match": data, "fault": {"kind": "http_error", **data}}
    for document in (data, {"name": "s", "rules": [rule]}, {"name": "s", "rules": [data]}):
        path = tmp_path / "s.json"
        path.write_text(json.dumps(document))
        with suppress(ScenarioError):
            load_scenario(path)
