import json
import re
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Warex
from warex.scenarios.presets import preset_names


@pytest.fixture
def har(tmp_path: Path) -> Path:
    """A recording of two documents."""
    headers = [{"name": "Sec-Fetch-Dest", "value": "document"}]
    entries = [
        {
            "startedDateTime": f"2026-01-01T00:00:0{second}.000Z",
            "time": 5,
            "request": {"method": "GET", "url": f"https://a.b/{second}", "headers": headers},
            "response": {"status": 200, "headers": [], "content": {"mimeType": "text/html"}},
        }
        for second in range(2)
    ]
    path = tmp_path / "site.har"
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}))
    return path


def test_every_preset_is_listed(warex: Warex) -> None:
    rows = json.loads(warex("scenarios", "--json").out)

    assert [row["name"] for row in rows] == list(preset_names())
    assert all(row["description"] for row in rows)


def test_a_scenario_is_shown_in_its_own_letters(warex: Warex) -> None:
    assert "(paper §3.2, network errors)" in warex("scenarios", "show", "paper/network-error").out


def test_against_a_recording_the_hits_are_listed(warex: Warex, har: Path) -> None:
    line = ("scenarios", "check", "paper/server-error", "--against", har)
    output, (row,) = warex(*line).out, json.loads(warex(*line, "--json").out)

    assert "server-error #1  GET https://a.b/0  [document]" in output
    assert (row["rule"], row["ordinal"], row["url"]) == ("server-error", 1, "https://a.b/0")


def test_against_another_sites_recording_nothing_is_hit(warex: Warex, har: Path) -> None:
    line = ("scenarios", "check", "paper/server-error", "--against", har)
    output = warex(*line, "--site", "https://other.example").out

    assert output == f"paper/server-error would have hit nothing in {har}\n"


def test_rules_that_never_match_or_miss_all_sites_are_reported(
    warex: Warex, tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"failure_type": "server_error", "url": "shop.example/cart"}))
    outside = tmp_path / "outside.yaml"
    outside.write_text(
        "name: s\nrules:\n- name: down\n  match: {url: 'https://a.b/*', resource: document}\n"
        "  trigger: {first: 1}\n  fault: {kind: http_error}\n"
    )
    site = ("--site", "https://shop.example")

    (never,) = json.loads(warex("scenarios", "check", path, "--json").out)["warnings"]
    output = warex("scenarios", "check", outside, *site).out

    assert never.startswith("Rule 'server-error-1' can never apply: no URL begins like")
    assert "Rule 'down' hits nothing on the task sites" in output
    assert "Warnings" not in warex("scenarios", "check", outside).out


def test_strict_refuses_a_scenario_with_warnings(warex: Warex, tmp_path: Path, har: Path) -> None:
    file = tmp_path / "socket.yaml"
    rule = "{name: a, match: {resource: %s}, trigger: {always: true}, fault: {kind: %s}}"
    for resource, kind, warns in (
        ("document", "websocket_fault", True),
        ("document", "http_error", False),
    ):
        file.write_text(f"schema_version: 1\nname: n\nrules: [{rule % (resource, kind)}]\n")
        assert warex("scenarios", "check", str(file)).code == 0
        strict = warex("scenarios", "check", "--strict", str(file))
        assert strict.code == (2 if warns else 0)
        assert ("has 1 warning (above), and --strict allows none" in strict.err) == warns
    assert warex("scenarios", "check", "--strict", str(file), "--against", str(har)).code == 2


def test_several_scenarios_are_each_explained_or_refused(
    warex: Warex, tmp_path: Path, har: Path
) -> None:
    good, bad, missing = "paper/server-error", str(tmp_path / "bad.yaml"), "nowhere.yaml"
    Path(bad).write_text("rules: []")

    checked = warex("scenarios", "check", bad, good, missing, "connection/refused")
    both = json.loads(warex("scenarios", "check", "--json", good, "connection/refused").out)

    assert checked.code == 2
    assert "'paper/server-error'" in checked.out
    assert "'connection/refused'" in checked.out
    assert f"{bad}: 'name' is missing" in checked.err
    assert "nowhere.yaml does not exist" in checked.err
    assert [it["name"] for it in both] == [good, "connection/refused"]
    against = warex("scenarios", "check", good, good, "--against", str(har))
    assert (against.code, "takes one scenario, not 2" in against.err) == (2, True)


def test_the_hook_for_pre_commit_checks_the_scenarios_of_a_repository(
    warex: Warex, tmp_path: Path
) -> None:
    root = Path(__file__).parents[3]
    (hook,) = yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    program, *arguments = hook["entry"].split()
    scenarios = sorted(map(str, (root / "examples/scenarios").glob("first*")))

    assert program == "warex"
    assert warex(*arguments, *scenarios).code == 0
    assert all(re.search(hook["files"], name) for name in scenarios)
    assert not re.search(hook["files"], "scenarios/README.md")


def test_a_rule_that_hits_nothing_of_a_recording_is_named(
    warex: Warex, har: Path, tmp_path: Path
) -> None:
    fault = {"kind": "http_error"}
    rules = [
        {"name": name, "match": {"url": url}, "trigger": {"first": 1}, "fault": fault}
        for name, url in (("seen", "https://a.b/*"), ("idle", "https://c.d/*"))
    ]
    path = tmp_path / "two.json"
    path.write_text(json.dumps({"name": "two", "rules": rules}))

    output = warex("scenarios", "check", path, "--against", har).out

    assert "seen #1" in output
    assert output.endswith("rule idle would have hit nothing\n")
