"""A starting campaign file: every key, explained, and valid as it is."""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import Field, fields
from importlib import resources
from textwrap import wrap
from types import MappingProxyType
from typing import Any

from warex.benchmarks import Benchmark, benchmark_kind
from warex.benchmarks.table import BenchmarkConfig
from warex.campaigns.config.campaign import CampaignConfig
from warex.errors import CampaignError
from warex.scenarios.mistakes import format_errors, validate_document
from warex.traffic import TrafficOptions, option_of

_TEMPLATE = resources.files("warex.campaigns.config") / "template.toml"

_BARE = re.compile(r"[A-Za-z0-9_-]+")

_MODEL = """\
# As the harness names it. `scripted:giveup`, `scripted:suggestible` and `scripted:patient` are
# embedded and play the testbed; `playbook:FILE` plays a file's rules for any benchmark.
"""
_REST = """\
# Base URL of the model's API; left out, the client's own.
# base_url = "http://127.0.0.1:11434/v1"
"""
_NO_PROXY = """\
[[conditions]]
name = "no-proxy"

"""


def template(name: str, benchmark: str, file: str) -> str:
    """Return the text of a new campaign file for a benchmark.

    Raises CampaignError for a benchmark that does not exist, or an invalid name.
    """
    kind = benchmark_kind(benchmark)
    example = tomllib.loads(kind.example())
    alone = example["benchmark"] == kind.name
    values = {
        "name": name.replace("\\", "\\\\").replace('"', '\\"'),
        "file": file,
        "benchmark": _named(kind) if alone else "",
        "tasks": as_toml(example.get("tasks", {"all": True})),
        "jobs": as_toml(example.get("jobs", 2)),
        "timeout_s": as_toml(float(example.get("timeout_s", 300.0))),
        "table": "" if alone else benchmark_table(kind, example["benchmark"]),
        "agents": "".join(map(_agent, example["agents"])),
        "traffic": "".join(map(_traffic, fields(TrafficOptions))),
        "no-proxy": _NO_PROXY,
    }
    text = _TEMPLATE.read_text("utf-8")
    if not alone and kind(BenchmarkConfig.model_validate(example["benchmark"])).needs_proxy():
        values["no-proxy"] = ""
    for slot, value in values.items():
        text = text.replace(f"@{slot}@", value)
    try:
        made, mistakes = validate_document(CampaignConfig, tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        made, mistakes = None, [f"{name!r} is not a name: give letters, digits and dashes"]
    if made is None:
        raise CampaignError(format_errors(file, mistakes))
    return text


def _named(kind: type[Benchmark]) -> str:
    return f"# What is done; `warex benchmarks` lists them.\nbenchmark = {as_toml(kind.name)}\n\n"


def benchmark_table(
    kind: type[Benchmark], table: dict[str, Any], comments: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return the ``[benchmark]`` section of a benchmark with more than a name.

    ``comments``: sentences above its options.
    """
    lines = ["", f"# The work. `warex benchmarks show {kind.name}` lists the keys."]
    if kind.recipe is not None:
        lines.append(
            f"# `warex benchmarks setup {kind.name} --dir {table.get('dir', 'DIR')}` makes its"
            " environment."
        )
    lines.append("[benchmark]")
    nested = {key: table[key] for key in ("sites", "options") if isinstance(table.get(key), dict)}
    text = "\n".join(lines) + "\n"
    text += toml_lines({key: value for key, value in table.items() if key not in nested})
    return text + "".join(
        f"\n[benchmark.{key}]\n{toml_lines(inner, comments if key == 'options' else {})}"
        for key, inner in nested.items()
    )


def toml_lines(table: Mapping[str, Any], comments: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the keys of a table, each on a line of TOML, with the comments above some."""
    return "".join(
        f"{comment(comments.get(key, ''))}{_key(key)} = {as_toml(value)}\n"
        for key, value in table.items()
    )


def comment(sentence: str) -> str:
    """Return a sentence as lines of comment; none for an empty one."""
    return "".join(f"# {line}\n" for line in wrap(sentence, 96, break_on_hyphens=False))


def _agent(agent: dict[str, Any]) -> str:
    return (
        "[[agents]]\n"
        f"name = {as_toml(agent['name'])}\n"
        f"{_MODEL}model = {as_toml(agent['model'])}\n"
        f"{_REST}"
        "# Show the model a picture, too.\n"
        f"screenshot = {as_toml(agent.get('screenshot', False))}\n"
        "# What the model sees of a page, if the harness supports the choice; left out, its own.\n"
        '# observation = ["axtree"]\n'
        "# Maximum number of calls to the model.\n"
        f"max_steps = {as_toml(agent.get('max_steps', 25))}\n\n"
    )


def _traffic(field: Field[Any]) -> str:
    example = option_of(field).example
    value = as_toml(field.default if example is None else example)
    mark = "" if example is None else "# "
    return f"# {field.metadata['description']}\n{mark}{field.name} = {value}\n"


def as_toml(value: Any) -> str:
    """Return a value as one line of TOML; mappings become inline tables."""
    match value:
        case dict():
            inner = ", ".join(f"{_key(key)} = {as_toml(each)}" for key, each in value.items())
            return f"{{ {inner} }}"
        case list() | tuple():
            return f"[{', '.join(map(as_toml, value))}]"
        case _:
            # TOML and JSON write text, numbers and booleans alike.
            return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)
