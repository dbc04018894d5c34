import ast

from tests.cli.conftest import Warex


def test_the_printed_file_is_a_short_program_that_brings_the_addons(warex: Warex) -> None:
    said = warex("addon")

    assert said.code == 0
    assert len(said.out.splitlines()) <= 12
    last = ast.parse(said.out).body[-1]
    assert isinstance(last, ast.ImportFrom)
    assert (last.module, last.names[0].name) == ("warex.mitmproxy_addon.script", "addons")
