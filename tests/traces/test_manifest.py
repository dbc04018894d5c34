import json
from pathlib import Path

import pytest

from warex.errors import InputError, TraceError
from warex.traces import Manifest, read_manifest, write_manifest
from warex.traces.manifest import require_no_run

MANIFEST = Manifest(
    campaign={"name": "my-agent", "repeats": 1},
    vocabularies={"testbed": {"goto": "navigate"}},
    versions={"warex": "0.1.0"},
    seed=1,
    prices_date="2026-01-01",
    made_at="2026-01-02T03:04:05.678+00:00",
    command=["warex", "run", "my-agent.toml"],
)


def test_a_manifest_survives_the_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"

    write_manifest(path, MANIFEST)

    assert read_manifest(path) == MANIFEST


def test_secrets_of_the_campaign_and_the_command_line_are_redacted(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    key = "sk-proj-abcDEF0123456789"
    manifest = MANIFEST.model_copy(
        update={"campaign": {"api_key": "hush"}, "command": ["warex", "--key", key]}
    )

    write_manifest(path, manifest)

    read = read_manifest(path)
    assert read.campaign == {"api_key": "[redacted]"}
    assert read.command == ["warex", "--key", "[redacted]"]


def test_secrets_in_urls_are_redacted_in_the_whole_manifest(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    upstream = "http://u:hush@proxy.example:1"
    manifest = MANIFEST.model_copy(
        update={
            "campaign": {
                "agents": [{"base_url": "https://u:hush@llm.example/v1?api_key=hush&x=1"}],
                "traffic": {"upstream": upstream, "maps": [f"https://a.example={upstream}"]},
            },
            "command": ["warex", "run", "--upstream", upstream, f"--upstream={upstream}"],
        }
    )

    write_manifest(path, manifest)

    assert "hush" not in path.read_text()
    read = read_manifest(path)
    existing = "http://redacted@proxy.example:1"
    assert read.campaign == {
        "agents": [{"base_url": "https://redacted@llm.example/v1?api_key=[redacted]&x=1"}],
        "traffic": {"upstream": existing, "maps": [f"https://a.example={existing}"]},
    }
    assert read.command == ["warex", "run", "--upstream", existing, f"--upstream={existing}"]


def test_a_missing_manifest_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="does not exist: this folder has no manifest"):
        read_manifest(tmp_path / "manifest.json")


def test_a_manifest_of_another_version_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(MANIFEST.model_dump() | {"schema_version": 2}))

    with pytest.raises(TraceError, match="schema_version 2 is unknown; this WAREX reads 1"):
        read_manifest(path)


def test_a_half_written_or_foreign_manifest_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"

    path.write_text(MANIFEST.model_dump_json()[:50])
    with pytest.raises(TraceError, match="cut short or damaged"):
        read_manifest(path)

    path.write_text('{"schema_version": 1}')
    with pytest.raises(TraceError, match="not a manifest: campaign: Field required"):
        read_manifest(path)


def test_a_run_is_not_a_place_for_another_trial(tmp_path: Path) -> None:
    require_no_run(tmp_path / "new")
    # A web app's manifest has the same name.
    (tmp_path / "manifest.json").write_text('{"name": "app", "start_url": "/"}')
    require_no_run(tmp_path)
    write_manifest(tmp_path / "manifest.json", MANIFEST)

    with pytest.raises(InputError, match="holds a run of a campaign"):
        require_no_run(tmp_path)
