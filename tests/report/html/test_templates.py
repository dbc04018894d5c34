import pytest
from jinja2 import UndefinedError

from warex.report.html.templates import environment


def test_values_are_escaped() -> None:
    page = environment().from_string("{{ name }}").render(name="<script>")

    assert page == "&lt;script&gt;"


def test_a_name_that_is_not_given_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        environment().from_string("{{ nmae }}").render(name="run")
