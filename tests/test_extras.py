import sys
from importlib.metadata import version

import pytest

from warex.errors import MachineError
from warex.extras import VERSION, require_extra


def test_each_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "peft", None)

    with pytest.raises(MachineError) as told:
        require_extra("train", "training", "torch", "pytest", "peft")

    assert str(told.value) == (
        "training needs torch, peft, not installed here: pip install 'warex[train]'"
    )


def test_what_is_installed_is_not_complained_of() -> None:
    require_extra("frames", "warex.load_run", "pytest")


def test_the_version_is_that_of_the_installed_package() -> None:
    assert version("warex") == VERSION
