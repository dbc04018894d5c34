"""The collected trials: each can be read, met a fault, and is shown to a reader whole."""

from tests.analysis.trajectories.render import CORPUS, render
from tests.yaml_files import load_yaml
from warex.traces import FaultDelivered, LlmCall, read_trace


def test_the_index_names_every_trial_and_no_other() -> None:
    entries = load_yaml(CORPUS / "index.yaml")
    names = [entry["name"] for entry in entries]
    assert sorted(names) == sorted(path.stem for path in CORPUS.glob("*.jsonl"))
    assert len(set(names)) == len(names)


def test_every_trial_is_a_whole_trace_in_which_a_fault_arrived() -> None:
    for path in sorted(CORPUS.glob("*.jsonl")):
        trace = read_trace(path)
        assert trace.truncation is None
        assert trace.events(FaultDelivered), path
        assert trace.events(LlmCall), path


def test_the_timeline_shows_every_injection_and_every_answer() -> None:
    for path in sorted(CORPUS.glob("*.jsonl")):
        shown, trace = render(path), read_trace(path)
        for fault in trace.events(FaultDelivered):
            assert f"DELIVERED {fault.injection} on {fault.exchange}" in shown
        assert shown.count("MODEL said") == len(trace.events(LlmCall))
