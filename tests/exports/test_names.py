"""The words of a data set can be shown without loading what makes one."""

import subprocess
import sys

from warex.exports import names


def test_nothing_of_warex_is_imported_for_them() -> None:
    program = (
        "import sys, warex.exports.names;"
        "print(*sorted(it for it in sys.modules if it.startswith('warex.') and it.count('.') > 1))"
    )
    loaded = subprocess.check_output([sys.executable, "-c", program], text=True, timeout=60)

    assert loaded.split() == ["warex.exports.names"]


def test_each_list_holds_its_words_once() -> None:
    for words in (
        names.FORMATS,
        names.RUN_FORMATS,
        names.KINDS,
        names.DIMENSIONS,
        names.SIDES,
        names.LEAKS,
    ):
        assert len(set(words)) == len(words) > 1
