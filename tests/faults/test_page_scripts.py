"""What every script that is put into a page must be, to stand in any page."""

import json
from pathlib import Path

import pytest

import warex
from warex.faults.popups import popup
from warex.rewriting.html_body.script_injection import injected_script

SCRIPTS = sorted(Path(warex.__file__).parent.rglob("*.js"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_means_the_same_in_every_encoding_and_in_xml(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert text.isascii()
    assert not any(it in text.lower() for it in ("</script", "<!--", "]]>"))


def test_what_a_script_is_given_cannot_end_it() -> None:
    script = injected_script(popup.__name__, {"title": "</script><!-- ]]> ä"}, "/9f2c")

    assert script.script.isascii()
    assert not any(it in script.script for it in ("</script", "<!--", "]]>"))
    assert json.loads('"' + script.script.split('"title":"')[1].split('"')[0] + '"') == (
        "</script><!-- ]]> ä"
    )


def test_no_page_script_names_warex() -> None:
    text = injected_script(popup.__name__, {}, "/9f2c").script.lower()

    assert not any(it in text for it in ("warex", "fault", "inject", "//"))
