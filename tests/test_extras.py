import json
import shlex
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from warex.errors import MachineError
from warex.extras import install_command, install_package, require_extra
from warex.version import VERSION


class Installed:
    """A distribution of which an installer recorded an origin."""

    def __init__(self, origin: object) -> None:
        self.origin = origin

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return self.origin if isinstance(self.origin, str | None) else json.dumps(self.origin)


def test_each_missing_package_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "peft", None)

    with pytest.raises(MachineError) as error:
        require_extra("train", "training", "torch", "pytest", "peft")

    assert str(error.value) == (
        f"training needs torch, peft, not installed here: {install_command('train')}"
    )


def test_an_extra_is_installed_from_where_warex_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "my clone"
    clone.mkdir()
    (clone / "constraints.txt").touch()
    wheel = f"{tmp_path.as_uri()}/wheels/warex-0.1.0-py3-none-any.whl"
    pins = ["-c", f"{clone}/constraints.txt"]
    git = {"url": "https://git.example/o/warex", "vcs_info": {"vcs": "git", "commit_id": "1f"}}
    address = "git+https://git.example/o/warex@1f"
    web = {"url": "https://files.example/warex-0.1.0-py3-none-any.whl", "archive_info": {}}
    for origin, extra, expected in (
        (None, "demo", ["warex[demo]"]),
        ("{", "demo", ["warex[demo]"]),
        (
            {"url": wheel, "archive_info": {}},
            "demo",
            ["--find-links", f"{tmp_path}/wheels", "warex[demo]"],
        ),
        ({"url": clone.as_uri(), "dir_info": {}}, "view", [*pins, f"{clone}[view]"]),
        (
            {"url": clone.as_uri(), "dir_info": {"editable": True}},
            "demo",
            [*pins, "-e", f"{clone}/testbed", "-e", f"{clone}[demo]"],
        ),
        (
            git,
            "demo",
            [f"warex-testbed @ {address}#subdirectory=testbed", f"warex[demo] @ {address}"],
        ),
        (git, "frames", [f"warex[frames] @ {address}"]),
        (web, "view", [f"warex[view] @ {web['url']}"]),
    ):
        monkeypatch.setattr("importlib.metadata.distribution", lambda _, at=origin: Installed(at))
        words = shlex.split(install_command(extra))  # type: ignore[arg-type]
        assert words[words.index("install") + 1 :] == expected, origin


def test_the_installer_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    here = Path(sys.executable).parent
    monkeypatch.setattr("shutil.which", lambda _: str(here / "pip"))
    activated = install_package("selenium")
    monkeypatch.setattr("shutil.which", lambda _: "/usr/bin/pip")
    not_activated = install_package("selenium")
    monkeypatch.setitem(sys.modules, "pip", None)

    assert activated == "pip install selenium"
    assert not_activated == shlex.join([sys.executable, "-m", "pip", "install", "selenium"])
    assert install_package("selenium") == shlex.join(
        ["uv", "pip", "install", "--python", sys.executable, "selenium"]
    )


def test_what_is_installed_is_not_complained_of() -> None:
    require_extra("frames", "warex.load_run", "pytest")


def test_the_version_is_that_of_the_installed_package() -> None:
    assert version("warex") == VERSION
