"""Answers are kept under keyed names, given once each, and shared only where they may be."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from warex.errors import MachineError, TraceError
from warex.traces import TrialKey
from warex.traces.llm_cache import (
    OWN_ANSWERS,
    CachedAnswer,
    CacheLookup,
    LlmCache,
    begin_llm_cache,
    discard_answers,
    open_llm_cache,
    publish_answers,
    shared_answers_dir,
)

URL = "https://llm.example/v1/chat/completions"


def cache(folder: Path, secret: bytes = b"s" * 32) -> LlmCache:
    return LlmCache(folder / "shared", folder / "attempt" / OWN_ANSWERS, secret)


def answer(text: str, latency: float = 2.0) -> CachedAnswer:
    return CachedAnswer((("content-type", "application/json"),), text.encode(), latency)


def attempt(folder: Path) -> Path:
    path = folder / "attempt"
    path.mkdir(parents=True, exist_ok=True)
    return path


def test_the_key_depends_on_the_secret_and_on_all_that_is_asked(tmp_path: Path) -> None:
    same = {cache(tmp_path).ask("POST", URL, b"{}").key for _ in range(2)}
    others = {
        cache(tmp_path, b"t" * 32).ask("POST", URL, b"{}").key,
        cache(tmp_path).ask("PUT", URL, b"{}").key,
        cache(tmp_path).ask("POST", f"{URL}?a=1", b"{}").key,
        cache(tmp_path).ask("POST", URL, b"{} ").key,
    }

    assert len(same) == 1
    assert len(same | others) == 5


def test_two_askings_of_one_question_never_get_the_same_answer(tmp_path: Path) -> None:
    attempt(tmp_path)
    first = cache(tmp_path)
    one, two = (first.ask("POST", URL, b"same") for _ in range(2))
    first.keep(one, answer("one"))
    first.keep(two, answer("two"))
    publish_answers(tmp_path / "attempt", tmp_path / "shared")

    later = cache(tmp_path)
    answers = [later.earlier(later.ask("POST", URL, b"same")) for _ in range(3)]

    assert [retained and retained.body for retained in answers] == [b"one", b"two", None]


def test_an_asking_that_got_no_answer_is_asked_again_as_the_same_one(tmp_path: Path) -> None:
    asked = cache(tmp_path)
    one, two = (asked.ask("POST", URL, b"same") for _ in range(2))
    asked.give_up(one)

    assert (one.nth, two.nth) == (1, 2)
    assert [asked.ask("POST", URL, b"same").nth for _ in range(2)] == [1, 3]


def test_what_a_trial_is_answered_is_shared_only_when_it_is_over(tmp_path: Path) -> None:
    attempt(tmp_path)
    running = cache(tmp_path)
    asking = running.ask("POST", URL, b"same")
    running.keep(asking, answer("mine"))

    assert cache(tmp_path).earlier(asking) is None
    publish_answers(tmp_path / "attempt", tmp_path / "shared")
    assert cache(tmp_path).earlier(asking) == answer("mine")
    assert not (tmp_path / "attempt" / OWN_ANSWERS).exists()


def test_a_void_trials_answers_are_gone(tmp_path: Path) -> None:
    attempt(tmp_path)
    running = cache(tmp_path)
    running.keep(running.ask("POST", URL, b"same"), answer("mine"))

    discard_answers(tmp_path / "attempt")
    discard_answers(tmp_path / "attempt")
    publish_answers(tmp_path / "attempt", tmp_path / "shared")

    assert not (tmp_path / "shared").exists()


def test_what_is_shared_already_stays(tmp_path: Path) -> None:
    asking = CacheLookup("k", 1)
    for text in ("first", "second"):
        attempt(tmp_path)
        cache(tmp_path).keep(asking, answer(text))
        publish_answers(tmp_path / "attempt", tmp_path / "shared")

    assert cache(tmp_path).earlier(asking) == answer("first")


def test_concurrent_writers_leave_complete_cached_answers(tmp_path: Path) -> None:
    askings = [CacheLookup(f"k{n}", 1) for n in range(50)]
    lanes = []
    for name in ("a", "b"):
        lane = LlmCache(tmp_path / "shared", attempt(tmp_path / name) / OWN_ANSWERS, b"")
        for asking in askings:
            lane.keep(asking, answer(name * 5000))
        lanes.append(tmp_path / name / "attempt")

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda lane: publish_answers(lane, tmp_path / "shared"), lanes))

    answers = {cache(tmp_path).earlier(asking) for asking in askings}
    assert answers <= {answer("a" * 5000), answer("b" * 5000)}


def test_only_trials_of_one_agent_task_and_repeat_share(tmp_path: Path) -> None:
    def folder(**other: object) -> Path:
        names = {"benchmark": "testbed", "agent": "a", "condition": "clean", "task": "t"}
        return shared_answers_dir(tmp_path, TrialKey(**{**names, "repeat": 1, **other}))  # type: ignore[arg-type]

    assert folder() == folder(condition="server-error") == tmp_path / "a" / "t" / "1"
    assert len({folder(), folder(agent="b"), folder(task="u"), folder(repeat=2)}) == 4
    assert folder(agent="..").parent.parent.parent == tmp_path


def test_a_run_has_a_secret_of_its_own_that_others_cannot_read(tmp_path: Path) -> None:
    runs = [tmp_path / "one", tmp_path / "two"]
    for run in runs:
        run.mkdir()
    secrets = [open_llm_cache(begin_llm_cache(run), tmp_path, tmp_path).secret for run in runs]
    again = open_llm_cache(begin_llm_cache(runs[0]), tmp_path, tmp_path).secret

    assert len(set(secrets)) == 2
    assert again == secrets[0]
    assert len(again) == 32
    path = runs[0] / "llm-cache" / ".secret"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_body_of_any_bytes_comes_back_as_it_was(tmp_path: Path) -> None:
    retained = CachedAnswer((("content-encoding", "br"),), b"\n\x00\xff\n", 1.25)

    assert CachedAnswer.from_bytes(retained.to_bytes()) == retained


@pytest.mark.parametrize(
    "content", [b"", b"{}\n", b"[]\nx", b"nonsense", b'{"schema_version": 2}\n']
)
def test_a_damaged_answer_is_refused_with_its_place(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "k-1").write_bytes(content)

    with pytest.raises(TraceError, match=r"k-1 is not a kept answer .* delete it"):
        cache(tmp_path).earlier(CacheLookup("k", 1))


def test_a_disk_that_refuses_is_named(tmp_path: Path) -> None:
    (tmp_path / "attempt").write_text("in the way")

    with pytest.raises(MachineError, match="cannot be written"):
        cache(tmp_path).keep(CacheLookup("k", 1), answer("x"))


def test_a_lost_secret_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"\.secret cannot be read"):
        open_llm_cache(tmp_path, tmp_path, tmp_path)
