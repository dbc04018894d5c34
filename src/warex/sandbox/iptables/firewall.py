"""Puts the machine's rules in force and takes them back exactly, also after a crash in the middle.

What is to be taken back is looked up in the kernel, where ours is known by its names; the state
file says what the kernel cannot: which program put it there, and which tables there were before. It
is written first, lies in /run, and is thus gone after a reboot, as the rules are.
"""

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from warex.errors import InputError, MachineError
from warex.linux.nftables import IpFamily, delete_if_empty, exists
from warex.linux.proc_net import Listener, find_listener
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
"""The two implementations of iptables, and the name for whichever the machine prefers."""


@dataclass(frozen=True, slots=True)
class AppliedRules:
    """What the state file says."""

    capture: RedirectSpec
    backend: Backend
    variant: str = ""
    """Which iptables put it there, of ``_VARIANTS``."""
    absent: tuple[tuple[IpFamily, str, str], ...] = ()
    """Tables and their chains that only our rules brought into being; "" for the table itself."""


def choose_backend(wanted: Literal["auto", "nftables", "iptables"]) -> Backend:
    """Return the backend to use; raise MachineError where its program is missing."""
    if wanted == "auto":
        return (
            "iptables" if _find_program("nft") is None and _find_program("iptables") else "nftables"
        )
    return wanted


def apply(capture: RedirectSpec, wanted: Literal["auto", "nftables", "iptables"]) -> Backend:
    """Put the rules in force, in the place of earlier ones; return the backend that holds them.

    Raises MachineError where this user or this machine cannot, and InputError where the traffic
    would go to a stranger or round in a circle; nothing is left then.
    """
    _must_be_root("apply")
    _check_holder(capture)
    backend = choose_backend(wanted)
    with _locked() as state:
        before = _read(state)
        if backend == "nftables":
            _require_program("nft", "nftables")
            _write(state, AppliedRules(capture, backend))
            _revert_on_error(state, lambda: _run("nft", ("-f", "-"), nft_ruleset(capture)))
            _revert_iptables(before)
        else:
            _apply_iptables(state, capture, before)
            _revert_nft()
    return backend


def revert() -> bool:
    """Take all rules of ours back; return whether there were any.

    Raises MachineError where this user cannot, or the program that put them there has gone.
    """
    _must_be_root("revert")
    with _locked() as state:
        before = _read(state)
        if before is not None and before.backend == "nftables":
            _require_program("nft", "nftables")
        found = [_revert_nft(), _revert_iptables(before)]
        state.unlink(missing_ok=True)
    return any(found)


def applied_redirect() -> RedirectSpec | None:
    """Return what the rules of this network namespace take, as far as this user may know."""
    found = _read(_state_file())
    return None if found is None else found.capture


def _must_be_root(what: str) -> None:
    if os.geteuid() != 0:
        raise MachineError(
            f"only root may change the machine's rules: sudo warex iptables {what}. Anybody may see"
            " them by `warex iptables print`, and `warex exec` needs no root"
        )


def _check_holder(capture: RedirectSpec) -> None:
    """Refuse to send traffic to a program that is not the proxy, or the proxy's to itself."""
    holder = find_listener(capture.proxy_port)
    if holder is None:
        return
    port = capture.proxy_port
    if holder.pid is not None and not _is_warex(holder):
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


def _is_warex(listener: Listener) -> bool:
    return "warex.proxy.process.forkserver" in listener.command


def _revert_on_error(state: Path, put: Callable[[], object]) -> None:
    try:
        put()
    except BaseException:
        with suppress(MachineError):
            _revert_nft()
            _revert_iptables(_read(state))
            state.unlink(missing_ok=True)
        raise


# --- nftables ------------------------------------------------------------------------------------


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
    families = list(_families())
    for family in families:
        _require_program(f"{_COMMANDS[family]}{kind}-restore", "iptables")
    saved = {family: _saved(family, kind) for family in families}
    absent = before.absent if before else ()
    if kind != "-legacy":
        places = [(f, table, chain) for f in families for table, chain in BUILT_IN_CHAINS]
        absent += tuple(place for place in places if not exists(*place))
    _write(state, AppliedRules(capture, "iptables", kind, absent))

    def put() -> None:
        for family, text in saved.items():
            _restore(family, kind, iptables_ruleset(capture, text))

    _revert_on_error(state, put)


def _revert_iptables(before: AppliedRules | None) -> bool:
    found = False
    for family in _COMMANDS:
        for kind in _VARIANTS:
            # Without a table's name, nothing is brought into being by asking.
            if _find_program(f"{_COMMANDS[family]}{kind}-restore") is None:
                continue
            if text := iptables_revert(_saved(family, kind)):
                _restore(family, kind, text)
                found = True
    for family, table, chain in before.absent if before else ():
        # An empty chain may have got a policy of somebody's meanwhile.
        if not chain or has_accept_policy(
            _saved(family, before.variant if before else ""), table, chain
        ):
            delete_if_empty(family, table, chain)
    return found


def _families() -> Iterator[IpFamily]:
    yield "ip"
    if Path("/proc/net/if_inet6").exists():
        yield "ip6"


def _saved(family: IpFamily, kind: str) -> str:
    return _run(f"{_COMMANDS[family]}{kind}-save", ())


def _restore(family: IpFamily, kind: str, text: str) -> None:
    _run(f"{_COMMANDS[family]}{kind}-restore", ("--noflush", "--wait", "10"), text)


# --- the state file ------------------------------------------------------------------------------


def _state_file() -> Path:
    """One for each network namespace: rules are a namespace's, too."""
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
        data = json.loads(state.read_text(encoding="utf-8"))
        given = data["capture"]
        capture = RedirectSpec(
            ports=tuple(given["ports"]),
            proxy_port=given["proxy_port"],
            user=given["user"],
            exempt_user=given["all_but"],
            incoming=tuple(given["incoming"]),
        )
        absent = tuple((family, table, chain) for family, table, chain in data["absent"])
        return AppliedRules(capture, data["backend"], data["kind"], absent)
    except (OSError, ValueError, KeyError, TypeError):
        # Not there, or of another version: what is ours is known by its names all the same.
        return None


# --- programs ------------------------------------------------------------------------------------


def _find_program(name: str) -> str | None:
    # sudo's PATH has the folders for root's programs; a root shell's may not.
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _require_program(name: str, package: str) -> None:
    if _find_program(name) is None:
        raise MachineError(
            f"there is no {name} on this machine: install it (Debian: apt-get install {package}),"
            f" or choose --backend {'iptables' if package == 'nftables' else 'nftables'}"
        )


def _run(name: str, arguments: Sequence[str], text: str = "") -> str:
    """Run a program to its end and return what it printed; raise MachineError where it fails."""
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
        said = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
        raise MachineError(
            f"{name} refused: {said}. The kernel may lack a module, or a container the right"
            " (docker run --cap-add NET_ADMIN); another --backend may do"
        )
    return done.stdout
