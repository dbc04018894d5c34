"""The one folder that laying over needs on disk: made, held by all who need it, taken away."""

import fcntl
from pathlib import Path

import pytest

from tests.sandbox.support.users import CALLER, folder_of, python_as
from warex.sandbox.namespace.bind_mounts import MountPoint


def test_a_mount_point_leaves_no_folder_that_was_not_there(tmp_path: Path) -> None:
    point = MountPoint(str(tmp_path / "a/b/.pki/nssdb"))

    assert point.make()
    assert (tmp_path / "a/b/.pki/nssdb").is_dir()
    point.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_mount_point_leaves_folders_that_hold_something(tmp_path: Path) -> None:
    (tmp_path / ".pki").mkdir()
    (tmp_path / ".pki/other").touch()
    point = MountPoint(str(tmp_path / ".pki/nssdb"))
    point.make()
    point.remove()

    assert [path.name for path in tmp_path.rglob("*")] == [".pki", "other"]


def test_the_last_of_several_takes_the_mount_point_away(tmp_path: Path) -> None:
    points = [MountPoint(str(tmp_path / ".pki/nssdb")) for _ in range(3)]
    assert all([point.make() for point in points])

    for point in points:
        assert (tmp_path / ".pki/nssdb").is_dir()
        point.remove()
    assert list(tmp_path.iterdir()) == []


def test_somebody_else_may_take_it_away_unless_it_is_held(tmp_path: Path) -> None:
    point = MountPoint(str(tmp_path / ".pki/nssdb"))
    point.make()
    MountPoint(str(tmp_path / ".pki/nssdb")).remove_if_unused()
    assert (tmp_path / ".pki/nssdb").is_dir()

    point.remove()
    MountPoint(str(tmp_path / ".pki/nssdb")).remove_if_unused()
    assert list(tmp_path.iterdir()) == []


def test_a_mount_point_that_cannot_be_made_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert not MountPoint(str(tmp_path / "file/nssdb")).make()
    assert not MountPoint(None).make()


def test_a_mount_point_that_is_taken_away_while_it_is_made_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "nssdb"
    locked = fcntl.flock
    missing: list[int] = []

    def take_away_first(handle: int, how: int) -> None:
        if not missing:
            missing.append(handle)
            place.rmdir()
        locked(handle, how)

    monkeypatch.setattr(fcntl, "flock", take_away_first)
    point = MountPoint(str(place))

    assert point.make()
    assert place.is_dir()
    point.remove()


@pytest.mark.wire
def test_mounted_files_are_readable_despite_the_umask() -> None:
    code = """
import os, stat
from tests.sandbox.support.fake_proxy import open_fake_network
from warex.proxy.certificates.ca import ensure_ca
os.umask(0o077)
with open_fake_network(ensure_ca(), os.environ) as inside:
    bundle = inside.environment["SSL_CERT_FILE"]
    print(inside.run("stat", "-L", "-c", "%a", bundle, "/etc/resolv.conf", "/etc/ssl/certs")[1])
    print(inside.run("sh", "-c", "umask")[1])
"""
    with folder_of(CALLER) as folder:
        ran = python_as(CALLER, code, folder)

    assert ran.stdout.split() == ["644", "644", "755", "0077"], ran.stderr


_SHARED = """
import ctypes, os
from tests.sandbox.support.fake_proxy import open_fake_network
from warex.proxy.certificates.ca import ensure_ca
libc = ctypes.CDLL(None)
user, group = os.getuid(), os.getgid()
if user:
    os.unshare(os.CLONE_NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"),
                       ("gid_map", f"{group} {group} 1")):
        open(f"/proc/self/{name}", "w").write(text)
os.unshare(os.CLONE_NEWNS)
libc.mount(None, b"/", None, ctypes.c_ulong(16384 | 1 << 19), None)  # First its own,
libc.mount(None, b"/", None, ctypes.c_ulong(16384 | 1 << 20), None)  # then shared, as by systemd.
before = open("/proc/self/mountinfo").read()
with open_fake_network(ensure_ca(), os.environ) as inside:
    print("warex" in inside.run("cat", "/proc/self/mountinfo")[1])
    print(open("/proc/self/mountinfo").read() == before)
"""


@pytest.mark.wire
def test_nothing_is_mounted_for_others_even_where_mounts_are_shared() -> None:
    with folder_of(CALLER) as folder:
        ran = python_as(CALLER, _SHARED, folder)

    assert ran.stdout.split() == ["True", "True"], ran.stderr
