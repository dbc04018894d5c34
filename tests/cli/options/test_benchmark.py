import pytest

from warex.cli.options.benchmark import benchmark_table, parse_options
from warex.errors import InputError


def test_a_value_is_json_where_it_is_json_and_else_text() -> None:
    fields = parse_options(("port=8080", "sites=[1, 2]", "checkout=DIR", "empty="))

    assert fields == {"port": 8080, "sites": [1, 2], "checkout": "DIR", "empty": ""}


@pytest.mark.parametrize("wrong", ["checkout", "=DIR", ""])
def test_what_is_not_a_pair_is_a_sentence(wrong: str) -> None:
    with pytest.raises(InputError, match="is not a KEY=VALUE; write for instance checkout=DIR"):
        parse_options((wrong,))


def test_a_table_is_the_one_that_a_campaign_would_hold() -> None:
    table = benchmark_table("command", None, ("command=python agent.py",))

    assert (table.name, table.dir, table.options) == (
        "command",
        None,
        {"command": "python agent.py"},
    )
