"""The page of the site that shows every preset: what it does, in words and as a file."""

from collections.abc import Iterable
from itertools import groupby
from typing import Final

from warex.scenarios import Rule
from warex.scenarios.load import load_scenario
from warex.scenarios.presets import preset_path
from warex.scenarios.preview.explain import explain_rule

PAGE: Final = "reference/gallery.md"
_INTRO: Final = """\
# Gallery of scenarios

Every preset, as `warex scenarios check NAME` explains it and as a file to start from
([how to write one](../how-to/write-a-scenario.md), [keys](scenarios.md)).
"""


def gallery(presets: Iterable[str]) -> str:
    """Return the page, written from the presets themselves; ``presets`` are sorted by name."""
    page = [_INTRO]
    for family, names in groupby(presets, key=lambda name: name.partition("/")[0]):
        page.append(f"\n## {family}\n")
        for name in names:
            scenario = load_scenario(name)
            kinds = dict.fromkeys(rule.fault.kind for rule in scenario.rules)
            faults = ", ".join(f"[`{kind}`](faults.md#{kind})" for kind in kinds)
            page.append(
                f"\n### {name}\n\n{scenario.description}\n\nFaults: {faults}\n\n"
                f"{''.join(map(_table, scenario.rules))}"
                f'??? note "The file"\n\n    ```yaml\n{_indented(name)}    ```\n'
            )
    return "".join(page)


def _table(rule: Rule) -> str:
    rows = "".join(f"| {label} | {words} |\n" for label, words in explain_rule(rule).items())
    return f"| rule | `{rule.name}` |\n| --- | --- |\n{rows}\n"


def _indented(name: str) -> str:
    lines = preset_path(name).read_text("utf-8").splitlines(keepends=True)
    return "".join(f"    {line}" for line in lines)
