"""Any command: what it gets, and how its result is read."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from tests.benchmarks.fake_environments import job_in
from warex.benchmarks import (
    AgentSpec,
    BenchmarkConfig,
    Job,
    TaskEnvironment,
    TaskResult,
    benchmark_of,
)
from warex.benchmarks.command.adapter import CommandBenchmark
from warex.errors import CampaignError, TrialVoid
from warex.proxy.certificates.ca import ensure_ca
from warex.scenarios import Scenario

AGENT = AgentSpec("a", "gpt-x", "http://127.0.0.1:1/v1", max_steps=7)
ANY: dict[str, Any] = {"command": f"{shlex.quote(sys.executable)} -c pass", "tasks": ["t", "u"]}


def bench(folder: Path = Path(), sites: Any = (), **options: Any) -> CommandBenchmark:
    table = {"name": "command", "sites": sites or {}, "options": {**ANY, **options}}
    made = benchmark_of(BenchmarkConfig.model_validate(table).relative_to(folder))
    assert isinstance(made, CommandBenchmark)
    return made


def refused(**options: Any) -> str:
    with pytest.raises(CampaignError) as caught:
        bench(**options).tasks()
    return str(caught.value)


def job(task: str, folder: Path) -> Job:
    return Job(task, AGENT, folder, folder / "scratch", 5, Path("/bin/chromium"))


def test_the_template_is_filled_in_and_split_by_no_shell(tmp_path: Path) -> None:
    command = "run --goal '{task}; rm' --id {task_id} {model} {base_url} {seed} {max_steps} {{x}}"
    made = bench(
        command=command,
        tasks=["a b"],
        environment={"WHERE": "{out}/r", "KEEP": "{scratch}"},
        cwd=str(tmp_path),
    ).command(job("a b", tmp_path), TaskEnvironment())

    assert list(made.arguments) == [
        *("run", "--goal", "a b; rm", "--id", "a b", "gpt-x", "http://127.0.0.1:1/v1", "5", "7"),
        "{x}",
    ]
    assert made.variables == {"WHERE": f"{tmp_path}/r", "KEEP": f"{tmp_path}/scratch"}
    assert made.cwd == tmp_path


def test_a_programs_relative_path_is_beside_the_campaign(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/agent").touch()
    made = bench(tmp_path, command="bin/agent x").command(job("t", tmp_path), TaskEnvironment())

    assert made.arguments[0] == str(tmp_path / "bin/agent")


@pytest.mark.parametrize(
    ("name", "content", "names"),
    [
        ("t.txt", "one\n\n two \n", {"one": "one", "two": "two"}),
        (
            "t.jsonl",
            '{"id": 1, "ques": "who?"}\n{"id": 2, "ques": "what?"}\n',
            {"1": "who?", "2": "what?"},
        ),
        ("t.json", '[{"id": "x", "ques": "who?"}]', {"x": "who?"}),
        ("t.json", '{"x": {"ques": "who?"}}', {"x": "who?"}),
    ],
)
def test_tasks_are_read_from_lines_jsonl_and_json(
    tmp_path: Path, name: str, content: str, names: dict[str, str]
) -> None:
    (tmp_path / name).write_text(content)
    made = bench(tmp_path, command="c {task}", tasks={"file": name, "text": "ques"})

    assert made.tasks() == tuple(names)
    for task, text in names.items():
        assert made.command(job(task, tmp_path), TaskEnvironment()).arguments[1] == text


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"id": 1}\n{"id": 1}\n', "line 2: the task '1' is listed twice"),
        ('{"name": 1}\n', "line 1: 'id': no 'id' there, since the document holds name"),
        ("{\n", "line 1 is not JSON: Expecting"),
        ("\n", "t.jsonl holds no task: it has no line but blank ones; write on each"),
    ],
)
def test_a_file_of_no_tasks_is_reported_where(tmp_path: Path, content: str, says: str) -> None:
    (tmp_path / "t.jsonl").write_text(content)

    assert says in refused(tasks={"file": str(tmp_path / "t.jsonl")})


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"command": "run {tsk}"}, "no placeholder 'tsk'; did you mean 'task'?"),
        ({"command": "run 'x"}, "cannot be split as a shell would"),
        ({"command": " "}, "the command is empty"),
        ({"environment": {"A": "{b}"}}, "no placeholder 'b'"),
        ({"cwd": "{dir}"}, "no placeholder 'dir'"),
        ({"environment": {"A=B": "c"}}, "not a name of a variable"),
        ({"command": ["run", "a\0b"]}, "a zero byte"),
        ({"tasks": []}, "holds no task"),
        ({"never": ["/config"]}, "matches no URL"),
        ({"result": {"file": "{seed}.json", "json": "a"}}, "{seed} is not known"),
        ({"result": {"file": "{scratch}/r.json", "json": "a"}}, "{scratch} is not known"),
        ({"result": {"file": "/var/r.json", "json": "a"}}, "must lie in {out}"),
        ({"result": {"file": "{out}/../r.json", "json": "a"}}, "must lie in {out}"),
        ({"result": {"json": "a..b"}}, "is not a path into JSON"),
        ({"result": {"regex": "("}}, "is not a regular expression"),
        ({"result": {"file": "x"}}, "give either json, a path, or regex, a pattern"),
        ({"result": {"regex": "x", "answer": "a"}}, "answer is a path into JSON"),
        ({"expect": ""}, "expect: it is empty; give the text"),
        ({"vocabulary": {"retry": ["reload"]}}, "recover must name too"),
        ({"arm": "later"}, "first_llm_call"),
        ({"tasks": ["t", "t"]}, "'t' is listed twice"),
        ({"tasks": ["t", "a\0b"]}, "tasks: 'a\\x00b' holds a NUL"),
        ({"tasks": {"file": "none.jsonl"}}, "none.jsonl cannot be read: No such file"),
        ({"comand": "x"}, "no key 'comand' here; did you mean 'command'"),
    ],
)
def test_every_mistake_is_reported_at_load(options: dict[str, Any], says: str) -> None:
    assert says in refused(**options)


def result_of(folder: Path, code: int | None = 0, **options: Any) -> TaskResult:
    return bench(**options).read(job_in(folder, "t"), TaskEnvironment(), code)


@pytest.mark.parametrize(
    ("value", "success", "score"),
    [
        (True, None, 1.0),
        (False, None, 0.0),
        (0.4, None, 0.4),
        (7, None, 1.0),
        ("PASS", "pass", 1.0),
        ("FAIL", "PASS", 0.0),
        ("true", True, 1.0),
        (0.7, {"at_least": 0.6}, 1.0),
        (0.5, {"at_least": 0.6}, 0.0),
        (3, 3, 1.0),
        (None, None, 0.0),
        (None, 0, 0.0),
        (None, {"at_least": 0}, 0.0),
        ("True", None, 1.0),
        ("false", None, 0.0),
    ],
)
def test_a_json_result_is_scored(tmp_path: Path, value: Any, success: Any, score: float) -> None:
    (tmp_path / "r.json").write_text(json.dumps({"r": [value], "said": "42"}))
    reader = {"file": "{out}/r.json", "json": "r[0]", "answer": "said"}

    came = result_of(tmp_path, result=reader, success=success)

    assert came == TaskResult("answered", score, "42")


@pytest.mark.parametrize(
    ("log", "regex", "score"),
    [
        ("score: 0.2\nscore: 0.9\n", r"^score: ([\d.]+)$", 0.9),
        ("it PASSED\n", "PASSED", 1.0),
        ("it FAILED\n", "PASSED", 0.0),
    ],
)
def test_a_pattern_is_looked_for_in_what_it_printed(
    tmp_path: Path, log: str, regex: str, score: float
) -> None:
    (tmp_path / "agent.log").write_text(log)

    assert result_of(tmp_path, result={"regex": regex}).score == score


@pytest.mark.parametrize("success", [0, {"at_least": -1}, "0"])
def test_a_value_that_was_never_printed_is_not_a_success(tmp_path: Path, success: Any) -> None:
    (tmp_path / "agent.log").write_text("it broke before it counted\n")

    assert result_of(tmp_path, result={"regex": r"errors: (\d+)"}, success=success).score == 0.0
    assert result_of(tmp_path, result={"regex": "ERROR"}, success=False).score == 1.0


@pytest.mark.parametrize(
    ("code", "ending", "score"),
    [
        (0, "answered", 1.0),
        (1, "answered", 0.0),
        (2, "harness_crashed", 0.0),
        (None, "time_limit", 0.0),
    ],
)
def test_without_a_place_the_exit_code_says_it(
    tmp_path: Path, code: int | None, ending: str, score: float
) -> None:
    came = result_of(tmp_path, code)

    assert (came.ending, came.score) == (ending, score)


@pytest.mark.parametrize("content", [None, "{", '{"other": 1}'])
def test_a_result_that_is_missing_or_broken_is_a_crash(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "r.json").write_text(content)
    reader = {"file": "r.json", "json": "r"}

    assert result_of(tmp_path, result=reader).ending == "harness_crashed"
    assert result_of(tmp_path, 3, result=reader).reasons == ("it ended with code 3",)
    assert result_of(tmp_path, None, result=reader) == TaskResult("time_limit", 0.0)


@pytest.mark.parametrize("options", [{}, {"result": {"file": "r.json", "json": "r"}}])
def test_a_crash_ends_with_what_the_command_printed_last(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    (tmp_path / "agent.log").write_text("usage: agent.py\nunknown option: --gaol\n")

    crash = result_of(tmp_path, 3, **options)
    assert crash.reasons == ("it ended with code 3, after it said: unknown option: --gaol",)


@pytest.mark.parametrize("value", ['"maybe"', "NaN", '"nan"', "[1]"])
def test_a_value_that_says_neither_asks_for_what_success_is(tmp_path: Path, value: str) -> None:
    (tmp_path / "r.json").write_text(f'{{"r": {value}}}')

    with pytest.raises(TrialVoid, match=r"say in benchmark\.options\.success"):
        result_of(tmp_path, result={"file": "r.json", "json": "r"})


def test_sites_that_are_elsewhere_are_mapped_and_need_the_proxy(tmp_path: Path) -> None:
    sites = {"https://a.example": "http://127.0.0.1:1", "https://b.example": "https://b.example"}
    made = bench(sites=sites)
    with made.start_environment(
        "t", tmp_path, ensure_ca(tmp_path / "ca"), direct=False
    ) as environment:
        assert environment.maps == ("https://a.example=http://127.0.0.1:1",)

    assert made.sites("t") == tuple(sites)
    made.validate(("t",), (AGENT,))
    with pytest.raises(CampaignError, match=r"'no-proxy': https://a\.example is served from"):
        made.validate(("t",), (AGENT,), direct=True)


def test_a_site_may_be_a_folder_of_pages(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<p>tea")
    made = bench(sites={"https://a.example": str(tmp_path)})
    made.validate(("t",), (AGENT,))
    with made.start_environment(
        "t", tmp_path, ensure_ca(tmp_path / "ca"), direct=False
    ) as environment:
        (served,) = environment.maps
        site, _, origin = served.partition("=")
        with urlopen(origin, timeout=30) as answer:
            assert (site, answer.read()) == ("https://a.example", b"<p>tea")

    with pytest.raises(CampaignError, match="which is neither a folder nor an origin"):
        bench(sites={"https://a.example": str(tmp_path / "none")}).validate(("t",), (AGENT,))
    with pytest.raises(CampaignError, match=r"'no-proxy': https://a\.example is served from"):
        made.validate(("t",), (AGENT,), direct=True)


def test_what_cannot_run_is_reported_before_anything_does(tmp_path: Path) -> None:
    alone = AgentSpec("b", "gpt-x")
    cases: tuple[tuple[dict[str, Any], str], ...] = (
        ({"command": "no-such-program-of-warex"}, "is not a program that runs"),
        ({"cwd": str(tmp_path / "none")}, "there is no folder"),
        ({"command": f"{shlex.quote(sys.executable)} {{base_url}}"}, "agent 'b' gives no base_url"),
    )
    for options, says in cases:
        with pytest.raises(CampaignError, match=says):
            bench(**options).validate(("t",), (alone,))
    with pytest.raises(CampaignError, match="would do the same for all 2 tasks"):
        bench().validate(("t", "u"), (AGENT,))
    with pytest.raises(CampaignError, match=r"the path of base_url must be /api/v1, as in"):
        bench(endpoints=["https://openrouter.ai/api/v1"]).validate(("t",), (AGENT,))
    shown = AgentSpec("a", "gpt-x", observation=("axtree", "html"))
    bench(command=f"{shlex.quote(sys.executable)} {{observation}}").validate(("t",), (shown,))
    with pytest.raises(CampaignError, match=r"write \{observation\} there, or leave the key out"):
        bench().validate(("t",), (shown,))


def test_the_table_says_the_rest() -> None:
    made = bench(
        never=["*/judge"],
        verifiers=["python-requests/"],
        endpoints=["https://api.openai.com/v1"],
        keys=["MY_KEY"],
        vocabulary={"recover": ["goto"], "finish": ["stop"]},
        arm="first_page",
    )

    assert made.exclusions("t") == ("*/judge",)
    assert made.judge_user_agents == ("python-requests/",)
    assert made.endpoints(AGENT) == ("https://api.openai.com/v1",)
    assert made.api_key_variables == ("MY_KEY",)
    assert made.vocabulary.names == {"goto", "stop"}
    assert made.arm(Scenario(name="s"), "t") == "first_page"
    assert made.arm(Scenario(name="s", arm="start"), "t") == "start"
    assert bench().arm(Scenario(name="s"), "t") == "first_page_or_llm_call"


def test_a_task_brings_its_own_expectation_and_reset_or_has_the_options(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(
        '{"id": "a", "expect": "alpha", "reset": "true {task_id}"}\n{"id": "b"}\n'
    )
    (tmp_path / "agent.log").write_text("it is Alpha\n")
    tables = [{"id": "a", "expect": "alpha", "reset": "true {task_id}"}, "b"]
    for tasks in ({"file": "t.jsonl"}, tables):
        made = bench(tmp_path, tasks=tasks, expect={"text": "beta"}, reset="false")
        came = {
            task: made.score_after_trial(
                job_in(tmp_path, task),
                made.read(job_in(tmp_path, task), TaskEnvironment(), 0),
                None,
            )
            for task in made.tasks()
        }

        assert {task: result.score for task, result in came.items()} == {"a": 1.0, "b": 0.0}
        assert came["b"].reasons == ("'beta' is not in the answer (all that the command printed)",)
        with made.start_environment("a", tmp_path, ensure_ca(tmp_path / "ca"), direct=False):
            pass
        with (
            pytest.raises(TrialVoid, match="the site was not reset: the command ended with code 1"),
            made.start_environment("b", tmp_path, ensure_ca(tmp_path / "ca"), direct=False),
        ):
            pass


def test_a_result_that_names_the_answer_alone_goes_with_what_is_expected(tmp_path: Path) -> None:
    answers = {"file": "r.json", "answer": "said"}
    (tmp_path / "r.json").write_text(json.dumps({"said": {"price": 42}}))
    made = bench(result=answers, expect="42")
    made.validate(("t",), ())
    job = job_in(tmp_path, "t")
    came = made.score_after_trial(job, made.read(job, TaskEnvironment(), 0), None)

    assert (came.score, came.answer) == (1.0, '{"price": 42}')
    with pytest.raises(
        CampaignError, match="names the answer alone, and nothing says when task 't'"
    ):
        bench(result=answers).validate(("t",), ())


@pytest.mark.parametrize("answer", [{"answer": "said"}, {}])
def test_what_is_expected_is_in_the_answer_that_the_result_names(
    tmp_path: Path, answer: dict[str, str]
) -> None:
    (tmp_path / "agent.log").write_text("the goal: find 42\n")
    (tmp_path / "r.json").write_text('{"r": "41", "said": "42"}')
    made = bench(result={"file": "r.json", "json": "r", **answer}, expect="42")

    job = job_in(tmp_path, "t")
    came = made.score_after_trial(job, made.read(job, TaskEnvironment(), 0), None)

    assert came.score == float(bool(answer))


def test_a_crash_stays_a_crash_if_something_is_expected(tmp_path: Path) -> None:
    (tmp_path / "agent.log").write_text("42\n")
    made = bench(expect="42")

    job = job_in(tmp_path, "t")
    came = made.score_after_trial(job, made.read(job, TaskEnvironment(), 3), None)

    assert (came.ending, came.score) == ("harness_crashed", 0.0)


def test_a_reset_or_a_page_that_cannot_be_is_reported_before_anything_runs() -> None:
    with pytest.raises(
        CampaignError, match="the reset of task 't': 'no-such-program' is not a prog"
    ):
        bench(reset="no-such-program x").validate(("t",), (AGENT,))
    with pytest.raises(CampaignError, match="'no-proxy': task 't' expects a URL"):
        bench(expect={"url": "*"}).validate(("t",), (AGENT,), direct=True)
