import pytest

from tests.analysis.metrics.reference import PAGES, REFERENCE, written


@pytest.mark.parametrize("name", PAGES)
def test_docs_the_tables_of_metrics_are_written_out_of_the_metrics(name: str) -> None:
    page = (REFERENCE / f"{name}.md").read_text(encoding="utf-8")

    assert "written by `python -m tests.analysis.metrics.reference`" in page
    assert page == written(page), "run: python -m tests.analysis.metrics.reference"
