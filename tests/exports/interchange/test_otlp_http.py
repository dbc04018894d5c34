from pathlib import Path

import pytest

from tests.exports.interchange.otlp_receiver import Receiver
from tests.exports.runs import several_sites
from tests.ports import reserved_port
from warex.errors import InputError, MachineError
from warex.exports.interchange.otlp_http import read_address, send_traces
from warex.exports.run_formats import RunExport, export_runs


def test_a_receiver_gets_each_trial_as_a_trace_in_protobuf(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    several_sites(tmp_path / "run", ("shop",))
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b, other=1")
    address = read_address(receiver.origin)

    lines = [*export_runs(RunExport("otel", (tmp_path / "run",), Path(), address=address))]

    assert lines == [f"otel       3 trials: {receiver.origin}/v1/traces"]
    assert receiver.paths == ["/v1/traces"] * 3
    assert receiver.keys == ["a b"] * 3
    traces = set()
    for request in receiver.requests:
        (resource,) = request.resource_spans
        assert resource.schema_url == "https://opentelemetry.io/schemas/1.45.0"
        root, *children = resource.scope_spans[0].spans
        assert root.name.startswith("invoke_agent ")
        assert (len(root.trace_id), len(root.span_id), root.parent_span_id) == (16, 8, b"")
        assert children
        assert {child.parent_span_id for child in children} == {root.span_id}
        assert 0 < root.start_time_unix_nano <= root.end_time_unix_nano
        operations = {
            attribute.value.string_value
            for span in (root, *children)
            for attribute in span.attributes
            if attribute.key == "gen_ai.operation.name"
        }
        assert operations == {"invoke_agent", "chat", "execute_tool"}
        traces.add(root.trace_id)
    assert len(traces) == 3


def test_what_a_receiver_does_not_take_is_a_sentence(receiver: Receiver) -> None:
    address = read_address(f"{receiver.origin}/otlp")
    receiver.reply.partial_success.rejected_spans = 2
    receiver.reply.partial_success.error_message = "too old"
    with pytest.raises(MachineError, match="/otlp: the receiver rejected 2 spans: 'too old'"):
        send_traces(address, [{"resourceSpans": []}])
    receiver.status = 401
    with pytest.raises(MachineError, match="/otlp: the receiver answered 401 Unauthorized"):
        send_traces(address, [{"resourceSpans": []}])
    with pytest.raises(MachineError, match=r"/v1/traces: it cannot be reached: .*refused"):
        send_traces(read_address(f"http://127.0.0.1:{reserved_port()}/"), [{"resourceSpans": []}])


def test_an_address_is_that_of_a_receiver() -> None:
    assert read_address("https://a.example:4318") == "https://a.example:4318/v1/traces"
    assert read_address("http://a.example/otel/v1/traces") == "http://a.example/otel/v1/traces"
    for wrong in ("a.example:4318", "ftp://a.example", "http://", "http://a:99999", "http://[", ""):
        with pytest.raises(ValueError, match="URL"):
            read_address(wrong)


@pytest.mark.parametrize("text", ["key", "=value", "a=b\nc", "a b"])
def test_invalid_headers_are_refused_in_a_sentence(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", text)

    with pytest.raises(InputError, match="OTEL_EXPORTER_OTLP_HEADERS: this is not NAME=VALUE"):
        send_traces("http://127.0.0.1:1/", [])
