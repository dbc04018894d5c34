"""Each way to be refused has its own sentence, with what helps."""

import errno
from pathlib import Path

import pytest

from warex.sandbox.namespace.diagnosis import diagnose


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, value in (
        ("user/max_user_namespaces", "96365"),
        ("kernel/unprivileged_userns_clone", "1"),
        ("kernel/apparmor_restrict_unprivileged_userns", "0"),
    ):
        place = tmp_path / "proc/sys" / name
        place.parent.mkdir(exist_ok=True, parents=True)
        place.write_text(f"{value}\n")
    return tmp_path


@pytest.mark.parametrize(
    ("setting", "value", "step", "number", "helps"),
    [
        (
            "user/max_user_namespaces",
            "0",
            "user namespace",
            errno.ENOSPC,
            "sysctl -w user.max_user_namespaces=15000",
        ),
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "user map",
            errno.EPERM,
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        (
            "kernel/unprivileged_userns_clone",
            "0",
            "user namespace",
            errno.EPERM,
            "sysctl -w kernel.unprivileged_userns_clone=1",
        ),
    ],
)
def test_a_switch_of_the_machines_is_named_with_the_command_that_turns_it(
    root: Path, setting: str, value: str, step: str, number: int, helps: str
) -> None:
    (root / "proc/sys" / setting).write_text(value)

    assert helps in diagnose(step, number, root=root)


@pytest.mark.parametrize(
    ("step", "number", "helps"),
    [
        ("user namespace", errno.ENOSPC, "user.max_user_namespaces"),
        ("user namespace", errno.EPERM, "unshare"),
        ("user namespace", errno.EINVAL, "kernel was built without"),
        ("user namespace", errno.EUSERS, "32 deep"),
        ("namespaces", errno.EPERM, "unshare"),
        ("user map", errno.EPERM, "could not be mapped"),
        ("device", errno.EOPNOTSUPP, "modprobe veth"),
        ("rules", errno.EOPNOTSUPP, "modprobe -a nf_tables"),
        ("mounts", errno.EPERM, "could not be mounted"),
        ("mounts", errno.EINVAL, "mount --bind DIR DIR"),
        ("proc", errno.EPERM, "systempaths=unconfined"),
        ("sockets", errno.EADDRINUSE, "Address already in use"),
    ],
)
def test_every_refusal_ends_in_what_helps(root: Path, step: str, number: int, helps: str) -> None:
    text = diagnose(step, number, root=root)

    assert helps in text
    assert text.startswith("a namespace cannot be made here: ")
    assert "--isolate environment" in text


def test_only_existing_kernel_switches_are_named(tmp_path: Path) -> None:
    assert "sysctl" not in diagnose("user namespace", errno.EPERM, root=tmp_path)


@pytest.mark.parametrize("mark", [".dockerenv", "run/.containerenv"])
def test_a_container_gets_its_start_options_as_remedy(root: Path, mark: str) -> None:
    (root / mark).parent.mkdir(exist_ok=True)
    (root / mark).touch()

    assert "--security-opt seccomp=unconfined" in diagnose("user namespace", errno.EPERM, root=root)
