"""Shell completion of names.

Names are loaded when the shell asks for them. Where a file is allowed too, files are completed if
no name fits.
"""

import logging
from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

type _Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _of(names: Callable[[], Iterable[str]], *, or_file: bool = False) -> _Complete:
    def complete(
        context: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        # A warning would be written into the line that the user types.
        logging.disable()
        try:
            fitting = [CompletionItem(name) for name in names() if name.startswith(incomplete)]
        finally:
            logging.disable(logging.NOTSET)
        return fitting or ([CompletionItem(incomplete, type="file")] if or_file else [])

    return complete


def _scenarios() -> Iterable[str]:
    from warex.scenarios.presets import preset_names

    return preset_names()


def _campaigns() -> Iterable[str]:
    from warex.campaigns.config.campaign import built_in_names

    return built_in_names()


def _benchmarks() -> Iterable[str]:
    from warex.benchmarks import benchmarks

    return [kind.name for kind in benchmarks()]


def _defences() -> Iterable[str]:
    from warex.llm.defences import DEFENCES

    return [defence.name for defence in DEFENCES]


def _faults() -> Iterable[str]:
    from warex.faults import CATALOGUE

    return [kind.model_fields["kind"].default for kind in CATALOGUE]


def _metrics() -> Iterable[str]:
    from warex.analysis.metrics.row import METRICS

    return [metric.key for metric in METRICS]


def _task_rules() -> Iterable[str]:
    from warex.scenarios.task_detection import BUILT_IN_RULES

    return BUILT_IN_RULES


SCENARIO = _of(_scenarios, or_file=True)
CAMPAIGN = _of(_campaigns, or_file=True)
BUILT_IN_CAMPAIGN = _of(_campaigns)
BENCHMARK = _of(_benchmarks)
VOCABULARY = _of(_benchmarks, or_file=True)
DEFENCE = _of(_defences, or_file=True)
DEFENCE_NAME = _of(_defences)
FAULT = _of(_faults)
METRIC = _of(_metrics)
TASKS = _of(_task_rules)
FILE = _of(tuple, or_file=True)
