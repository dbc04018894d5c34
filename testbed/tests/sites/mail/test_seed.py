import re
from itertools import combinations
from pathlib import Path

import pytest

from tests.sites.mail.client import HOSTS
from warex_testbed.sites.mail import seed
from warex_testbed.sites.mail.dates import NOW
from warex_testbed.sites.mail.seed import brand, fresh


@pytest.mark.parametrize("host", HOSTS)
def test_a_mailbox_is_full_and_whole(host: str) -> None:
    box = fresh(host)
    assert 25 <= len(box.messages) <= 40
    for message in box.messages.values():
        assert message.at <= NOW
        assert message.folder in box.folders
        assert set(message.labels) <= set(box.labels.values())
        assert message.subject
        assert message.body


@pytest.mark.parametrize("host", HOSTS)
def test_two_fresh_mailboxes_are_equal_and_share_nothing(host: str) -> None:
    one, other = fresh(host), fresh(host)
    assert one == other
    one.messages.clear()
    one.contacts.clear()
    assert one != other


def test_brands_have_the_same_keys_and_other_words_people_and_letters() -> None:
    for one, other in combinations(map(brand, HOSTS), 2):
        assert one.words.keys() == other.words.keys()
        assert one.done.keys() == other.done.keys()
        assert one.layout != other.layout
        same = {key for key in one.words if one.words[key] == other.words[key]}
        assert len(same) < len(one.words) / 3, same
        assert not set(one.done.values()) & set(other.done.values())
    for first, second in combinations(map(fresh, HOSTS), 2):
        assert first.owner != second.owner
        assert not {each.subject for each in first.messages.values()} & {
            each.subject for each in second.messages.values()
        }


@pytest.mark.parametrize("host", HOSTS)
def test_every_word_is_used_by_a_page(host: str) -> None:
    package = Path(seed.__file__).parent
    pages = " ".join(file.read_text("utf-8") for file in package.glob("templates/*"))
    code = " ".join(file.read_text("utf-8") for file in package.glob("*.py"))
    for word in brand(host).words:
        used = re.search(rf"\bw\.{word}\b", pages) or f'"{word}"' in pages + code
        assert used or word.startswith("settings_"), word
