import pytest
from bench import talk


@pytest.mark.parametrize("protocol", talk.PROTOCOLS)
def test_client_and_site_understand_each_other_request_after_request(protocol: str) -> None:
    client, site = talk.client(protocol, 443), talk.site(protocol)

    for _ in range(5):
        assert client.take(site.take(client.ask()))


@pytest.mark.parametrize("protocol", talk.PROTOCOLS)
def test_an_answer_is_whole_with_its_last_byte(protocol: str) -> None:
    client, site = talk.client(protocol, 443), talk.site(protocol)
    answer = site.take(client.ask())

    assert not any(client.take(answer[at : at + 1]) for at in range(len(answer) - 1))
    assert client.take(answer[-1:])


@pytest.mark.parametrize("protocol", talk.PROTOCOLS)
def test_an_answer_that_is_not_the_sites_does_not_count(protocol: str) -> None:
    client, site = talk.client(protocol, 443), talk.site(protocol)
    answer = site.take(client.ask()).replace(b"no play", b"a scare")

    with pytest.raises(ConnectionError):
        client.take(answer)
