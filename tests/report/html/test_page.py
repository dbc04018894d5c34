import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from jinja2 import UndefinedError

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.analysis.metrics.metric import Unit
from warex.analysis.run.load import load_run
from warex.report.html.page import REPORT, SUMMARY, environment, nonbreaking_units, write_report
from warex.report.text import formatting
from warex.traces.outcome import Void
from warex.traces.paths import EVENTS

EVIL = "<script>alert(1)</script>\" onmouseover='x'"


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.words = ""
        self.feed(text)
        self.words = " ".join(self.words.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.words += f" {data}"

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.attributes if key == name]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = RunFolder(tmp_path).manifest()
    story = Story().thinks(1, "goto", (1500, 20), cached=500).fault(1)
    story.thinks(2, "reload", (2000, 30)).page("x2").missed("not_armed", count=4).stops()
    folder.trial("no-proxy", "add", solved(2))
    folder.trial("clean", "add", solved(3), Story().thinks(1, "goto").page("x1").stops())
    folder.trial("server-error", "add", failed(6), story)
    folder.trial("server-error", EVIL, solved(6), story)
    folder.trial("clean", "move", Void(reason="lane died"))
    cut = folder.trial("clean", "share", None, Story().page("x1"))
    (cut / EVENTS).write_bytes((cut / EVENTS).read_bytes()[:-5])
    return tmp_path


def _page(run: Path) -> _Page:
    return _Page(write_report(load_run(run)).read_text())


def _written(mean: Any, unit: Unit) -> str:
    return formatting.amount(mean["value"], unit) if mean else formatting.UNKNOWN


def test_the_report_holds_every_number_of_the_summary(run: Path) -> None:
    page = _page(run)
    summary: Any = json.loads((run / SUMMARY).read_text())

    assert len(summary["conditions"]) == 3
    for row in summary["conditions"]:
        numbers = [
            f"{row['success']['hits']}/{row['success']['n']}",
            *(f"{100 * end:.0f}" for end in row["success"]["interval"]),
            _written(row["latency_s"], "s"),
            *(_written(row[name], "count") for name in ("llm_calls", "steps")),
            *(_written(row[name], "tokens") for name in ("input_tokens", "output_tokens")),
            _written(row["cost_usd"], "US dollars"),
            formatting.usd(row["paid_usd"]),
            str(row["voids"]),
        ]
        for name in ("recovery", "exposure"):
            numbers += [f"{row[name]['hits']}/{row[name]['n']}"] if row[name] else []
        numbers += [f"{100 * row['delta']['value']:+.0f}"] if row["delta"] else []
        cached = row["cached_tokens"]
        numbers += [_written(cached, "tokens")] if cached and cached["value"] else []
        assert [n for n in numbers if n not in page.words] == []


def test_the_report_asks_nobody_for_anything(run: Path) -> None:
    text = write_report(load_run(run)).read_text()
    page = _Page(text)

    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    assert not re.search(r"https?:|//[a-z]|url\((?!#)|@import", text)
    assert all("://" not in link and not link.startswith("/") for link in page.all("href"))


def test_every_link_leads_to_something(run: Path) -> None:
    links = [link for link in _page(run).all("href") if not link.startswith("#")]

    assert len(links) > 5
    assert [link for link in links if not (run / unquote(link)).exists()] == []


def test_names_are_text_and_never_markup(run: Path) -> None:
    page = _page(run)

    assert "script" not in page.tags
    assert not page.all("onmouseover")
    assert EVIL in page.words


def test_a_trial_s_result_is_reported_in_words_and_not_in_colour_only(run: Path) -> None:
    words = _page(run).words

    for word in ("success", "failure", "void", "unfinished", "not run", "lane died"):
        assert word in words


def test_a_figure_explains_only_what_it_draws(run: Path) -> None:
    page = _page(run)

    assert "Grey band" not in page.words
    assert "with a defence." not in page.words
    assert "Dashed: clean." in page.words


def test_a_trace_without_an_end_is_noted(run: Path) -> None:
    assert "Traces without an end" in _page(run).words


def test_where_the_numbers_come_from_is_reported(run: Path) -> None:
    words = _page(run).words

    assert "warex demo --out 'runs/<demo>'" in words
    assert "seed 7" in words
    assert "python 3.13.0, warex 0.1.0" in words
    assert "not armed 8" in words


def test_the_report_reads_in_light_and_in_dark(run: Path) -> None:
    assert "prefers-color-scheme: dark" in write_report(load_run(run)).read_text()


def test_the_report_is_the_owners_alone(run: Path) -> None:
    report = write_report(load_run(run))

    assert report.stat().st_mode & 0o777 == 0o600
    assert (run / SUMMARY).stat().st_mode & 0o777 == 0o600


def test_the_same_run_gives_the_same_report(run: Path) -> None:
    first = write_report(load_run(run)).read_bytes()

    assert write_report(load_run(run)).read_bytes() == first
    assert (run / REPORT).read_bytes() == first


def test_every_cell_of_every_table_has_a_header(run: Path) -> None:
    page = _page(run)

    assert page.tags.count("table") == page.tags.count("caption") >= 4
    assert {"col", "row", "rowgroup"} == set(page.all("scope"))


def test_a_number_stays_beside_its_unit(run: Path) -> None:
    assert nonbreaking_units("7/7 100 %") == "7/7 100\u00a0%"
    assert nonbreaking_units("0.4 s, 1.0 step") == "0.4\u00a0s, 1.0\u00a0step"
    text = write_report(load_run(run)).read_text("utf-8")
    cells = re.findall(r"<td[^>]*>(?:<a [^>]*>)?([^<]+)", text)
    assert any("\u00a0%" in cell for cell in cells)
    assert [cell for cell in cells if nonbreaking_units(cell) != cell] == []


def test_no_two_things_have_the_same_name(run: Path) -> None:
    page = _page(run)
    ids = page.all("id")
    named = {word for value in page.all("aria-labelledby") for word in value.split()}
    led_to = {href.removeprefix("#") for href in page.all("href") if href.startswith("#")}

    assert len(set(ids)) == len(ids)
    assert named | led_to <= set(ids)


def test_values_are_escaped() -> None:
    page = environment().from_string("{{ name }}").render(name="<script>")

    assert page == "&lt;script&gt;"


def test_a_name_that_is_not_given_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        environment().from_string("{{ nmae }}").render(name="run")
