"""The jinja2 environment of the HTML pages."""

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment() -> Environment:
    """Return an environment that escapes values and fails on undefined names."""
    return Environment(
        loader=PackageLoader(__package__, "."), autoescape=True, undefined=StrictUndefined
    )
