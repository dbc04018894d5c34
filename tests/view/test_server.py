"""The viewer's server, asked as a browser and as an attacker would."""

import json
from pathlib import Path

import pytest
from pydantic import JsonValue
from starlette.testclient import TestClient

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.view.documents import Documents
from warex.view.server import application

TOKEN = "secret"
PORT = 4711
HOST = {"host": f"127.0.0.1:{PORT}"}
ATTACK = "<script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = RunFolder(tmp_path).manifest()
    messages: JsonValue = [{"role": "user", "content": f"Buy it. {ATTACK}"}]
    clean = Story().thinks(1, "goto", messages=messages).page("x1").thinks(2, "click").stops()
    faulted = Story().thinks(1, "goto").fault(1).thinks(2, "report_infeasible").stops()
    folder.trial("clean", "add", solved(), clean)
    folder.trial("server-error", "add", failed(), faulted)
    return tmp_path


@pytest.fixture
def client(run: Path) -> TestClient:
    served = application(Documents([run]), TOKEN, PORT)
    return TestClient(served, base_url=f"http://127.0.0.1:{PORT}", raise_server_exceptions=False)


def ids(client: TestClient) -> dict[str, str]:
    rows = client.get(f"/{TOKEN}/data/run/0").json()["trials"]
    return {row["condition"]: row["id"] for row in rows}


def test_a_run_its_trials_and_a_pair_are_served(client: TestClient) -> None:
    names = ids(client)
    trial = client.get(f"/{TOKEN}/data/trial/0/{names['server-error']}").json()
    pair = client.get(f"/{TOKEN}/data/pair/0/{names['clean']}/0/{names['server-error']}").json()

    assert trial["twin"] == names["clean"]
    assert [step["actions"] for step in trial["steps"]] == [["goto()"], ["report_infeasible()"]]
    assert [(fault["kind"], fault["fate"]) for fault in trial["faults"]] == [
        ("http_error", "delivered")
    ]
    assert (pair["equal_steps"], pair["place"]) == (1, "at_fault")


def test_every_line_of_a_trace_is_served_unchanged(client: TestClient, run: Path) -> None:
    name = ids(client)["clean"]
    (trace,) = run.glob("trials/*/*/clean/*/1/attempt-1/events.jsonl")

    lines = client.get(f"/{TOKEN}/data/raw/0/{name}/0").json()

    assert lines == trace.read_text().splitlines(keepends=True)


def test_a_text_is_searched_for_in_the_traces(client: TestClient) -> None:
    names = ids(client)

    def search(text: str) -> object:
        return client.get(f"/{TOKEN}/data/search/0", params={"q": text}).json()

    assert search("BUY it") == {"trials": [names["clean"]], "note": ""}
    assert search("nowhere") == {"trials": [], "note": ""}
    assert search("") == {"error": "A search needs a text: search/RUN?q=TEXT."}


def test_figures_are_computed_where_no_summary_is_written(client: TestClient) -> None:
    quick = client.get(f"/{TOKEN}/data/run/0").json()
    full = client.get(f"/{TOKEN}/data/figures/0").json()

    assert (quick["has_figures"], full["has_figures"]) == (False, True)
    assert [row["condition"] for row in full["conditions"]] == ["clean", "server-error"]


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/wrong/", "/wrong/data/runs", f"/{TOKEN}/source.txt", f"/{TOKEN}/../server.py"),
        f"/{TOKEN}/data/run/7",
        f"/{TOKEN}/data/run/x",
        f"/{TOKEN}/data/trial/0/unknown",
        f"/{TOKEN}/data/nothing",
        f"/{TOKEN}/data/blob/0/unknown/sha256/{'0' * 64}",
    ],
)
def test_what_does_not_exist_or_is_not_allowed_is_not_found(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"host": f"attacker.example:{PORT}"},
        {"host": "127.0.0.1:1"},
        {**HOST, "origin": "https://attacker.example"},
        {**HOST, "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
    ],
)
def test_another_site_is_refused(client: TestClient, headers: dict[str, str]) -> None:
    assert client.get(f"/{TOKEN}/data/runs", headers=headers).status_code == 403


def test_nothing_of_a_run_is_sent_as_a_page(client: TestClient) -> None:
    name = ids(client)["clean"]
    answers = [
        client.get(f"/{TOKEN}/{path}")
        for path in ("", "data/run/0", f"data/trial/0/{name}", f"data/raw/0/{name}/0")
    ]

    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert ATTACK in json.dumps(answers[2].json())
    assert all(one.headers["content-type"] == "application/json" for one in answers[1:])
