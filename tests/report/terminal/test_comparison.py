import re
from io import StringIO
from pathlib import Path

from pydantic import JsonValue
from rich.console import Console

from tests.analysis.builders import RunFolder, Story, solved
from tests.analysis.output.test_comparison import compared, run
from warex.report.terminal.comparison import render_comparison


def shown(folder: Path, width: int = 100) -> str:
    run(folder / "old", 6)
    run(folder / "new", 8, n=11, clean=11)
    out = StringIO()
    Console(file=out, width=width).print(
        render_comparison(compared(folder / "old", folder / "new"))
    )
    return out.getvalue()


def test_every_figure_has_its_interval_and_p(tmp_path: Path) -> None:
    message = " ".join(shown(tmp_path).split())

    assert "6/11 8/11 +18 [" in message
    assert "a trial" in message


def test_what_does_not_pair_is_reported(tmp_path: Path) -> None:
    assert "* 2 trials are left out that one side lacks." in shown(tmp_path)


def test_the_comparison_fits_eighty_columns(tmp_path: Path) -> None:
    assert max(map(len, shown(tmp_path, width=80).splitlines())) <= 80


def test_what_a_scripted_agent_would_cost_is_not_in_dollars(tmp_path: Path) -> None:
    agents: list[JsonValue] = [{"name": "a", "model": "playbook:rules.yaml"}]
    page = Story().page("x1").thinks(1, "send_msg_to_user", model="gpt-4o").stops()
    for side in ("old", "new"):
        folder = RunFolder(tmp_path / side, agent="a").manifest(agents=agents)
        folder.trial("clean", "add", solved(), page)
    out = StringIO()
    Console(file=out, width=200).print(
        render_comparison(compared(tmp_path / "old", tmp_path / "new"))
    )
    message = out.getvalue()

    assert message.count("* a is scripted: it tests WAREX, not an LLM; cost as if gpt-4o.") == 1
    assert "US dollars (as if paid)" in message


def test_figures_of_one_unit_have_as_many_digits_in_every_line(tmp_path: Path) -> None:
    run(tmp_path / "old", 0, n=8, clean=8)
    run(tmp_path / "new", 8, n=8, clean=8)
    out = StringIO()
    sides = compared(tmp_path / "old", tmp_path / "new")
    Console(file=out, width=200).print(render_comparison(sides))
    messages = [line for line in out.getvalue().splitlines() if line.endswith("a trial")]

    assert len(messages) == 2
    for unit, digits in (("s", 2), ("LLM calls", 2), ("US dollars", 4)):
        for line in messages:
            match = re.search(rf"([+-][\d.]+)( \[[^]]*\])? {unit}\b", line)
            assert match
            figures = re.findall(r"\d+\.?(\d*)", match[1] + (match[2] or ""))
            assert {len(each) for each in figures} == {digits}
    assert "-0.00 " not in out.getvalue()
