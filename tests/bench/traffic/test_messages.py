import pytest
from bench.traffic import messages


def test_client_and_site_understand_each_other_request_after_request() -> None:
    client = messages.Client(443)

    for _ in range(5):
        assert client.receive(messages.answer(client.request))


def test_an_answer_is_whole_with_its_last_byte() -> None:
    client = messages.Client(443)
    answer = messages.answer(client.request)

    assert not any(client.receive(answer[at : at + 1]) for at in range(len(answer) - 1))
    assert client.receive(answer[-1:])


def test_an_answer_that_is_not_the_sites_does_not_count() -> None:
    client = messages.Client(443)
    answer = messages.answer(client.request).replace(b"no play", b"a scare")

    with pytest.raises(ConnectionError):
        client.receive(answer)
