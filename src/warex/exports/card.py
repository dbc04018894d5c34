"""The data set card that Hugging Face shows and ``datasets`` loads by."""

from collections.abc import Mapping
from typing import Final

from jinja2 import Environment

from warex.exports.dataset import DatasetManifest
from warex.exports.names import Format
from warex.exports.rows import ROWS
from warex.text.english import count_noun

_COLUMNS: Final[Mapping[Format, str]] = {
    "sft": "`messages`, of which the last is the answer wanted: the loss belongs on that alone",
    "dpo": "`prompt`, `chosen`, `rejected`",
    "kto": "`prompt`, `completion`, `label`",
    "atif": "a trajectory of Harbor's ATIF each, of which the last step is to be learnt",
    "adp": "a standardized trajectory of the Agent Data Protocol each, of which the last action is"
    " to be learnt",
}
_SNIPPETS: Final[Mapping[Format, str]] = {
    "sft": """\
from datasets import load_dataset

data = load_dataset("DIR").map(
    lambda row: {"prompt": row["messages"][:-1], "completion": row["messages"][-1:]},
    remove_columns=["messages"],
)""",
    "dpo": 'from datasets import load_dataset\n\ndata = load_dataset("DIR")',
    "kto": 'from datasets import load_dataset\n\ndata = load_dataset("DIR")',
    "atif": 'import json\n\ndata = [json.loads(line) for line in open("DIR/train.jsonl")]',
    "adp": 'import json\n\ndata = [json.loads(line) for line in open("DIR/train.jsonl")]',
}
_CARD: Final = Environment(trim_blocks=True, lstrip_blocks=True).from_string("""\
---
{% if manifest.license %}
license: {{ manifest.license }}
{% endif %}
tags: [web-agents, robustness, failure-recovery]
configs:
- config_name: default
  data_files:
{% for split, held in manifest.splits.items() if held.examples %}
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
{% for split, held in manifest.splits.items() %}
| {{ split }} | {{ held.examples }} | {{ held.failure }} | {{ held.clean }} |\
 {{ held.relabelled }} | {{ held.sites | length }} | {{ held.page_families | length }} |\
 {{ held.faults | length }} |
{% endfor %}

| | |
| --- | --- |
| format | {{ manifest.format }}: {{ columns }} |
| runs | {{ manifest.sources | join(", ") }} |
| agents | {{ several("agents") }} |
| benchmarks | {{ several("benchmarks") }} |
| split by | {{ manifest.split_by | join(", ") or "nothing" }} |
{% for split, held in manifest.splits.items() if held.examples %}
| sites of {{ split }} | {{ held.sites | join(", ") }} |
{% endfor %}
| seed | {{ manifest.seed }} |
| license | {{ manifest.license or "not given" }} |
{% for split, held in manifest.splits.items() %}
| SHA-256 of {{ split }}.jsonl | `{{ held.sha256 }}` |
{% endfor %}

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
    held = manifest.splits.values()
    return _CARD.render(
        manifest=manifest,
        total=sum(split.examples for split in held),
        columns=_COLUMNS[manifest.format],
        ending="parquet" if manifest.format in ROWS else "jsonl",
        snippet=_SNIPPETS[manifest.format],
        counted=count_noun,
        several=lambda what: ", ".join(
            sorted({it for split in held for it in getattr(split, what)})
        ),
    )
