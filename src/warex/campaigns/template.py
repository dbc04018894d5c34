"""A campaign file to begin with: every key there is, explained, and valid as it stands."""

import json
import tomllib
from importlib import resources
from typing import Any

from warex.benchmarks import Benchmark, benchmark_kind
from warex.campaigns.config import CampaignConfig
from warex.errors import CampaignError
from warex.scenarios.mistakes import check, listed

_TEMPLATE = resources.files("warex.campaigns") / "template.toml"

_MODEL = """\
# As the harness names it. `scripted:giveup`, `scripted:suggestible` and `scripted:patient` are
# embedded and play the testbed; `playbook:FILE` plays a file's rules for any benchmark.
"""
_REST = """\
# An OpenAI-compatible endpoint; left out, the client's own.
# base_url = "http://127.0.0.1:11434/v1"
"""


def template(name: str, benchmark: str, file: str) -> str:
    """Return the text of a campaign of this name for a benchmark, to be written to ``file``.

    Raises CampaignError for a benchmark that does not exist, or a name that cannot be one.
    """
    kind = benchmark_kind(benchmark)
    example = tomllib.loads(kind.example)
    alone = example["benchmark"] == kind.name
    values = {
        "name": name.replace("\\", "\\\\").replace('"', '\\"'),
        "file": file,
        "benchmark": _named(kind) if alone else "",
        "tasks": _toml(example.get("tasks", {"all": True})),
        "timeout_s": _toml(float(example.get("timeout_s", 300.0))),
        "table": "" if alone else _table(kind, example["benchmark"]),
        "agents": "".join(map(_agent, example["agents"])),
    }
    text = _TEMPLATE.read_text("utf-8")
    for slot, value in values.items():
        text = text.replace(f"@{slot}@", value)
    try:
        made, mistakes = check(CampaignConfig, tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        made, mistakes = None, [f"{name!r} is no name: give letters, digits and dashes"]
    if made is None:
        raise CampaignError(listed(file, mistakes))
    return text


def _named(kind: type[Benchmark]) -> str:
    return f"# What is done; `warex benchmarks` lists them.\nbenchmark = {_toml(kind.name)}\n\n"


def _table(kind: type[Benchmark], table: dict[str, Any]) -> str:
    lines = [
        "",
        f"# What is done. `warex benchmarks show {kind.name}` tells what may stand here.",
    ]
    if kind.recipe is not None:
        lines.append(
            f"# `warex benchmarks setup {kind.name} --dir {table.get('dir', 'DIR')}` makes its"
            " environment."
        )
    lines.append("[benchmark]")
    nested = {key: table[key] for key in ("sites", "options") if isinstance(table.get(key), dict)}
    lines += [f"{key} = {_toml(value)}" for key, value in table.items() if key not in nested]
    for key, inner in nested.items():
        lines += ["", f"[benchmark.{key}]"]
        lines += [f"{name} = {_toml(value)}" for name, value in inner.items()]
    return "\n".join(lines) + "\n"


def _agent(agent: dict[str, Any]) -> str:
    said = (
        "[[agents]]\n"
        f"name = {_toml(agent['name'])}\n"
        f"{_MODEL}model = {_toml(agent['model'])}\n"
        f"{_REST}"
        "# Show the model a picture, too.\n"
        f"screenshot = {_toml(agent.get('screenshot', False))}\n"
        "# Calls to the model at most.\n"
        f"max_steps = {_toml(agent.get('max_steps', 25))}\n\n"
    )
    return said


def _toml(value: Any) -> str:
    match value:
        case dict():
            inner = ", ".join(f"{key} = {_toml(each)}" for key, each in value.items())
            return f"{{ {inner} }}"
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case _:
            # Text, numbers and truth values are written alike.
            return json.dumps(value, ensure_ascii=False)
