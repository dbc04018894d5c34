from typing import Any

import pytest

from warex.campaigns.config.options import MAX_JOBS, RunOptions
from warex.errors import InputError


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"jobs": "2"}, "^jobs='2': give a whole number from 1 to 256$"),
        ({"jobs": 0}, "^jobs=0: "),
        ({"jobs": True}, "^jobs=True: "),
        ({"jobs": MAX_JOBS + 1}, "^jobs=257: "),
        ({"limit": -1}, "^limit=-1: give a whole number from 1 on$"),
        ({"limit": 1.5}, r"^limit=1\.5: "),
        ({"resume": "no"}, "^resume='no': give True or False$"),
        ({"ray": 6379}, "^ray=6379: give an address, or 'local'$"),
        ({"isolate": "vm"}, "^isolate='vm': give 'namespace', 'environment', 'none' or 'auto'$"),
    ],
)
def test_an_option_that_cannot_be_is_refused_in_a_sentence(
    fields: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        RunOptions(**fields)


def test_options_that_can_be_are_kept() -> None:
    options = RunOptions(jobs=MAX_JOBS, limit=1, resume=True, ray="local", isolate="auto")
    assert (options.jobs, options.limit, options.isolate) == (MAX_JOBS, 1, "auto")
