"""A fault is complete when it has a file, a test, a catalogue entry and its place in the docs."""

import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from tests.cases import every
from tests.faults.calls import CALLS
from warex import faults
from warex.effects import Delay, EditToolResponse, Effect, PushToolEvent
from warex.exchange import Exchange, Request
from warex.faults import CATALOGUE, AnyFault, ConnectionFault, Fault, HeldFault, Target, fault_named
from warex.seeds import KeyedRng

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs/reference/faults.md").read_text()
FOLDER = ROOT / "src/warex/faults"
FILES = {
    file.stem
    for file in FOLDER.glob("*/*.py")
    if re.search(r"^    kind: Literal", file.read_text(), re.MULTILINE)
}
ANY: TypeAdapter[Fault] = TypeAdapter(AnyFault)
EXCHANGE = Exchange("1", Request("GET", "https://shop.test/"))

OF_CONNECTIONS = [fault for fault in CATALOGUE if issubclass(fault, ConnectionFault)]
OF_EXCHANGES = [fault for fault in CATALOGUE if fault.point is None]
OF_MODELS = [fault for fault in CATALOGUE if fault.target == "llm"]
WITH_A_DELAY = [fault for fault in CATALOGUE if issubclass(fault, HeldFault)]
REPEATED = {"other_page": "page", "stale_response": "answer"}
SERVER: dict[Target, str] = {"site": "the site", "llm": "the model", "mcp": "the server"}

each_fault = every("fault", CATALOGUE)
each_of_exchanges = every("fault", OF_EXCHANGES)
each_of_connections = every("fault", OF_CONNECTIONS)
each_of_models = every("fault", OF_MODELS)
each_that_holds = every("fault", WITH_A_DELAY)


def kind_of(fault: type[Fault]) -> str:
    return str(fault.model_fields["kind"].default)


def stages_of(fault: type[Fault]) -> tuple[str, ...]:
    return get_args(fault.model_fields["stage"].annotation) or ("request", "response")


def done_by(fault: Fault) -> tuple[Effect, ...]:
    return fault.effects(EXCHANGE, {}, KeyedRng(1, "rule"))[0]


def hold_of(effects: tuple[Effect, ...]) -> float:
    """Return for how long effects hold what they hit, before anything of it comes."""
    waits = sum(effect.seconds for effect in effects if isinstance(effect, Delay))
    return waits + sum(
        effect.after for effect in effects if isinstance(effect, EditToolResponse | PushToolEvent)
    )


def section_of(kind: str) -> str:
    match = re.search(rf"^## `{kind}`\n(.*?)(?=^## |\Z)", DOCS, re.DOTALL | re.MULTILINE)
    assert match, f"docs/reference/faults.md has no section '## `{kind}`'"
    return match[1]


def shared_by(kind: str) -> dict[str, str]:
    """Return the parameters, and their defaults, that the docs give for several faults at once."""
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| [^|]+ \| [^|]+ \| ([^|]+) \|$", DOCS, re.M)
    return {name: default for name, default, faults in rows if f"`{kind}`" in faults}


def test_every_file_is_in_the_catalogue() -> None:
    assert {fault.__module__.rpartition(".")[2] for fault in CATALOGUE} == FILES


@pytest.mark.parametrize(
    ("fault", "imported"),
    [
        ("redirect_loop", {"redirect_loop"}),
        pytest.param("", set(), marks=pytest.mark.slow),
        pytest.param("http_error", {"http_error"}, marks=pytest.mark.slow),
    ],
)
def test_a_scenario_imports_only_the_faults_that_it_names(fault: str, imported: set[str]) -> None:
    rules = [{"name": "a", "trigger": {"first": 1}, "fault": {"kind": fault}}] if fault else []
    program = (
        "import sys, warex.proxy.process.worker as worker, warex.scenarios as scenarios;"
        f"scenarios.Scenario.model_validate({{'name': 'some', 'rules': {rules!r}}});"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )

    modules = {name.rpartition(".")[2] for name in done.stdout.split() if "warex.faults." in name}
    assert modules & FILES == imported


@each_fault
def test_kind_file_test_and_docs_agree(fault: type[Fault]) -> None:
    kind = kind_of(fault)

    group = fault.__module__.split(".")[2]
    assert fault.__module__ == f"warex.faults.{group}.{kind}"
    assert (ROOT / f"tests/faults/{group}/test_{kind}.py").exists()
    stages = ", ".join(f"`{stage}`" for stage in stages_of(fault))
    assert f"| `{kind}` | {fault.summary} | {stages} |" in DOCS
    assert fault().stage == stages_of(fault)[0]


@each_fault
def test_the_docs_name_every_parameter_with_its_default_and_no_other(fault: type[Fault]) -> None:
    kind = kind_of(fault)
    own = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", section_of(kind), re.M))
    documented = own | shared_by(kind)
    defaults = fault().model_dump(exclude={"kind", "stage"})

    assert not own.keys() & shared_by(kind).keys()
    assert documented.keys() == defaults.keys()
    for name, default in defaults.items():
        shown = f"`{default:g}`" if isinstance(default, float) else f"`{default}`"
        assert documented[name].startswith("none" if default is None else shown), name


@each_fault
def test_a_fault_does_something_and_forgets_nothing(fault: type[Fault]) -> None:
    effects, state = fault().effects(EXCHANGE, {"seen": 1}, KeyedRng(1, "rule"))

    assert effects
    assert state["seen"] == 1


@each_fault
def test_what_is_said_of_a_fault_is_what_it_does(fault: type[Fault]) -> None:
    instance = fault()
    effects = done_by(instance)

    assert (fault.target == "connection") == (fault.point is not None)
    assert fault.point is not None or not fault.needs_namespace
    # A connection that is only late is a failure, too: its client has to wait.
    fails = any(
        effect.traits.sends_no_response or effect.name in {"lose_packets", "reorder_packets"}
        for effect in effects
    )
    assert fault.point is None or fails == (fault.category == "failure")
    assert instance.rewrites or not fault.changes_page
    assert fault.changes_page or not (fault.reads_code or instance.covers_page)
    assert fault.gives_again == next((REPEATED.get(effect.name) for effect in effects), None)
    assert fault.category == "attack" or not instance.inaction_resists
    assert fault.target == "llm" or not fault.looks_healthy
    assert hold_of(effects) == instance.held_s


@each_of_models
def test_a_fault_of_a_model_does_the_same_over_every_api(fault: type[Fault]) -> None:
    instance = fault()
    for call in CALLS:
        effects, _ = instance.effects(call, {}, KeyedRng(1, "rule"))

        assert [it.name for it in effects] == [it.name for it in done_by(instance)]


@each_of_connections
def test_a_connection_fault_explains_itself_with_its_hold(fault: type[ConnectionFault]) -> None:
    instance = fault(hold=2.5)
    words = instance.explain()

    longer = instance.gives_up_after_s - instance.retries_for_s
    assert words.startswith("is ")
    assert f"within {longer + 2.5:g} s" in words
    assert not words.endswith(".")
    assert ("within" in fault(hold=0).explain()) == bool(longer)


@each_of_connections
def test_a_connection_fault_comes_before_the_request_and_never_after(fault: type[Fault]) -> None:
    with pytest.raises(ValidationError, match=r"stage(.|\n)*'request'"):
        fault.model_validate({"stage": "response"})


@each_of_connections
@every("hold", [-1, float("nan"), 3601, True, "3", None])
def test_a_hold_that_is_not_a_time_is_refused_by_name(fault: type[Fault], hold: object) -> None:
    with pytest.raises(ValidationError, match="hold"):
        ANY.validate_python({"kind": kind_of(fault), "hold": hold})


@each_of_connections
def test_the_hold_is_three_seconds_unless_said_otherwise(fault: type[Fault]) -> None:
    assert fault().model_dump()["hold"] == 3


@each_of_exchanges
@every("stage", ["request", "response"])
def test_a_fault_explains_itself_in_one_sentence_without_its_full_stop(
    fault: type[Fault], stage: str
) -> None:
    if stage not in stages_of(fault):
        with pytest.raises(ValidationError, match="stage"):
            fault.model_validate({"stage": stage})
        return
    instance = fault.model_validate({"stage": stage})
    words = instance.explain()

    assert words.startswith("is ")
    assert ("held for" in words) == bool(instance.held_s)
    assert (f"handled by {SERVER[fault.target]}" in words) == (stage == "response")
    assert not words.endswith(".")


@each_fault
def test_a_fault_survives_being_written_down(fault: type[Fault]) -> None:
    instance = fault()

    assert ANY.validate_json(ANY.dump_json(instance)) == instance


@each_that_holds
def test_a_fault_that_holds_says_for_how_long(fault: type[Fault]) -> None:
    for stage in stages_of(fault):
        instance = fault.model_validate({"stage": stage, "delay": 2.5})

        assert "held for 2.5 s" in instance.explain()
        assert instance.held_s == hold_of(done_by(instance)) == 2.5
        assert instance.with_hold_at_most(3) == instance
        assert instance.with_hold_at_most(1).held_s == 1


@each_that_holds
def test_a_wait_can_be_shortened_to_nothing(fault: type[Fault]) -> None:
    rest = {name: 1.0 for name in fault.sizes if name != "delay"}
    instance = fault.model_validate({"delay": 0, **rest})

    assert instance == fault.model_validate({"delay": 2.5, **rest}).with_hold_at_most(0)
    assert not [effect for effect in done_by(instance) if isinstance(effect, Delay)]
    assert "held" not in instance.explain()


@each_that_holds
@every("delay", [-1, float("nan"), float("inf"), 3601, True, "10", None])
def test_a_delay_that_is_not_a_time_is_refused_by_name(fault: type[Fault], delay: object) -> None:
    with pytest.raises(ValidationError, match="delay"):
        ANY.validate_python({"kind": kind_of(fault), "delay": delay})


@each_fault
def test_an_unknown_key_is_refused_by_name(fault: type[Fault]) -> None:
    with pytest.raises(ValidationError, match="statsu"):
        ANY.validate_python({"kind": kind_of(fault), "statsu": 500})


@each_fault
def test_an_unknown_stage_is_refused_by_name(fault: type[Fault]) -> None:
    with pytest.raises(ValidationError, match="stage"):
        ANY.validate_python({"kind": kind_of(fault), "stage": "later"})


@every("kind", ["http_error", "network_error"])
@every("status", [200, 302, 399, 600, -500, True, 500.5, "500", None])
def test_a_status_that_is_not_an_error_is_refused_by_name(kind: str, status: object) -> None:
    with pytest.raises(ValidationError, match="status"):
        ANY.validate_python({"kind": kind, "status": status})


@pytest.mark.parametrize(
    ("kind", "page"),
    [("http_error", "nginks"), ("http_error", "firefox"), ("network_error", "nginx")],
)
def test_a_page_that_does_not_exist_is_refused_with_those_that_do(kind: str, page: str) -> None:
    with pytest.raises(ValidationError, match=rf"page(.|\n)*'{page}' here; allowed are \w+, \w+"):
        ANY.validate_python({"kind": kind, "page": page})


@pytest.mark.parametrize("kind", ["base", "fake_site", "../base", "", 5, None, ["http_error"]])
def test_a_file_or_value_that_is_not_a_fault_is_refused(kind: object) -> None:
    with pytest.raises(ValidationError) as caught:
        ANY.validate_python({"kind": kind})
    assert [error["type"] for error in caught.value.errors()] == ["union_tag_invalid"]


@pytest.mark.parametrize(
    ("value", "kind_of_mistake", "place"),
    [
        ({}, "union_tag_not_found", ()),
        ({"kind": "http_error", "status": 1}, "greater_than_equal", ("http_error", "status")),
        ("http_error", "model_attributes_type", ()),
    ],
)
def test_a_mistake_is_placed_as_in_a_union(
    value: object, kind_of_mistake: str, place: tuple[str, ...]
) -> None:
    with pytest.raises(ValidationError) as caught:
        ANY.validate_python(value)
    assert [(it["type"], it["loc"]) for it in caught.value.errors()] == [(kind_of_mistake, place)]


def test_a_fault_can_be_imported_from_the_package_by_its_class() -> None:
    assert getattr(faults, "HttpError") is fault_named("http_error")  # noqa: B009
    with pytest.raises(AttributeError, match="NoSuchFault"):
        getattr(faults, "NoSuchFault")  # noqa: B009


def test_an_unknown_fault_is_refused_with_those_that_exist() -> None:
    with pytest.raises(ValidationError, match="'connection_cut', 'connection_refused'"):
        ANY.validate_python({"kind": "htp_error"})


@each_fault
def test_a_size_is_a_number_and_in_the_faults_docs(fault: type[Fault]) -> None:
    defaults = fault().model_dump()
    for name in fault.sizes:
        assert isinstance(defaults[name], float)
        kind = kind_of(fault)
        assert f"| `{name}` |" in section_of(kind) or name in shared_by(kind)
