"""WebArena's tasks are read from its checkout, whichever harness runs on them."""

import json
from pathlib import Path

import pytest

from tests.benchmarks.adapters.test_webarena import make_checkout
from warex.benchmarks import BenchmarkConfig
from warex.benchmarks.adapters.step import ADDRESSES, StepBenchmark
from warex.benchmarks.adapters.webarena import WebArenaBenchmark
from warex.benchmarks.adapters.webarena_tasks import SITES, WebArenaTasks
from warex.errors import CampaignError


def test_a_folder_that_is_not_a_checkout_is_reported_by_the_file_it_lacks(tmp_path: Path) -> None:
    table = BenchmarkConfig(name="webarena", options={"checkout": str(tmp_path)})
    with pytest.raises(CampaignError, match=r"holds no tasks .*\(No such file or dir.*checkout$"):
        WebArenaBenchmark(table).tasks()
    (tmp_path / "config_files").mkdir()
    (tmp_path / "config_files" / "test.raw.json").write_text("[]")
    with pytest.raises(CampaignError, match=r"holds no tasks of WebArena \(its list is empty\);"):
        WebArenaBenchmark(table).tasks()


@pytest.mark.parametrize("kind", [WebArenaBenchmark, StepBenchmark])
def test_a_task_has_the_addresses_that_its_harness_knows(
    tmp_path: Path, kind: type[WebArenaTasks]
) -> None:
    checkout = str(make_checkout(tmp_path / "webarena"))
    options = {"checkout": checkout, kind.webarena_option: checkout}
    table = BenchmarkConfig.model_validate({"name": kind.name, "options": options})
    benchmark = kind(table)

    benchmark.write_task(tmp_path / "config", "0", SITES.keys() & ADDRESSES.keys())

    task = json.loads((tmp_path / "config/0.json").read_text())
    assert task["start_url"] == benchmark.address("map")
    assert benchmark.sites("0") == (benchmark.address("map"),)
