"""Tasks of the testbed are solved on changed sites as on the ones that were learned."""

import json
import urllib.request
from functools import partial
from itertools import groupby
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.proxy.support.lanes import Begin, scenario, wait_until
from warex.faults import Fault
from warex.faults.variation.id_drift import IdDrift
from warex.faults.variation.reorder import Reorder
from warex.traces import FaultDelivered, HarnessBroke
from warex_testbed.server import Testbed
from warex_testbed.tasks import Task, load_tasks

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TASKS = [next(of_kind) for _, of_kind in groupby(load_tasks(), key=lambda task: task.site)]
"""One task of each kind of site."""
FAULTS: tuple[Fault, ...] = (Reorder(strength=1), IdDrift(strength=1))


def state_of(bed: Testbed) -> dict[str, Any]:
    with urllib.request.urlopen(f"http://127.0.0.1:{bed.admin_port}/state", timeout=30) as answer:
        return dict(json.load(answer))


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.site)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.kind)
def test_a_task_is_solved_on_a_changed_site_as_before(
    browser: Browser, begin: Begin, fault: Fault, task: Task
) -> None:
    with (
        Testbed() as bed,
        begin(
            scenario=scenario(fault),
            maps=(f"http://{task.host}=http://127.0.0.1:{bed.port}",),
        ) as lane,
    ):
        page = browser.new_context(proxy={"server": lane.url}).new_page()
        page.set_default_timeout(30_000)
        page.goto(task.start_url("http"))
        wait_until(partial(lane.events, FaultDelivered))
        for step in task.oracle:
            role: Any = step.role
            element = page.get_by_role(role, name=step.name, exact=True)
            expect(element).to_have_count(1)
            match step.action:
                case "click":
                    element.click()
                case "fill":
                    element.fill(step.text)
                case "select_option":
                    element.select_option(label=step.text)
                case "press":
                    element.press(step.text)
                case _:
                    expect(element).to_be_attached()
        verdict = task.judge(state_of(bed), task.oracle[-1].text)
        page.context.close()
    assert verdict.reasons == ()
    assert not lane.events(HarnessBroke)
