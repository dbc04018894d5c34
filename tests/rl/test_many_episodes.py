"""64 episodes at the same time on one machine share nothing but the process."""

import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from threading import Barrier

import pytest

from tests.rl.shop import Shop, served_shop
from warex.rl import Episode, EpisodePlan, EpisodeTask, Session, SessionFactory

MANY = 64
SITE = "http://shop.test"
SECOND_IS_DOWN = {
    "rules": [
        {
            "name": "down",
            "match": {"url": f"{SITE}/put*"},
            "trigger": {"nth": 2},
            "fault": {"kind": "http_error", "status": 503},
        }
    ]
}


@pytest.mark.slow
@pytest.mark.wire
@pytest.mark.timeout(300)
def test_64_parallel_episodes_do_not_leak_into_each_other(
    tmp_path: Path,
) -> None:
    shops: dict[str, Shop] = {}
    all_began = Barrier(MANY)

    @contextmanager
    def task(prompt: object, seed: int) -> Iterator[EpisodeTask]:
        with served_shop() as shop:
            shops[str(prompt)] = shop

            def score(episode: Episode) -> float:
                return float(set(shop.basket) == {episode.prompt})

            yield EpisodeTask(score, maps=(f"{SITE}=http://127.0.0.1:{shop.server_port}",))

    def play(factory: SessionFactory, number: int) -> tuple[Session, list[int], set[str]]:
        who = f"agent-{number}"
        session = factory.create(who, seed=number % 2, episode_id=who)
        jar = CookieJar()
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({"http": session.episode.proxy_url}),
            urllib.request.HTTPCookieProcessor(jar),
        )
        all_began.wait(120)
        statuses = []
        for _ in range(4):
            try:
                with opener.open(f"{SITE}/put?who={who}", timeout=60) as answer:
                    statuses.append(answer.status)
            except urllib.error.HTTPError as error:
                error.close()
                statuses.append(error.code)
        all_began.wait(120)
        session.verify()
        session.close()
        return session, statuses, {str(it.value) for it in jar}

    with (
        SessionFactory(
            task,
            None,
            out=tmp_path / "out",
            plan=lambda prompt, seed, place: EpisodePlan(seed == 1, scenario=SECOND_IS_DOWN),
        ) as factory,
        ThreadPoolExecutor(MANY) as pool,
    ):
        played = list(pool.map(lambda number: play(factory, number), range(MANY)))

    for number, (session, statuses, cookies) in enumerate(played):
        who = f"agent-{number}"
        faulted = number % 2 == 1
        assert statuses == [200, 503 if faulted else 200, 200, 200]
        assert session.verify().env_reward == 1.0
        assert cookies == {who}
        assert shops[who].cookies <= {"", f"who={who}"}
        assert set(shops[who].basket) == {who}
        urls = {request.url for request in session.trial.requests}
        assert urls == {f"{SITE}/put?who={who}"}
        assert len(session.trial.requests) == 4
        assert [it.state for it in session.trial.ledger] == ["delivered"] * faulted
