"""`python -m bench rl`: its pages, its policy, and a whole short run of it."""

from pathlib import Path

import numpy as np
import pytest
from bench.rl.command import has_learned, main
from bench.rl.experiment import Learning, Round
from bench.rl.pages import Target, read_page
from bench.rl.policy import Choice, Policy, answer_of, legal

URL = "https://shop.test/cart?page=2"
PAGE = """
<head><title>Not shown</title></head><a href="/help" aria-label="Help">?</a>
<a href="https://elsewhere.test/">Elsewhere</a>
<main><h1>Two items</h1>
<form method="post" action="/order"><input type="hidden" name="token" value="t1">
<input type="checkbox" name="gift" value="1"><button name="step" value="pay">Pay now</button></form>
</main>
"""


def test_a_page_offers_its_links_within_the_site_its_forms_and_its_texts() -> None:
    page = read_page(PAGE, URL)
    assert [(it.id, it.role, it.name) for it in page.elements] == [
        ("1", "link", "Help"),
        ("", "text", "Two items"),
        ("2", "button", "Pay now"),
    ]
    assert page.targets == {
        "1": Target("https://shop.test/help"),
        "2": Target("https://shop.test/order", "token=t1&step=pay"),
    }


def test_the_policy_gradient_follows_the_sign_of_the_advantage() -> None:
    shown = read_page(PAGE, URL).prompt("Pay.", URL, "")
    some, actions = legal(shown)
    assert "Two items" in map(answer_of, some)
    for advantage in (1.0, -1.0):
        policy = Policy()
        before = policy.probabilities(actions)
        policy.step([(Choice(actions, 1), advantage)], 0.5)
        after = policy.probabilities(actions)
        assert np.sign(after[1] - before[1]) == advantage
        assert after.sum() == pytest.approx(1)


def test_an_action_is_sampled_by_its_probability() -> None:
    shown = read_page(PAGE, URL).prompt("Pay.", URL, "")
    policy, (some, _) = Policy(), legal(shown)
    chosen = [policy.choose(shown, (at + 0.5) / len(some))[0] for at in range(len(some))]
    assert chosen == some


@pytest.mark.parametrize(
    ("faulted", "clean", "learned"), [(0.8, 1.0, True), (0.2, 1.0, False), (0.8, 0.9, False)]
)
def test_learning_is_more_success_under_faults_and_no_less_when_clean(
    faulted: float, clean: float, learned: bool
) -> None:
    start = Round(clean=(1.0,), faulted=(0.2,), unscored=0)
    end = Round(clean=(clean,), faulted=(faulted,), unscored=0)
    assert has_learned(Learning(1, start, (), end)) is learned


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_short_run_plays_real_episodes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["--out", str(tmp_path / "out"), "--seeds", "1", "--rounds", "1", "--group", "2"])
    printed = capsys.readouterr().out
    assert "| before | 100% |" in printed
    assert len(list((tmp_path / "out/episodes").iterdir())) == 6 + 3 * 12
