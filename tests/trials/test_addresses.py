"""Which of this machine's loopback ports a trial's command gets to."""

import socket
from collections.abc import Iterator

import pytest

from warex.trials.addresses import endpoint_maps, hosts_of, loopback_notices, loopback_ports


@pytest.fixture
def served() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def unserved() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@pytest.mark.parametrize(
    "name", ["OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", "BASE_URL", "OLLAMA_HOST"]
)
def test_a_service_that_a_variable_names_is_let_through(name: str, served: int) -> None:
    for host in ("127.0.0.1", "localhost", "[::1]"):
        assert loopback_ports((), (), {name: f"http://{host}:{served}/v1"}) == {served}


def test_a_port_on_which_nothing_listens_is_left_to_the_command(unserved: int, served: int) -> None:
    """It may start a service there for itself."""
    url = f"http://localhost:{unserved}/"
    assert loopback_ports((), (f"serve {url}",), {"SITE_URL": url}) == frozenset()
    assert loopback_ports((), (f"agent.py --site http://localhost:{served}",), {}) == {served}


def test_what_the_campaign_itself_names_is_let_through_in_any_case(unserved: int) -> None:
    assert loopback_ports((f"http://127.0.0.1:{unserved}/v1",), (), {}) == {unserved}


def test_other_variables_and_other_machines_name_no_port_of_this_one(served: int) -> None:
    variables = {"NOTE": f"http://localhost:{served}", "API_URL": f"http://model.example:{served}"}
    assert loopback_ports((), (), variables) == frozenset()


def problem_with(variables: dict[str, str], *texts: str, seen: bool = True, **named: int) -> str:
    ports = {port: name for name, port in named.items()}
    return "\n".join(loopback_notices(ports, texts, variables, seen=seen))


def test_what_is_let_through_is_reported_with_who_named_it(served: int) -> None:
    url = f"http://127.0.0.1:{served}/v1"
    let_through = f"let through to this machine's loopback: port {served}, which"
    assert problem_with({"OPENAI_BASE_URL": url}) == f"{let_through} OPENAI_BASE_URL names"
    assert problem_with({}, f"agent --url {url}") == f"{let_through} the benchmark's command names"
    assert problem_with({}, base_url=served) == "", "the campaign's own word needs no notice"


def test_a_model_that_does_not_run_is_reported(unserved: int) -> None:
    url = f"http://127.0.0.1:{unserved}/v1"
    assert problem_with({}, base_url=unserved).endswith("nothing listens there")
    assert problem_with({"OPENAI_API_BASE": url}).startswith("OPENAI_API_BASE names port")
    assert problem_with({"DATABASE_URL": url}, f"serve {url}") == ""


def test_what_goes_past_the_proxy_is_reported_with_what_to_do(served: int) -> None:
    words = problem_with({"ANTHROPIC_BASE_URL": f"http://localhost:{served}"}, seen=False)
    assert "ANTHROPIC_BASE_URL names" in words
    assert "goes past the proxy without a namespace" in words
    assert f"--map http://local.test:{served}=http://127.0.0.1:{served}" in words
    assert problem_with({"DATABASE_URL": f"pg://localhost:{served}"}, seen=False) == ""


def test_the_advice_leads_to_a_service_that_listens_on_ipv6_alone() -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as server:
        port = server.getsockname()[1]
        words = problem_with({"OPENAI_BASE_URL": f"http://[::1]:{port}/v1"}, seen=False)

    assert f"--map http://local.test:{port}=http://[::1]:{port}" in words


def test_what_a_harness_hard_codes_is_served_from_elsewhere() -> None:
    endpoints = ("https://api.openai.com/v1", "https://api.openai.com/v1/chat")
    assert endpoint_maps(endpoints, "http://127.0.0.1:8000") == [
        "https://api.openai.com=http://127.0.0.1:8000"
    ]
    assert hosts_of("http://a.example/v1", "", "https://b.example") == ("a.example", "b.example")
