from tests.scenarios.builders import one, one_shot
from warex.scenarios.injection.rule_state import Occurrence, RuleState
from warex.scenarios.matching.candidate import Candidate

CANDIDATE = Candidate("GET", "https://shop.test/", "document", "site")


def test_per_rule_there_is_one_count_and_per_url_one_each() -> None:
    for per, scopes in (("rule", ["", "", ""]), ("url", ["GET https://shop.test/"] * 2)):
        count = RuleState(one(per=per).rules[0], ())
        other = CANDIDATE._replace(method="POST")

        assert [count.count(CANDIDATE) for _ in range(2)] == [(scopes[0], 1), (scopes[1], 2)]
        assert count.count(other)[1] == (3 if per == "rule" else 1)


def test_a_window_holds_its_beginning_and_not_its_end() -> None:
    count = RuleState(
        one(trigger={"always": True, "between": [1, 2], "after_step": 3}).rules[0], ()
    )

    assert [count.outside_window(now, 3) for now in (0.9, 1.0, 1.9, 2.0)] == [
        True,
        False,
        False,
        True,
    ]
    assert [count.outside_window(1, steps) for steps in (2, 3, 4)] == [True, False, False]


def test_a_rule_hits_as_its_trigger_says_in_its_share_of_trials_alone() -> None:
    count = RuleState(one(trigger={"first": 3, "trials": 0.25}).rules[0], ())
    hits = [[count.fires(seed, "", ordinal) for ordinal in (1, 2, 3)] for seed in range(1000)]

    assert {tuple(each) for each in hits} == {(True,) * 3, (False,) * 3}
    assert 200 < sum(each[0] for each in hits) < 300


def test_a_rule_says_when_it_is_judged() -> None:
    after = one(match={"status": 200}, fault={"kind": "http_error", "stage": "response"})

    assert RuleState(after.rules[0], ()).judged_at_response
    assert not RuleState(one().rules[0], ()).judged_at_response


def test_an_occurrence_uses_the_budget_until_all_its_injections_miss() -> None:
    count = RuleState(one_shot(), (), once=True)
    occurrence = Occurrence(count, "")

    def is_free() -> bool:
        return count.fires(1, "", 1)

    seen = [is_free()]
    for delivered in (False, False):
        occurrence.plan("first")
        occurrence.plan("repeat")
        occurrence.settle("first", delivered=delivered)
        seen.append(is_free())
        occurrence.settle("repeat", delivered=delivered)
        seen.append(is_free())
    occurrence.plan("again")
    occurrence.settle("again", delivered=True)
    occurrence.settle("again", delivered=False)
    occurrence.settle("never planned", delivered=False)

    assert [*seen, is_free()] == [True, False, True, False, True, False]
