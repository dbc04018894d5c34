import json

from tests.cli.conftest import Warex
from warex.llm.defences import DEFENCES


def test_every_defence_is_listed_and_can_be_shown(warex: Warex) -> None:
    names = [row["name"] for row in json.loads(warex("defences", "--json").out)]
    listed = warex("defences").out

    assert names == [defence.name for defence in DEFENCES]
    for defence in DEFENCES:
        assert f"{defence.name} " in listed
        assert defence.text in warex("defences", "show", defence.name).out
        assert json.loads(warex("defences", "show", defence.name, "--json").out) == {
            "name": defence.name,
            "text": defence.text,
            "summary": defence.summary,
        }


def test_an_unknown_one_is_refused_with_the_nearest(warex: Warex) -> None:
    result = warex("defences", "show", "popup-warnin")

    assert result.code == 2
    assert "there is no defence 'popup-warnin'; did you mean 'popup-warning'?" in result.err
