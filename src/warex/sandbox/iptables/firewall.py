"""Applies the machine's redirect rules and reverts them exactly, also after a crash.

WAREX's rules are found in the kernel by their names. The state file records the rest: which
program applied them, and which tables existed before. It is written first, in /run, so a reboot
removes it together with the rules.
"""

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import msgspec

from warex.errors import InputError, MachineError
from warex.linux.nftables import IpFamily, delete_if_empty, exists
from warex.linux.proc_net import find_listener
from warex.sandbox.iptables.rules import (
    BUILT_IN_CHAINS,
    NFT_TABLE,
    RedirectSpec,
    has_accept_policy,
    iptables_revert,
    iptables_ruleset,
    nft_ruleset,
)

type Backend = Literal["nftables", "iptables"]

_SECONDS = 30
_COMMANDS: dict[IpFamily, str] = {"ip": "iptables", "ip6": "ip6tables"}
_VARIANTS = ("-nft", "-legacy", "")
"""The two implementations of iptables, and the machine's default."""


@dataclass(frozen=True, slots=True)
class AppliedRules:
    """The content of the state file."""

    capture: RedirectSpec
    backend: Backend
    variant: str = ""
    """The iptables used, of ``_VARIANTS``."""
    absent: tuple[tuple[IpFamily, str, str], ...] = ()
    """Tables and chains that did not exist before; "" for the table itself."""


def choose_backend(wanted: Literal["auto", "nftables", "iptables"]) -> Backend:
    """Return the backend to use."""
    if wanted != "auto":
        return wanted
    return "iptables" if _find_program("nft") is None and _find_program("iptables") else "nftables"


def apply(capture: RedirectSpec, wanted: Literal["auto", "nftables", "iptables"]) -> Backend:
    """Apply the rules in place of earlier ones; return the backend used.

    Raises MachineError if this user or this machine cannot, and InputError if the traffic would go
    to another program or back to the proxy itself. After an error no rules are left.
    """
    _must_be_root("apply")
    _check_holder(capture)
    backend = choose_backend(wanted)
    with _locked() as state:
        before = _read(state)
        if backend == "nftables":
            _apply_nft(state, capture, before)
        else:
            _apply_iptables(state, capture, before)
    return backend


def revert() -> bool:
    """Revert all of WAREX's rules; return whether there were any.

    Raises MachineError if this user cannot, or the program that applied them is gone.
    """
    _must_be_root("revert")
    with _locked() as state:
        before = _read(state)
        if before is not None and before.backend == "nftables":
            _require_program("nft", "nftables")
        try:
            had_table = _revert_nft()
        finally:
            with _forgotten(state, before):
                had_rules = _revert_iptables(before)
    return had_table or had_rules


def applied_redirect() -> RedirectSpec | None:
    """Return what the rules of this network namespace redirect; None if unknown."""
    state = _read(_state_file())
    return None if state is None else state.capture


def _must_be_root(what: str) -> None:
    if os.geteuid() != 0:
        raise MachineError(
            f"only root may change the machine's rules: sudo warex iptables {what}. Anybody may see"
            " them by `warex iptables print`, and `warex exec` needs no root"
        )


def _check_holder(capture: RedirectSpec) -> None:
    """Raise InputError if another program holds the port, or the proxy's own traffic is taken."""
    holder = find_listener(capture.proxy_port)
    if holder is None:
        return
    port = capture.proxy_port
    if holder.pid is not None and "warex.proxy.process.forkserver" not in holder.command:
        raise InputError(
            f"port {port} is in use by {holder.command!r} (process {holder.pid}), which would get"
            " the captured traffic; give --proxy-port a port that is free, or the one on which"
            " `warex proxy --transparent` listens"
        )
    if capture.takes(holder.user):
        raise InputError(
            f"the proxy on port {port} runs as user {holder.user}, whose traffic is captured, so it"
            " would be sent back to itself; run it as another user, or capture another's"
        )


@contextmanager
def _all_or_nothing(state: Path, before: AppliedRules | None) -> Iterator[None]:
    """Remove all of WAREX's rules, as far as the machine lets it, if the block fails."""
    try:
        yield
    except BaseException:
        with suppress(MachineError):
            _revert_nft()
        with suppress(MachineError), _forgotten(state, before):
            _revert_iptables(_read(state))
        raise


@contextmanager
def _forgotten(state: Path, before: AppliedRules | None) -> Iterator[None]:
    """Remove the state file after the block reverts the rules of iptables.

    If it fails, rules of iptables that the file recorded before may be left, but no others.
    """
    try:
        yield
    except MachineError:
        if before is not None and before.backend == "iptables":
            _write(state, before)
        else:
            state.unlink(missing_ok=True)
        raise
    state.unlink(missing_ok=True)


# --- nftables ------------------------------------------------------------------------------------


def _apply_nft(state: Path, capture: RedirectSpec, before: AppliedRules | None) -> None:
    _require_program("nft", "nftables")
    # What cannot be read is noticed before anything changes.
    for family, kind in _iptables_variants():
        _saved(family, kind)
    _write(state, AppliedRules(capture, "nftables"))
    with _all_or_nothing(state, before):
        _run("nft", ("-f", "-"), nft_ruleset(capture))
        _revert_iptables(before)


def _revert_nft() -> bool:
    if _find_program("nft") is None or os.geteuid() != 0:
        return False
    tables = _run("nft", ("list", "tables")).splitlines()
    if f"table inet {NFT_TABLE}" not in tables:
        return False
    _run("nft", ("delete", "table", "inet", NFT_TABLE))
    return True


# --- iptables ------------------------------------------------------------------------------------


def _apply_iptables(state: Path, capture: RedirectSpec, before: AppliedRules | None) -> None:
    _require_program("iptables", "iptables")
    kind = "-nft" if "nf_tables" in _run("iptables", ("-V",)) else "-legacy"
    if _find_program(f"iptables{kind}-restore") is None:
        kind = ""
    has_ipv6 = Path("/proc/net/if_inet6").exists()
    families = [family for family in _COMMANDS if family == "ip" or has_ipv6]
    for family in families:
        _require_program(f"{_COMMANDS[family]}{kind}-restore", "iptables")
    saved = {family: _saved(family, kind) for family in families}
    absent = before.absent if before else ()
    if kind != "-legacy":
        places = [(f, table, chain) for f in families for table, chain in BUILT_IN_CHAINS]
        absent += tuple(place for place in places if not exists(*place))
    _write(state, AppliedRules(capture, "iptables", kind, absent))
    with _all_or_nothing(state, before):
        for family, text in saved.items():
            _restore(family, kind, iptables_ruleset(capture, text))
        _revert_nft()


def _iptables_variants() -> Iterator[tuple[IpFamily, str]]:
    """Yield each family and variant that this machine has."""
    for family in _COMMANDS:
        for kind in _VARIANTS:
            if _find_program(f"{_COMMANDS[family]}{kind}-restore") is not None:
                yield family, kind


def _revert_iptables(before: AppliedRules | None) -> bool:
    """Revert whatever can be reverted, then raise the first MachineError if there was one."""
    reverted = False
    errors: list[MachineError] = []
    for family, kind in _iptables_variants():
        try:
            # iptables-save without a table's name creates no table.
            if text := iptables_revert(_saved(family, kind)):
                _restore(family, kind, text)
                reverted = True
        except MachineError as error:
            errors.append(error)
    try:
        _delete_created(before)
    except MachineError as error:
        errors.append(error)
    if errors:
        raise errors[0]
    return reverted


def _delete_created(before: AppliedRules | None) -> None:
    """Delete the tables and chains that did not exist before and are empty."""
    if before is None:
        return
    for family, table, chain in before.absent:
        # The policy of an empty chain may have been changed.
        if not chain or has_accept_policy(_saved(family, before.variant), table, chain):
            delete_if_empty(family, table, chain)


def _saved(family: IpFamily, kind: str) -> str:
    return _run(f"{_COMMANDS[family]}{kind}-save", ())


def _restore(family: IpFamily, kind: str, text: str) -> None:
    _run(f"{_COMMANDS[family]}{kind}-restore", ("--noflush", "--wait", "10"), text)


# --- the state file ------------------------------------------------------------------------------


def _state_file() -> Path:
    """Return the path, one for each network namespace."""
    folder = Path(os.environ.get("WAREX_RUN_DIR") or "/run/warex")
    return folder / f"iptables-{os.stat('/proc/self/ns/net').st_ino}.json"


@contextmanager
def _locked() -> Iterator[Path]:
    state = _state_file()
    try:
        state.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        folder = os.open(state.parent, os.O_RDONLY)
    except OSError as error:
        raise _cannot_keep(state, error) from None
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield state
    finally:
        os.close(folder)


def _cannot_keep(state: Path, error: OSError) -> MachineError:
    return MachineError(
        f"what is put in force cannot be kept in {state}: {error.strerror}; set WAREX_RUN_DIR to a"
        " folder that root can write"
    )


def _write(state: Path, what: AppliedRules) -> None:
    aside = state.with_suffix(".new")
    try:
        aside.write_text(json.dumps({"schema_version": 1, **asdict(what)}) + "\n", encoding="utf-8")
        aside.chmod(0o644)
        aside.replace(state)
    except OSError as error:
        raise _cannot_keep(state, error) from None


def _read(state: Path) -> AppliedRules | None:
    try:
        return msgspec.json.decode(state.read_bytes(), type=AppliedRules)
    except (OSError, msgspec.DecodeError):
        # Missing, or of another version: the rules are still found by their names.
        return None


# --- programs ------------------------------------------------------------------------------------


def _find_program(name: str) -> str | None:
    # A root shell's PATH may lack the sbin folders.
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _require_program(name: str, package: str) -> None:
    if _find_program(name) is None:
        raise MachineError(
            f"there is no {name} on this machine: install it (Debian: apt-get install {package}),"
            f" or choose --backend {'iptables' if package == 'nftables' else 'nftables'}"
        )


def _run(name: str, arguments: Sequence[str], text: str = "") -> str:
    """Run a program and return its output; raise MachineError if it fails."""
    path = _find_program(name)
    if path is None:
        raise MachineError(f"there is no {name} on this machine any more: install it again")
    try:
        done = subprocess.run(
            [path, *arguments],
            input=text,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MachineError(f"{name} cannot be run: {error}") from None
    if done.returncode != 0:
        message = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
        raise MachineError(
            f"{name} refused: {message}. The kernel may lack a module, or a container the right"
            " (docker run --cap-add NET_ADMIN); another --backend may do"
        )
    return done.stdout
