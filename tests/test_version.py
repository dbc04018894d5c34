from importlib.metadata import version

from warex.version import VERSION


def test_the_version_is_that_of_the_installed_package() -> None:
    assert version("warex") == VERSION
