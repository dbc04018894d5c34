from pathlib import Path

from pydantic import JsonValue

from tests.analysis.builders import RunFolder, Story, solved
from tests.report.builders import row, run, table
from warex.analysis.metrics.metric import Counts, Names
from warex.analysis.metrics.row import ConditionRow
from warex.analysis.run.load import load_run
from warex.analysis.stats.estimates import Mean, Rate
from warex.analysis.stats.paired import Delta, NoiseFloor
from warex.analysis.table.endings import Endings
from warex.analysis.table.tabulate import tabulate
from warex.report.tables.columns import cell, text
from warex.report.text.footnotes import baseline_notes, excluded_pairs, footnotes
from warex.traces.outcome import Void
from warex.traces.paths import EVENTS


def _unhurt(model: str = "scripted:patient") -> Story:
    return Story().thinks(1, "goto", model=model).page("x1").stops()


def test_a_scripted_model_is_called_an_instrument(tmp_path: Path) -> None:
    RunFolder(tmp_path).trial("clean", "add", solved(), _unhurt())
    run = load_run(tmp_path)

    assert footnotes(run, tabulate(run)) == (
        "patient is scripted: it tests WAREX, not an LLM; cost as if gpt-4o.",
    )


def test_a_playbook_is_scripted_under_any_model_name(tmp_path: Path) -> None:
    agents: list[JsonValue] = [
        {"name": "mine", "model": "playbook:rules.yaml"},
        {"name": "real", "model": "gpt-4o-mini"},
    ]
    folder = RunFolder(tmp_path).manifest(agents=agents)
    for agent in ("mine", "real"):
        folder.trial("clean", "add", solved(), _unhurt("gpt-4o-mini"), agent=agent)
    run = load_run(tmp_path)
    mine, real = tabulate(run).rows

    assert footnotes(run, tabulate(run)) == (
        "mine is scripted: it tests WAREX, not an LLM; cost as if gpt-4o-mini.",
    )
    assert mine.as_if == Names(("gpt-4o-mini",))
    assert (real.as_if, real.cost_usd) == (Names(()), mine.cost_usd)
    assert cell(ConditionRow.cost_usd, mine).values[-1] == "gpt-4o-mini"
    assert cell(ConditionRow.cost_usd, real).values[-1] is None
    for metric in (ConditionRow.cost_usd, ConditionRow.paid_usd):
        assert text(metric, mine) == f"as if {text(metric, real)}"


def test_everything_left_out_or_assumed_is_reported(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest(longest_hold_s=2.0)
    folder.trial("clean", "add", solved(), _unhurt("house-model"))
    folder.trial("clean", "move", Void(reason="lane died"))
    cut = folder.trial("clean", "share", None, _unhurt("house-model"))
    (cut / EVENTS).write_bytes((cut / EVENTS).read_bytes()[:-5])
    run = load_run(tmp_path)

    assert footnotes(run, tabulate(run)) == (
        "Delays capped at 2 s: no fault keeps an exchange longer than that here.",
        "No price is known for house-model, so its cost is left open; the campaign's [prices] can"
        " say.",
        "1 trace without an end: figures cover what was written.",
        "1 trial not finished, so not in the table.",
    )
    assert excluded_pairs(tabulate(run)) == (
        "patient, clean: move (repeat 1) stayed void, so it does not count.",
    )


def test_what_the_campaign_says_is_repeated(tmp_path: Path) -> None:
    RunFolder(tmp_path).manifest(notes=["Made up."]).trial("clean", "add", solved())
    run = load_run(tmp_path)

    assert footnotes(run, tabulate(run)) == ("Made up.",)


def test_answers_given_again_are_reported_where_cost_is_shown() -> None:
    rows = (row("clean"), row("server-error", replayed_calls=3))

    assert footnotes(run(*rows), table(*rows)) == (
        "3 LLM calls were answered from the replay cache and not paid again: a trial's cost and"
        " latency are as if the model had been asked. `warex inspect` shows what a call that was"
        " asked again differs in from those kept.",
    )


def test_a_cache_that_never_answered_is_reported_with_where_to_look(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest(llm_cache=True)
    for condition in ("clean", "server-error"):
        folder.trial(condition, "add", solved(), Story().thinks(1, "goto").stops())
    run = load_run(tmp_path)

    assert (
        "No LLM call was answered from the replay cache: `warex inspect` shows what a call that"
        " was asked again differs in from those kept."
    ) in footnotes(run, tabulate(run))


def test_many_left_out_pairs_are_counted() -> None:
    many = tuple(("patient", "clean", ("testbed", f"t{n}", 1)) for n in range(25))
    lines = excluded_pairs(table(left_out=many))

    assert len(lines) == 21
    assert lines[-1] == "And 5 more, all in summary.json."


def test_the_report_opens_with_what_the_proxy_alone_does() -> None:
    lines = baseline_notes(
        table(
            proxy_effect=(("patient", Delta(-1.0, 1)),),
            proxy_latency=(("patient", Mean(0.5, (0.25, 0.75), 1)),),
            noise_floor=(("patient", NoiseFloor(Delta(0.0, 4, (-0.5, 0.5)), 1, 4, "control")),),
        )
    )

    assert list(lines) == [
        "Proxy effect on patient (clean minus no-proxy): -100 points over 1 pair,"
        " +0.50 s of latency [+0.25, +0.75].",
        "Noise floor of patient (clean against its control): +0 [-50, +50] points, and 1 of"
        " 4 pairs flip.",
    ]


def test_the_share_that_diverges_before_any_fault_is_shown() -> None:
    parted = (Counts((("same", 3), ("before_faults", 2))), None, Counts((("at_fault", 4),)))
    rows = [row(str(number), parting=each) for number, each in enumerate(parted)]

    assert list(baseline_notes(table(*rows))) == [
        "Parting of patient: 2 of 9 trials under faults part from their clean twins before any"
        " fault, by the agent's own variation."
    ]


def test_what_another_rule_for_crashes_would_give_is_reported_in_one_line() -> None:
    calm = Endings("patient", "clean", (("answered", 2),), 0, 0, *[Rate(2, 2)] * 3)
    crashed = Endings("patient", "down", (), 1, 2, Rate(2, 4), Rate(2, 3), Rate(2, 6))

    notes = footnotes(run(), table(endings=(calm, crashed)))

    assert [note for note in notes if "crash" in note] == [
        "The harness crashed in 1 trial after a fault (counted 0) and 2 trials before any (run"
        " again) of patient, down: success is 2/4 50 %; were each crash void it would be 2/3 67 %,"
        " were each 0 2/6 33 %."
    ]
