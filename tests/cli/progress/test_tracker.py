from warex.campaigns.run.schedule import PlannedAttempt
from warex.cli.progress.tracker import ProgressTracker, format_duration
from warex.seeds import draw
from warex.traces import Counted, TrialKey, Void

SOLVED = Counted(ending="answered", score=1.0, latency_s=1.25)


def _turn(task: str, attempt: int = 1, repeat: int = 1) -> PlannedAttempt:
    return PlannedAttempt(TrialKey("testbed", "patient", "clean", task, repeat), attempt)


def test_the_rest_takes_as_long_a_trial_as_what_is_done() -> None:
    now = [0.0]
    pace = ProgressTracker(now=lambda: now[0], total=10)
    for task in ("a", "b"):
        pace.attempt_started(_turn(task))
    assert pace.seconds_left is None
    now[0] = 30.0
    for task in ("a", "b"):
        pace.attempt_ended(_turn(task).key, SOLVED)

    assert pace.seconds_left == 120
    assert str(pace) == "2 of 10 trials, 30 s elapsed, about 2 minutes left"


def test_the_time_left_does_not_rise_while_trials_run() -> None:
    now = [0.0]
    pace = ProgressTracker(now=lambda: now[0], total=60)
    ends: dict[str, float] = {}
    waiting = [f"t{number}" for number in range(60)]
    rises = 0
    while waiting or ends:
        while waiting and len(ends) < 4:
            task = waiting.pop()
            pace.attempt_started(_turn(task))
            ends[task] = now[0] + 5 + 35 * draw(7, task)
        task, at = min(ends.items(), key=lambda item: item[1])
        while now[0] < at:
            before = pace.seconds_left
            now[0] = min(at, now[0] + 1)
            if before is not None:
                assert pace.seconds_left is not None
                assert pace.seconds_left <= before
        before = pace.seconds_left
        del ends[task]
        pace.attempt_ended(_turn(task).key, SOLVED)
        rises += before is not None and (pace.seconds_left or 0) > before + 1

    assert rises <= 3
    assert pace.seconds_left is not None
    assert pace.seconds_left <= 10


def test_the_last_trials_do_not_wait_for_a_lane() -> None:
    now = [0.0]
    pace = ProgressTracker(now=lambda: now[0], total=3)
    for task in ("a", "b", "c"):
        pace.attempt_started(_turn(task))
    now[0] = 40.0
    pace.attempt_ended(_turn("a").key, SOLVED)
    assert pace.time_left == "about 5 s left"
    now[0] = 100.0
    assert pace.time_left == "about 5 s left"


def test_the_time_of_void_attempts_counts() -> None:
    now = [0.0]
    pace = ProgressTracker(now=lambda: now[0], total=3)
    pace.attempt_started(_turn("a"))
    now[0] = 20.0
    pace.attempt_ended(_turn("a").key, Void(reason="lane died"))
    pace.attempt_started(_turn("a", attempt=2))
    now[0] = 40.0
    pace.attempt_ended(_turn("a").key, SOLVED)

    assert pace.seconds_left == 80


def test_the_running_trials_are_named_with_their_age() -> None:
    now = [0.0]
    pace = ProgressTracker(now=lambda: now[0], total=3)
    pace.attempt_started(_turn("a"))
    now[0] = 12.0
    pace.attempt_started(_turn("b", attempt=2, repeat=3))

    assert pace.running == [
        "patient / clean / a, 12 s",
        "patient / clean / b / repeat 3 / attempt 2, 0 s",
    ]
    assert str(pace).endswith(f"running: {'; '.join(pace.running)}")


def test_only_the_first_of_many_running_trials_are_named() -> None:
    pace = ProgressTracker(now=lambda: 0.0, total=30)
    for number in range(20):
        pace.attempt_started(_turn(f"t{number}"))

    assert len(pace.running) == 9
    assert pace.running[-1] == "and 12 more"


def test_a_void_attempt_is_not_progress() -> None:
    pace = ProgressTracker(now=lambda: 5.0, total=2)
    pace.attempt_started(_turn("a"))
    pace.attempt_ended(_turn("a").key, Void(reason="lane died"))

    assert (pace.settled, pace.running, pace.seconds_left) == (0, [], None)


def test_a_duration_is_written_as_people_say_it() -> None:
    assert [format_duration(s) for s in (45, 720, 5400)] == ["45 s", "12 minutes", "1.5 hours"]
