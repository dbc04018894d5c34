"""An agent's end, and what has no reward."""

import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

from tests.proxy.support.origin import Origin
from tests.rl.episodes import DOWN_ONCE, FAULTED, SITE, tasks
from tests.sandbox.cleanup.test_reaper import alive
from tests.waiting import wait_until
from warex.errors import InputError, TrialVoid
from warex.rl import Episode, EpisodePlan, EpisodeTask, SessionFactory
from warex.traces.paths import AGENT_LOG

pytestmark = pytest.mark.wire

# Starts an agent that never ends, and waits to be killed.
OWNER = """
import sys, time
from contextlib import contextmanager
from warex.rl import EpisodePlan, EpisodeTask, SessionFactory
AGENT = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
@contextmanager
def start(prompt, seed):
    yield EpisodeTask(lambda episode: 1.0, (sys.executable, "-c", AGENT))
clean = lambda prompt, seed, place: EpisodePlan(is_faulted=False)
with SessionFactory(start, None, out=sys.argv[1], plan=clean) as factory:
    episode = factory.create("p").episode
    print(episode.folder, episode.proxy_url, flush=True)
    time.sleep(600)
"""


@pytest.mark.slow
def test_a_planned_fault_that_was_not_delivered_has_no_reward(
    origin: Origin, tmp_path: Path
) -> None:
    slow = {
        "rules": [
            {
                "name": "slow",
                "match": {"url": f"{SITE}/*"},
                "trigger": {"first": 1},
                "fault": {"kind": "http_error", "status": 503, "delay": 30},
            }
        ]
    }
    with SessionFactory(
        tasks(origin), slow, out=tmp_path / "out", plan=lambda prompt, seed, place: FAULTED
    ) as factory:
        session = factory.create("p")
        handler = urllib.request.ProxyHandler({"http": session.episode.proxy_url})
        with pytest.raises(OSError, match="timed out"):
            urllib.request.build_opener(handler).open(f"{SITE}/", timeout=0.2)
        result = session.verify()
    assert result.env_reward is None
    assert "not delivered" in result.artifacts["reason"]
    assert result.metrics["missed"] == 1
    assert factory.curriculum.faulted == ()


def test_a_void_trial_and_a_failed_check_have_no_reward(origin: Origin, tmp_path: Path) -> None:
    def fails(episode: Episode) -> float:
        raise TrialVoid("the site does not tell its state")

    with SessionFactory(tasks(origin, fails), DOWN_ONCE, out=tmp_path / "out") as factory:
        session = factory.create("p")
        result = session.verify()
    assert result.env_reward is None
    assert "the site does not tell its state" in result.artifacts["reason"]


@pytest.mark.slow
def test_an_agent_that_never_ends_has_no_reward_and_its_trace_is_kept(
    origin: Origin, tmp_path: Path
) -> None:
    endless = f"import urllib.request as r, time; r.urlopen('{SITE}/').read(); time.sleep(600)"
    start = tasks(origin, command=(sys.executable, "-c", endless))
    with SessionFactory(
        start,
        DOWN_ONCE,
        out=tmp_path / "out",
        timeout_s=3,
        plan=lambda prompt, seed, place: EpisodePlan(is_faulted=False),
    ) as factory:
        session = factory.create("p", episode_id="endless")
        with pytest.raises(TimeoutError, match="'endless' did not end within its time"):
            session.wait_for_completion()
        result = session.verify()
        session.close()
    assert result.env_reward is None
    assert "did not end" in result.artifacts["reason"]
    assert len(session.trial.requests) == 1


@pytest.mark.slow
def test_the_agent_is_any_command_and_its_exit_code_reaches_the_check(
    origin: Origin, tmp_path: Path
) -> None:
    codes: list[int | None] = []

    def score(episode: Episode) -> float:
        codes.append(episode.exit_code)
        return 0.0

    asks = f"import urllib.request as r, sys; r.urlopen('{SITE}/').read(); sys.exit(7)"
    start = tasks(origin, score, (sys.executable, "-c", asks))
    with SessionFactory(start, DOWN_ONCE, out=tmp_path / "out") as factory:
        session = factory.create("p")
        assert session.wait_for_completion() == 7
        assert session.verify().env_reward == 0.0
    assert codes == [7]
    assert len(session.trial.requests) == 1


@pytest.mark.slow
def test_a_check_that_returns_no_finite_number_gives_no_reward(
    origin: Origin, tmp_path: Path
) -> None:
    scores = [float("nan"), None, "good"]
    start = tasks(origin, lambda episode: scores[episode.seed])  # type: ignore[return-value,arg-type]
    with SessionFactory(start, DOWN_ONCE, out=tmp_path / "out") as factory:
        results = [factory.create("p", seed).verify() for seed in range(len(scores))]
    assert [it.env_reward for it in results] == [None] * 3
    reasons = [it.artifacts["reason"] for it in results]
    assert reasons[0] == "the task's check returned nan, which is not a finite number"


@pytest.mark.slow
def test_a_check_that_fails_gives_no_reward_and_says_where(origin: Origin, tmp_path: Path) -> None:
    def looks_up(episode: Episode) -> float:
        rewards: dict[str, float] = {}
        return rewards["x"]

    def scores(episode: Episode) -> float:
        return np.ones(2)  # type: ignore[return-value]

    checks = [looks_up, scores]
    start = tasks(origin, lambda episode: checks[episode.seed](episode))
    with SessionFactory(start, DOWN_ONCE, out=tmp_path / "out") as factory:
        results = [factory.create("p", seed).verify() for seed in range(len(checks))]
    assert [it.env_reward for it in results] == [None] * 2
    failed, two = [it.artifacts["reason"] for it in results]
    line = looks_up.__code__.co_firstlineno + 2
    assert failed == f"the task's check failed: KeyError: 'x' (test_session.py, line {line})"
    assert two == "the task's check returned array([1., 1.]), which is not a finite number"


@pytest.mark.slow
def test_a_check_that_is_interrupted_is_no_failed_check(origin: Origin, tmp_path: Path) -> None:
    def interrupted(episode: Episode) -> float:
        raise KeyboardInterrupt

    with SessionFactory(tasks(origin, interrupted), DOWN_ONCE, out=tmp_path / "out") as factory:
        session = factory.create("p")
        with pytest.raises(KeyboardInterrupt):
            session.verify()


@pytest.mark.slow
def test_a_task_that_fails_as_it_ends_disturbs_no_other_episode(
    origin: Origin, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ended = []

    @contextmanager
    def start(prompt: object, seed: int) -> Iterator[EpisodeTask]:
        with tasks(origin)(prompt, seed) as task:
            yield task
        ended.append(seed)
        raise OSError("the site does not stop")

    with SessionFactory(start, DOWN_ONCE, out=tmp_path / "out") as factory:
        closed, *others = [factory.create("p", seed, f"e{seed}") for seed in range(3)]
        assert closed.verify().env_reward == 1.0
        closed.close()
        assert factory.create("p", 3, "e0").verify().env_reward == 1.0
    assert ended == [0, 1, 2, 3]
    assert not any(is_open(urlsplit(it.episode.proxy_url).port) for it in others)
    assert "the task of the episode 'e0' failed as it ended: OSError" in caplog.text


@pytest.mark.slow
def test_an_agent_that_cannot_be_started_has_no_reward(origin: Origin, tmp_path: Path) -> None:
    start = tasks(origin, command=(sys.executable, "-c", "a\0b"))
    with SessionFactory(start, DOWN_ONCE, out=tmp_path / "out") as factory:
        session = factory.create("p", episode_id="nul")
        with pytest.raises(InputError, match="the agent of the episode 'nul' cannot be started"):
            session.wait_for_completion()
        result = session.verify()
    assert result.env_reward is None
    assert "null byte" in result.artifacts["reason"]


@pytest.mark.slow
def test_a_command_that_is_no_list_is_refused_and_its_id_is_free_again(
    origin: Origin, tmp_path: Path
) -> None:
    commands = ["python agent.py", lambda episode: None]

    @contextmanager
    def start(prompt: object, seed: int) -> Iterator[EpisodeTask]:
        yield EpisodeTask(lambda episode: 1.0, commands[seed])  # type: ignore[arg-type]

    with SessionFactory(start, DOWN_ONCE, out=tmp_path / "out") as factory:
        for seed in (0, 0, 1, 1):
            with pytest.raises(InputError, match="is not a list of texts"):
                factory.create("p", seed, episode_id="text")


@pytest.mark.slow
def test_with_a_killed_process_its_proxies_and_its_agents_end(tmp_path: Path) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path / "out")], stdout=subprocess.PIPE, text=True
    )
    with owner:
        assert owner.stdout is not None
        folder, proxy = owner.stdout.readline().split()
        log, port = Path(folder, AGENT_LOG), urlsplit(proxy).port
        wait_until(lambda: log.exists() and log.read_text().endswith("\n"))
        assert is_open(port)
        owner.kill()

    wait_until(lambda: not alive(int(log.read_text())))
    wait_until(lambda: not is_open(port))


def is_open(port: int | None) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
