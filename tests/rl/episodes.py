"""Tasks on one site, and a client of a session."""

import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from tests.proxy.support.origin import Origin
from warex.rl import Episode, EpisodePlan, EpisodeTask, Session

SITE = "http://shop.test"
DOWN_ONCE = {
    "rules": [
        {
            "name": "down",
            "match": {"url": f"{SITE}/*"},
            "trigger": {"first": 1},
            "fault": {"kind": "http_error", "status": 503},
        }
    ]
}
FAULTED = EpisodePlan(is_faulted=True)


def tasks(
    origin: Origin,
    score: Callable[[Episode], float] = lambda episode: 1.0,
    command: tuple[str, ...] = (),
) -> Callable[[object, int], AbstractContextManager[EpisodeTask]]:
    @contextmanager
    def start(prompt: object, seed: int) -> Iterator[EpisodeTask]:
        yield EpisodeTask(score, command, maps=(f"{SITE}=http://127.0.0.1:{origin.port}",))

    return start


def ask(session: Session, url: str = f"{SITE}/") -> int:
    handler = urllib.request.ProxyHandler({"http": session.episode.proxy_url})
    try:
        with urllib.request.build_opener(handler).open(url, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
