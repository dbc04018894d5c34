"""Requirements of a campaign, which `warex doctor` reports and `warex run` enforces."""

import os
from collections.abc import Iterator
from pathlib import Path

from warex.benchmarks import Benchmark
from warex.campaigns.config.campaign import CampaignConfig
from warex.campaigns.plan.campaign_plan import plan
from warex.campaigns.plan.lint import lint_warnings
from warex.errors import MachineError, WarexError
from warex.proxy.certificates.ca import ensure_ca
from warex.sandbox.doctor.finding import Finding
from warex.sandbox.doctor.machine import quick_checks
from warex.text.english import count_noun


def check_campaign(config: CampaignConfig) -> Iterator[Finding]:
    """Yield the checks of `warex run` before the first trial."""
    try:
        yield from quick_checks(Path.cwd(), ensure_ca())
    except MachineError as error:
        yield Finding("certificates", "broken", str(error))
    try:
        planned = plan(config)
    except WarexError as error:
        yield Finding("campaign", "broken", str(error))
        return
    many = count_noun(len(planned.trials), "trial")
    yield Finding("campaign", "ok", f"{many} of {planned.benchmark.name}")
    for warning in lint_warnings(planned):
        yield Finding("conditions", "missing", warning, needed=False)
    try:
        yield Finding("browser", "ok", str(planned.benchmark.find_browser()))
    except MachineError as error:
        yield Finding("browser", "missing", str(error))
    try:
        planned.benchmark.require_keys([spec.agent for spec in planned.trials], os.environ)
    except MachineError as error:
        yield Finding("keys", "missing", str(error))


def check_benchmark(benchmark: Benchmark) -> Iterator[Finding]:
    """Yield a benchmark's requirements, and whether its tasks and options are valid."""
    findings = tuple(benchmark.diagnose())
    yield from findings
    try:
        tasks = benchmark.tasks()
        benchmark.validate(tasks, ())
    except WarexError as error:
        if str(error) not in {finding.sentence for finding in findings}:
            yield Finding("tasks", "broken", str(error))
    else:
        yield Finding("tasks", "ok", count_noun(len(tasks), "task"))
