"""Eight episodes at the same time, each with a browser and a site of its own, share no state."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Barrier
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import sync_playwright

from tests.rl.shop import Shop, served_shop
from warex.rl import Episode, EpisodePlan, EpisodeTask, SessionFactory
from warex.sandbox.chromium import find_chromium

MANY = 8
WAVES = 2
SITE = "https://shop.test"
PATIENCE_S = 120

READ = """async who => ({
    basket: await (await fetch(`/basket?who=${who}`)).json(),
    cookies: (await cookieStore.getAll()).map(it => it.value),
    localStorage: Object.keys(localStorage),
    sessionStorage: Object.keys(sessionStorage),
    indexedDB: (await indexedDB.databases()).map(it => it.name),
    cacheStorage: await caches.keys(),
})"""
WRITE = """async who => {
    await fetch(`/put?who=${who}`);
    localStorage[who] = sessionStorage[who] = "";
    await caches.open(who);
    await new Promise((resolve, reject) => {
        Object.assign(indexedDB.open(who), {onsuccess: resolve, onerror: reject});
    });
}"""
STORES = ("basket", "cookies", "localStorage", "sessionStorage", "indexedDB", "cacheStorage")


@dataclass(frozen=True)
class Played:
    """What a browser read before and after all had written, and its episode's reward and trace."""

    before: dict[str, list[str]]
    after: dict[str, list[str]]
    reward: float | None
    urls: list[str]


@pytest.mark.slow
@pytest.mark.wire
@pytest.mark.browser
@pytest.mark.timeout(300)
def test_browsers_of_parallel_episodes_share_no_state(tmp_path: Path) -> None:
    shops: dict[str, Shop] = {}
    all_here = Barrier(MANY)

    @contextmanager
    def task(prompt: object, seed: int) -> Iterator[EpisodeTask]:
        with served_shop() as shop:
            shops[str(prompt)] = shop

            def score(episode: Episode) -> float:
                return float(shop.basket == [episode.prompt])

            yield EpisodeTask(score, maps=(f"{SITE}=http://127.0.0.1:{shop.server_port}",))

    def play(factory: SessionFactory, who: str, episode_id: str) -> Played:
        session = factory.create(who, episode_id=episode_id)
        launch: dict[str, Any] = {**session.trial.playwright, "timeout": PATIENCE_S * 1000}
        chromium = find_chromium(headless_shell=True)
        with (
            sync_playwright() as playwright,
            playwright.chromium.launch(executable_path=str(chromium), **launch) as browser,
        ):
            page = browser.new_page()
            page.goto(f"{SITE}/?who={who}", timeout=PATIENCE_S * 1000)
            all_here.wait(PATIENCE_S)
            before = page.evaluate(READ, who)
            page.evaluate(WRITE, who)
            all_here.wait(PATIENCE_S)
            after = page.evaluate(READ, who)
        reward = session.verify().env_reward
        session.close()
        urls = [request.url for request in session.trial.requests]
        return Played(before, after, reward, urls)

    with (
        SessionFactory(
            task, None, out=tmp_path / "out", plan=lambda prompt, seed, place: EpisodePlan(False)
        ) as factory,
        ThreadPoolExecutor(MANY) as pool,
    ):
        # The second wave has the first one's episode ids: nothing of an ended episode stays.
        for wave in range(WAVES):
            names = [f"agent-{wave}-{number}" for number in range(MANY)]
            ids = [f"episode-{number}" for number in range(MANY)]
            played = pool.map(lambda who, id: play(factory, who, id), names, ids)
            for who, result in zip(names, list(played), strict=True):
                assert result.before == {store: [] for store in STORES}
                assert result.after == {store: [who] for store in STORES}
                assert result.reward == 1.0
                assert shops[who].cookies == {"", f"who={who}"}
                assert [url for url in result.urls if urlsplit(url).path != "/favicon.ico"] == [
                    f"{SITE}/?who={who}",
                    f"{SITE}/basket?who={who}",
                    f"{SITE}/put?who={who}",
                    f"{SITE}/basket?who={who}",
                ]
