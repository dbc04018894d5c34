from pydantic import JsonValue

from tests.scenarios.builders import PAGE, answer, ask, one
from warex.scenarios.candidate import Candidate, candidates_of


def test_a_candidate_is_all_that_a_match_looks_at() -> None:
    exchange = ask("HTTPS://shop.test:443/?q#top")

    assert Candidate.of(exchange, llm=False) == ("GET", f"{PAGE}?q", "document", False, None, "")
    assert Candidate.of(answer(exchange, 404, "Text/HTML; charset=x"), llm=True) == (
        *("GET", f"{PAGE}?q", "document", True, 404, "text/html"),
    )


def test_what_is_numbered_has_a_name_without_secrets() -> None:
    name = Candidate.of(ask(f"{PAGE}?key=abc&q=1&k=sk-abcdefghijklmnop1234"), llm=False).scope

    assert name == f"GET {PAGE}?key=[redacted]&q=1&k=[redacted]"


def test_before_the_answer_only_what_is_known_can_rule_out() -> None:
    fault: JsonValue = {"kind": "http_error", "stage": "response"}
    [rule] = one(match={"status": 404, "method": "GET"}, fault=fault).rules
    fits = candidates_of(rule, ())

    assert fits(Candidate.of(ask(), llm=False))
    assert not fits(Candidate.of(ask(method="POST"), llm=False))
    assert not fits(Candidate.of(answer(ask()), llm=False))
    assert fits(Candidate.of(answer(ask(), 404), llm=False))
