import ast

from tests.cli.conftest import Warex


def test_the_printed_file_is_a_short_program_that_brings_the_addons(warex: Warex) -> None:
    result = warex("addon")

    assert result.code == 0
    assert len(result.out.splitlines()) <= 12
    last = ast.parse(result.out).body[-1]
    assert isinstance(last, ast.ImportFrom)
    assert (last.module, last.names[0].name) == ("warex.mitmproxy_addon.script", "addons")
