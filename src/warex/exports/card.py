"""The data set card that Hugging Face shows and ``datasets`` loads by."""

from typing import Final

from jinja2 import Environment

from warex.exports.dataset import DatasetManifest
from warex.exports.dataset_formats import dataset_format
from warex.llm.embedded import is_mock_model
from warex.text.english import count_noun
from warex.text.escaping import escape_controls

_LONGEST_NAME: Final = 80
"""Characters of a model's name, which an agent chooses."""

_CARD: Final = Environment(trim_blocks=True, lstrip_blocks=True).from_string("""\
---
{% if manifest.license %}
license: {{ manifest.license }}
{% endif %}
tags: [web-agents, robustness, failure-recovery]
configs:
- config_name: default
  data_files:
{% for split, side in manifest.splits.items() if side.examples %}
  - split: {{ split }}
    path: {{ split }}.{{ ending }}
{% endfor %}
---

# Failure-recovery data of a web agent

{{ counted(total, "example") }} from trajectories of web agents on sites that fail, made by WAREX
{{ manifest.warex }}. A *failure* example is the step after an injected fault, with the answer that
recovers; a *clean* one is an ordinary step of a solved trial.

| split | examples | failure | clean | relabelled | sites | families of error pages | faults |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{% for split, side in manifest.splits.items() %}
| {{ split }} | {{ side.examples }} | {{ side.failure }} | {{ side.clean }} |\
 {{ side.relabelled }} | {{ side.sites | length }} | {{ side.page_families | length }} |\
 {{ side.faults | length }} |
{% endfor %}

| | |
| --- | --- |
| format | {{ manifest.format }}: {{ columns }} |
| runs | {{ manifest.sources | join(", ") }} |
| agents | {{ several("agents") }} |
| benchmarks | {{ several("benchmarks") }} |
{% if manifest.oracle %}
| answers | of the tasks' oracles, in the states that the agents came to |
{% endif %}
| split by | {{ manifest.split_by | join(", ") or "nothing" }} |
{% for split, side in manifest.splits.items() if side.examples %}
| sites of {{ split }} | {{ side.sites | join(", ") }} |
{% endfor %}
| seed | {{ manifest.seed }} |
| license | {{ manifest.license or "not given" }} |
{% for split, side in manifest.splits.items() %}
| SHA-256 of {{ split }}.jsonl | `{{ side.sha256 }}` |
{% endfor %}

{% for split, side in manifest.splits.items() if side.rewritten or side.relabelled %}
In {{ split }} {{ share(side.rewritten, side.examples) }} of the examples are rewritten: the agent's
words beside its actions are removed, in the answer and in the history. Of
{{ share(side.relabelled, side.examples) }} the answer is WAREX's.

{% endfor %}
{% for split, side in manifest.splits.items() if side.examples %}
In {{ split }} the history has a reload in {{ share(side.failure_after_reload, side.failure) }} of
the failures and {{ share(side.clean_after_reload, side.clean) }} of the clean examples.

{% endfor %}
{% for split, side in manifest.splits.items() if side.rejected_models %}
The rejected answers of {{ split }} are of {{ counted(side.rejected_models | length, "model") }}:

| model | rejected answers | |
| --- | ---: | --- |
{% for model, number in side.rejected_models.items() %}
| {{ cell(model) or "not recorded" }} | {{ number }} |\
 {{ "scripted by WAREX" if scripted(model) else "" }} |
{% endfor %}

{% endfor %}
{% for split, side in manifest.splits.items() if side.cut %}
In {{ split }} the pages of {{ side.cut }} of {{ counted(side.examples, "example") }} are cut at
their end, by {{ counted(side.cut_elements, "element") }} in all.

{% endfor %}
{% if manifest.separability %}
{% set best = manifest.separability[0] %}
How well trivial rules tell failures from clean rows of {{ best.held_out }}s that they were not
learnt from ({{ counted(best.rows, "row") }}; balanced accuracy, 50 % is chance):

| rule | balanced accuracy | failures found | clean rows taken for failures |
| --- | ---: | ---: | ---: |
{% for it in manifest.separability %}
| {{ it.rule }} | {{ percent(it.balanced_accuracy) }} | {{ percent(it.failures_found) }} |\
 {{ percent(it.false_alarms) }} |
{% endfor %}

{% endif %}
{% if manifest.warnings %}
Warnings:

{% for text in manifest.warnings %}
- {{ text }}
{% endfor %}

{% endif %}
{% if manifest.leaks %}
These are on two sides, and were accepted:

{% for leak in manifest.leaks %}
- {{ leak }}
{% endfor %}

{% endif %}
{% if manifest.left_out %}
Left out:

{% for why, number in manifest.left_out.items() %}
- {{ number }}: {{ why }}
{% endfor %}

{% endif %}
Secrets were taken out when the traffic was recorded
{{- ", and personal data masked" if manifest.masked }}.
Images lie in `images/`; a row names its own.

```python
{{ snippet }}
```
""")


def card(manifest: DatasetManifest) -> str:
    """Return the card as Markdown with YAML front matter."""
    splits = manifest.splits.values()
    form = dataset_format(manifest.format)
    return _CARD.render(
        manifest=manifest,
        total=sum(split.examples for split in splits),
        columns=form.columns,
        ending="parquet" if form.row else "jsonl",
        snippet=form.snippet,
        counted=count_noun,
        scripted=is_mock_model,
        cell=_cell,
        percent="{:.1%}".format,
        share=lambda some, of: f"{some / of:.0%} ({some} of {of})" if of else "none",
        several=lambda what: ", ".join(
            sorted({it for split in splits for it in getattr(split, what)})
        ),
    )


def _cell(text: str) -> str:
    one_line = " ".join(escape_controls(text[: _LONGEST_NAME + 1]).split())
    name = one_line if len(text) <= _LONGEST_NAME else f"{one_line[:_LONGEST_NAME]}…"
    return name.replace("|", "\\|").replace("<", "&lt;")
