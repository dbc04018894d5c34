"""What REAL's agent can do is known from its options, and what does not fit together is refused."""

from typing import Any

import pytest
from pydantic import ValidationError

from warex.benchmarks.adapters.real_options import DEMO, RealOptions, vocabulary_for


def test_the_demo_agent_can_ask_for_no_page_again() -> None:
    demo = vocabulary_for("demo", DEMO)
    assert (demo.recover, demo.retry) == ((), ())
    assert demo.navigate == ("click", "dblclick", "press")
    assert demo.finish == ("send_msg_to_user", "report_infeasible")
    assert demo.infeasible == ("report_infeasible",)
    assert demo.noop == ("noop",)


def test_with_the_harnesss_navigation_it_can() -> None:
    with_nav = vocabulary_for("demo", (*DEMO, "nav", "tab"))
    assert with_nav.recover == ("goto", "go_back", "go_forward", "new_tab")
    assert {"click", "goto", "tab_focus"} <= set(with_nav.navigate)


def test_an_action_of_two_subsets_is_named_once() -> None:
    assert vocabulary_for("both", ("bid", "coord")).other.count("scroll") == 1


AGENT = {"file": "mine.py", "name": "MyArgs"}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"actions": ["chat", "bid", "reload"]}, "Input should be 'chat', 'infeas', 'bid'"),
        ({"actions": ["bid", "nav"]}, "actions must hold chat"),
        ({"actions": ["chat"], "agent": AGENT}, "brings its own"),
        ({"vocabulary": {"finish": ["stop"]}}, "a vocabulary goes with agent"),
        ({"agent": {**AGENT, "name": "my.Args"}}, "String should match"),
    ],
)
def test_what_does_not_fit_together_is_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        RealOptions.model_validate(options)
