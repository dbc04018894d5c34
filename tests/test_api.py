"""`warex.intercept`: a proxy for the duration of a block, separate from every other."""

import asyncio
import gc
import logging
import os
import signal
import ssl
import subprocess
import sys
import textwrap
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import warex
from tests.proxy.support.lanes import wait_until
from tests.proxy.support.origin import Origin, served
from warex import api
from warex.errors import InputError, MachineError, ScenarioError, TrialVoid
from warex.faults.server.http_error import HttpError
from warex.llm.defences import Defence
from warex.scenarios import Rule, Scenario, Trigger
from warex.traces import Unscored, read_outcome

SITE = "https://shop.example"

FIRST_500 = {"name": "first", "trigger": {"first": 1}, "fault": {"kind": "http_error"}}


@pytest.fixture(scope="module", autouse=True)
def _own_ca(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WAREX_CA_DIR", str(tmp_path_factory.mktemp("authority") / "ca"))
        yield


@pytest.fixture(scope="module")
def maps() -> Iterator[dict[str, str]]:
    with served() as origin:
        yield {SITE: at(origin)}


def at(origin: Origin) -> str:
    return f"http://127.0.0.1:{origin.port}"


def ask(proxy: warex.Interception, url: str = f"{SITE}/") -> int:
    """Fetch a page and return its status."""
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({"https": proxy.url}),
        urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=str(proxy.ca))),
    )
    request = urllib.request.Request(url, headers={"Sec-Fetch-Dest": "document"})
    try:
        with opener.open(request, timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def rules(*more: dict[str, Any]) -> dict[str, Any]:
    return {"rules": list(more or [FIRST_500])}


# --- the block -----------------------------------------------------------------------------------


@pytest.mark.wire
@pytest.mark.parametrize(
    "scenario",
    [
        "paper/server-error",
        rules(),
        Scenario(name="mine", rules=(Rule(name="r", trigger=Trigger(first=1), fault=HttpError()),)),
        {"failure_type": "server_error", "frequency": 0},
    ],
    ids=["preset", "dict", "object", "paper"],
)
def test_every_way_to_write_a_scenario_hits(scenario: Any, maps: dict[str, str]) -> None:
    with warex.intercept(scenario, maps=maps) as proxy:
        assert [ask(proxy), ask(proxy)] == [500, 200]


@pytest.mark.wire
def test_the_ledger_is_live_and_outlives_the_block(maps: dict[str, str]) -> None:
    with warex.intercept(rules(), maps=maps) as proxy:
        assert proxy.ledger == []
        ask(proxy)
        (injection,) = live = proxy.ledger
        assert proxy.requests[0].url == f"{SITE}/"
        ask(proxy)

    assert (injection.rule, injection.kind, injection.url, injection.ordinal, injection.state) == (
        "first",
        "http_error",
        f"{SITE}/",
        1,
        "delivered",
    )
    assert proxy.ledger == live
    assert len(proxy.requests) == 2
    assert proxy.llm_calls == []


@pytest.mark.wire
@pytest.mark.parametrize("defence", ["refresh", Defence(name="mine", text="Look twice.")])
def test_a_defence_is_in_the_calls(defence: Any, maps: dict[str, str]) -> None:
    with warex.intercept(defence=defence, maps=maps) as proxy:
        asked = {"model": "m", "messages": [{"role": "user", "content": "what now?"}]}
        httpx.post(
            f"{SITE}/v1/chat/completions",
            json=asked,
            proxy=proxy.url,
            verify=ssl.create_default_context(cafile=str(proxy.ca)),
        )

    (call,) = proxy.llm_calls
    text = defence.text if isinstance(defence, Defence) else "Refresh the page when"
    assert isinstance(call.messages, list)
    assert text in str(call.messages[0])


@pytest.mark.wire
def test_an_injection_that_does_not_arrive_is_missed(maps: dict[str, str]) -> None:
    cut = {"name": "cut", "trigger": {"always": True}, "fault": {"kind": "connection_cut"}}
    with warex.intercept(rules(FIRST_500, cut), maps=maps) as proxy:
        ask(proxy)

    assert [(i.rule, i.state, i.reason) for i in proxy.ledger] == [
        ("first", "delivered", None),
        ("cut", "missed", "superseded"),
    ]


@pytest.mark.wire
def test_without_a_scenario_nothing_is_hit(maps: dict[str, str]) -> None:
    with warex.intercept(maps=[f"{SITE}={maps[SITE]}"]) as proxy:
        assert ask(proxy) == 200
        assert proxy.ledger == []


@pytest.mark.wire
def test_the_trace_stays_where_it_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, maps: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with warex.intercept(None, out="trial", maps=maps) as proxy:
        ask(proxy)

    assert (tmp_path / "trial" / "events.jsonl").exists()
    assert read_outcome(tmp_path / "trial") == Unscored()
    with (
        pytest.raises(InputError, match="already holds a trace"),
        warex.intercept(None, out="trial"),
    ):
        pass


@pytest.mark.wire
def test_temporary_files_go_away_with_the_object(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with warex.intercept() as proxy:
        assert proxy.bundle.parent.parent == tmp_path
    assert proxy.trace.entries

    del proxy
    gc.collect()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.wire
def test_a_block_that_cannot_begin_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "file").touch()
    with (
        pytest.raises(MachineError, match="cannot be written"),
        warex.intercept(out=tmp_path / "file" / "trial"),
    ):
        pass

    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.wire
def test_one_object_is_for_one_block() -> None:
    interceptor = warex.intercept()
    with interceptor:
        pass

    with pytest.raises(InputError, match=r"call warex\.intercept"), interceptor:
        pass


# --- steering it ---------------------------------------------------------------------------------


@pytest.mark.wire
def test_tasks_arming_and_single_faults_are_at_hand(maps: dict[str, str]) -> None:
    with warex.intercept(rules(), maps=maps) as proxy:
        proxy.disarm()
        assert ask(proxy) == 200
        proxy.arm()
        assert [ask(proxy), ask(proxy)] == [500, 200]
        with proxy.task("again", seed=3):
            assert ask(proxy) == 500
        assert ask(proxy) == 200
        proxy.arm()
        proxy.plan({"kind": "http_error", "status": 503}, {"url": f"{SITE}/*"}, name="mine")
        assert [ask(proxy), ask(proxy)] == [503, 200]

    assert [injection.rule for injection in proxy.ledger] == ["first", "first", "mine"]


@pytest.mark.wire
def test_an_impossible_fault_is_reported_in_a_sentence() -> None:
    with warex.intercept() as proxy, pytest.raises(InputError, match=r"control API, /faults.*kind"):
        proxy.plan({"kind": "flood"})


@pytest.mark.wire
def test_a_call_that_cannot_be_made_is_reported_in_a_sentence() -> None:
    with warex.intercept() as proxy:
        for wrong in ("x", ["kind"], None):
            with pytest.raises(InputError, match=r"plan\(…\): the fault .* is not a dict"):
                proxy.plan(wrong)  # type: ignore[arg-type]
        with pytest.raises(InputError, match=r"the match 'x' is not a dict"):
            proxy.plan({"kind": "http_error"}, "x")  # type: ignore[arg-type]
        for name in ("", " ", "a\0b", "\ud800", "x" * 201, 7):
            with pytest.raises(InputError, match="a task's name is 1 to 200 printable"):
                proxy.task(name).__enter__()  # type: ignore[arg-type]
        methods: dict[str, tuple[Any, ...]] = {"arm": (), "disarm": (), "plan": ({},)}
        for name, arguments in (methods | {"task": ("t",), "episode": ("t",)}).items():
            with pytest.raises(InputError, match=rf"{name}\(…\): .* argument 'x'; it is {name}"):
                getattr(proxy, name)(*arguments, x=1)
        with pytest.raises(InputError, match=r"episode\(…, out=3\): it is not a path"):
            proxy.episode("t", out=3)  # type: ignore[arg-type]

    for call in (proxy.arm, proxy.disarm, proxy.task("t").__enter__):
        with pytest.raises(InputError, match="this interception has ended"):
            call()
    with pytest.raises(InputError, match=r"plan\(…\): this interception has ended"):
        proxy.plan({"kind": "http_error"})


# --- failing closed ------------------------------------------------------------------------------


@pytest.mark.wire
def test_a_proxy_that_died_voids_the_block() -> None:
    with pytest.raises(TrialVoid, match="died before"), warex.intercept() as proxy:
        kill(proxy)


@pytest.mark.wire
def test_a_dead_proxy_does_not_hide_another_exception() -> None:
    def fail() -> None:
        with warex.intercept() as proxy, proxy.task("t"):
            kill(proxy)
            raise KeyError("mine")

    with pytest.raises(KeyError) as caught:
        fail()

    assert caught.value.__notes__ == [
        "the trial is also void: the proxy died before the trial's end"
    ]


def kill(proxy: warex.Interception) -> None:
    os.kill(proxy._proxy.pid, signal.SIGKILL)
    wait_until(lambda: proxy.broken)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"scenario": "paper/nothing"}, "there is no scenario 'paper/nothing'"),
        ({"scenario": 7}, "a scenario is a preset's name, a file"),
        ({"scenario": {"rules": [{"name": "x"}]}}, "given as a dict.*\n.*rule"),
        ({"scenario": {"rules": [object()]}}, "given as a dict cannot be written as JSON"),
        ({"scenario": {"failure_type": "flood"}}, "given as a dict.*flood"),
        ({"maps": {SITE: "nowhere"}}, "not a mapping of one origin to another"),
        ({"maps": f"{SITE}"}, "not a mapping of one origin to another"),
        ({"sites": "shop.example"}, r"sites=…\): 'shop.example' is not an origin"),
        ({"pass_through": ["a b"]}, "'a b' is not a host"),
        ({"pass_through": 3}, r"pass_through=3\): 3 is not text"),
        ({"maps": 3}, r"maps=3\): 3 is not text"),
        ({"sites": [3]}, r"sites=…\): 3 is not text"),
        ({"out": 3}, r"out=3\): it is not a path"),
        ({"out": "a\0b"}, r"out='a.x00b'\): it is not a path"),
        ({"arm": "later"}, r"arm='later'\): Input should be 'start'"),
        ({"upstream": "proxy"}, r"upstream='proxy'\): 'proxy' is not a proxy"),
        ({"seed": "one"}, r"seed='one'\)"),
        (
            {"site": SITE},
            r"site=…\): there is no option 'site'; did you mean 'sites'",
        ),
        ({"zzz": 1}, r"there is no option 'zzz'; there are arm, .*upstream"),
    ],
)
def test_impossible_arguments_are_refused_in_a_sentence(
    options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        warex.intercept(**options)


MAKERS = {
    "Frames": r"^Frames\(…\): .*'sed'; warex\.load_run\(…\) makes one",
    "Injection": r"^Injection\(…\): .*'sed'; the ledger of warex\.intercept\(…\) makes one",
    "Interception": r"^Interception\(…\): .*'sed'; entering the block of warex\.intercept",
    "Interceptor": r"^Interceptor\(…\): .*'sed'; warex\.intercept\(…\) makes one",
    "intercept": r"^intercept\(…, sed=…\): .*'sed'; did you mean 'seed'\?",
    "load_run": r"^load_run\(…\): .*'sed'; it is load_run\(path\)",
}


@pytest.mark.parametrize("name", warex.__all__)
def test_every_name_of_the_api_refuses_a_wrong_keyword_in_a_sentence(name: str) -> None:
    with pytest.raises(InputError, match=MAKERS[name]):
        getattr(warex, name)(sed=1)


def test_a_scenario_given_to_the_wrong_class_names_the_right_function() -> None:
    with pytest.raises(InputError, match=r"call warex\.intercept\('paper/server-error'\)"):
        warex.Interceptor("paper/server-error")  # type: ignore[arg-type]


def test_a_scenario_that_is_wrong_is_a_scenario_error() -> None:
    with pytest.raises(ScenarioError):
        warex.intercept({"rules": [{}]})


# --- side by side --------------------------------------------------------------------------------


@pytest.mark.wire
def test_two_concurrent_interceptions_are_independent(maps: dict[str, str]) -> None:
    other = {**FIRST_500, "name": "other", "fault": {"kind": "http_error", "status": 503}}
    with (
        warex.intercept(rules(), maps=maps) as one,
        warex.intercept(rules(other), maps=maps) as two,
    ):
        assert [ask(one), ask(two), ask(one), ask(two)] == [500, 503, 200, 200]
        assert [[i.rule for i in proxy.ledger] for proxy in (one, two)] == [["first"], ["other"]]


@pytest.mark.wire
def test_threads_have_blocks_of_their_own(maps: dict[str, str]) -> None:
    def run(_: int) -> list[int]:
        with warex.intercept(rules(), maps=maps) as proxy:
            return [ask(proxy), ask(proxy)]

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(run, range(8))) == [[500, 200]] * 8


@pytest.mark.wire
async def test_async_with_takes_the_same_object(maps: dict[str, str]) -> None:
    async with warex.intercept(rules(), maps=maps) as proxy:
        assert await asyncio.to_thread(ask, proxy) == 500
        assert [injection.state for injection in proxy.ledger] == ["delivered"]

    with pytest.raises(TrialVoid):
        async with warex.intercept() as proxy:
            kill(proxy)


@pytest.mark.wire
async def test_the_plain_form_works_under_a_running_event_loop(maps: dict[str, str]) -> None:
    with warex.intercept(rules(), maps=maps) as proxy:
        assert await asyncio.to_thread(ask, proxy) == 500


@pytest.mark.wire
async def test_entering_that_is_cancelled_leaves_no_proxy() -> None:
    async with warex.intercept():
        pass  # The forkserver is warm from here on.

    entering = asyncio.create_task(warex.intercept().__aenter__())
    await asyncio.sleep(0)
    entering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await entering

    process = api._forkserver()._process
    assert process is not None
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    wait_until(lambda: not children.read_text())


@pytest.mark.slow
@pytest.mark.wire
def test_a_script_without_a_main_check_and_its_forks_run_once(maps: dict[str, str]) -> None:
    script = f"""
        import os, warex
        print("begins", flush=True)
        with warex.intercept({rules()!r}, maps={maps!r}) as proxy:
            print("outer", proxy.url == proxy.env["HTTPS_PROXY"], flush=True)
        if (child := os.fork()) == 0:
            with warex.intercept() as proxy:
                print("fork", proxy.ledger, flush=True)
            raise SystemExit
        os.waitpid(child, 0)
        with warex.intercept() as proxy:
            print("after", proxy.ledger, flush=True)
    """
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "ignore::DeprecationWarning", "-"],
        input=textwrap.dedent(script),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["begins", "outer True", "fork []", "after []"]


@pytest.mark.slow
@pytest.mark.wire
def test_files_in_the_callers_folder_are_not_imported(tmp_path: Path) -> None:
    script, folder = tmp_path / "script.py", tmp_path / "folder"
    folder.mkdir()
    (folder / "h11.py").write_text("raise SystemExit('the wrong one')")
    script.write_text("import warex\nwith warex.intercept() as proxy: print(proxy.ledger)")
    command = [sys.executable, str(script)]

    assert subprocess.check_output(command, cwd=folder, text=True, timeout=60) == "[]\n"


# --- clients -------------------------------------------------------------------------------------


@pytest.mark.wire
def test_a_program_in_the_environment_comes_through(maps: dict[str, str]) -> None:
    program = "import sys, urllib.request as r; print(r.urlopen(sys.argv[1]).read().decode())"
    with warex.intercept(maps=maps) as proxy:
        command = [sys.executable, "-c", program, f"{SITE}/by-environment"]
        output = subprocess.check_output(command, env=proxy.env, text=True, timeout=60)

    assert output.strip() == "hello"
    assert [request.url for request in proxy.requests] == [f"{SITE}/by-environment"]


@pytest.mark.wire
def test_what_the_proxy_has_to_say_is_logged_and_kept(caplog: pytest.LogCaptureFixture) -> None:
    with (
        caplog.at_level(logging.WARNING, "warex"),
        warex.intercept(maps={SITE: "http://127.0.0.1:9"}) as proxy,
    ):
        with pytest.raises(OSError, match=r"."):
            ask(proxy)
        wait_until(lambda: proxy.notices)

    assert proxy.notices == caplog.messages
    assert "127.0.0.1" in proxy.notices[0]


@pytest.mark.wire
def test_selenium_that_does_not_exist_is_named_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "selenium.webdriver", None)
    with warex.intercept() as proxy, pytest.raises(MachineError, match="pip install selenium"):
        _ = proxy.selenium_options


# --- what it costs -------------------------------------------------------------------------------


def test_importing_the_package_loads_next_to_nothing() -> None:
    command = [sys.executable, "-X", "importtime", "-c", "import warex"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}

    assert "warex" in loaded
    assert not loaded & {"pydantic", "mitmproxy", "click", "asyncio"}


def test_the_package_names_what_there_is_and_nothing_else() -> None:
    assert warex.intercept is api.intercept
    assert all(hasattr(warex, name) for name in warex.__all__)
    assert sorted(warex.__all__) == dir(warex)
    with pytest.raises(AttributeError, match="'surprise'"):
        _ = warex.surprise


# --- episodes ------------------------------------------------------------------------------------


@pytest.mark.wire
def test_episodes_run_beside_each_other_in_one_process(maps: dict[str, str]) -> None:
    with (
        warex.intercept(None, maps=maps) as proxy,
        proxy.episode("faulted", rules(), seed=3) as faulted,
        proxy.episode("clean") as clean,
    ):
        assert len({proxy.url, faulted.url, clean.url}) == 3
        assert [ask(it) for it in (faulted, faulted, clean, proxy)] == [500, 200, 200, 200]
        assert [it.state for it in faulted.ledger] == ["delivered"]
        clean.plan({"kind": "http_error", "status": 503})
        assert [ask(it) for it in (faulted, proxy, clean)] == [200, 200, 503]
        with clean.task("again"), pytest.raises(InputError, match="beside the process's own"):
            clean.episode("within").__enter__()
    trials = (proxy, faulted, clean)
    assert [len(it.requests) for it in trials] == [2, 3, 2]
    assert [len(it.ledger) for it in trials] == [0, 1, 1]
    assert {it.out for it in (faulted, clean)} == {
        proxy.out / "episodes" / name for name in ("faulted", "clean")
    }
    assert [it.broken for it in trials] == [None] * 3


@pytest.mark.wire
async def test_an_episode_ends_with_its_block_even_after_an_error(
    maps: dict[str, str], tmp_path: Path
) -> None:
    with warex.intercept(None, maps=maps) as proxy:
        begun: list[warex.Interception] = []

        async def fails() -> None:
            async with proxy.episode("a", rules(), out=tmp_path / "a") as running:
                begun.append(running)
                assert await asyncio.to_thread(ask, running) == 500
                raise KeyError

        with pytest.raises(KeyError):
            await fails()
        (episode,) = begun
        assert isinstance(read_outcome(tmp_path / "a"), Unscored)
        assert len(episode.requests) == 1
        with pytest.raises(InputError, match="this interception has ended"):
            episode.arm()
        with pytest.raises(InputError, match="its rule 'first' cannot hit 2 times as hard"):
            proxy.episode("a", rules(), intensity=2).__enter__()
    with pytest.raises(InputError, match="this interception has ended"):
        proxy.episode("late").__enter__()
