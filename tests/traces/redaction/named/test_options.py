import pytest

from warex.traces.redaction.named.options import secret_values


@pytest.mark.parametrize(
    ("words", "places"),
    [
        (["tool", "--password", "hush", "x"], {2}),
        (["tool", "--password=hush", "--token", "hush"], {1, 3}),
        (["--password", "--user", "bob"], set()),
        (["--user", "bob", "password", "x"], set()),
        (["username", "password", "email"], set()),
        (["--password", 5], set()),
        (["--password"], set()),
    ],
)
def test_the_value_of_an_option_with_a_secret_s_name_is_one(
    words: list[object], places: set[int]
) -> None:
    assert set(secret_values(words)) == places
