from bench.fuzz.cases import PREFACE, SITE_STATUS, case, rng_for, valid_case
from bench.fuzz.mutate import mutate
from hyperframe.frame import Frame


def test_a_case_is_the_same_whenever_it_is_drawn() -> None:
    assert [case(7, number) for number in range(50)] == [case(7, number) for number in range(50)]


def test_another_seed_draws_other_cases() -> None:
    assert [case(1, number) for number in range(50)] != [case(2, number) for number in range(50)]


def test_every_family_occurs_and_most_cases_differ() -> None:
    cases = [case(1, number) for number in range(2000)]

    assert {each.family for each in cases} == {
        "http1-request",
        "http1-answer",
        "forwarded",
        "http2-request",
        "http2-answer",
        "websocket",
        "connect",
        "control",
        "tls-client",
        "tls-site",
    }
    assert len({(it.sends, it.answer, it.then) for it in cases if "tls" not in it.family}) > 1500


def test_mutations_are_few_and_some_messages_have_none() -> None:
    message = b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"
    results = [mutate(rng_for(1, number), message) for number in range(200)]

    assert 10 < results.count(message) < 150
    assert all(len(result) < 20_000 for result in results)


def test_the_usual_messages_are_whole() -> None:
    good = valid_case("h2")
    frame, length = Frame.parse_frame_header(memoryview(good.sends[len(PREFACE) :][:9]))

    assert (frame.type, length) == (4, 0)
    assert b" %d " % SITE_STATUS in valid_case("http/1.1").answer
