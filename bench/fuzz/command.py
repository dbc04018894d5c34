"""python -m bench fuzz: mutated requests, answers and handshakes; does the lane bear them all?"""

import argparse
import time
from collections import Counter
from collections.abc import Sequence

from rich.console import Console

from bench.fuzz.cases import Case, case
from bench.fuzz.check import failures
from bench.traffic.loopback_network import leave_the_network
from bench.workspace import setting

_SHOWN = 400
"""Bytes of a message."""


def main(arguments: Sequence[str]) -> int:
    """Try cases and print those that fail; return 1 if there are any."""
    parser = argparse.ArgumentParser(prog="python -m bench fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=2000, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, nargs="+", metavar="NUMBER", help="only these cases")
    parser.add_argument(
        "--failures", type=int, default=10, metavar="N", help="stop after so many (default: 10)"
    )
    asked = parser.parse_args(arguments)
    if asked.cases < 1 or asked.failures < 1:
        parser.error("--cases and --failures: 1 is the least")
    numbers: list[int] = asked.only or list(range(1, asked.cases + 1))
    try:
        leave_the_network()
    except OSError as error:
        numbers = [it for it in numbers if not case(asked.seed, it).names_hosts]
        print(
            f"Cases that may name any host are left out, since this user can have no network with"
            f" loopback alone: {error.strerror}."
        )
    families = Counter(case(asked.seed, number).family for number in numbers)
    print(f"{len(numbers):,} cases, seed {asked.seed}:", *_told(families))
    began = time.monotonic()
    with setting(quick=True) as place, Console(stderr=True).status("trying"):
        found = list(failures(place, asked.seed, numbers, asked.failures))
    for failure in found:
        print(f"\nfailed: {'; '.join(failure.why)}")
        print(
            f"repeat: python -m bench fuzz --seed {asked.seed} --only",
            *failure.numbers,
        )
        for number in failure.numbers[:1]:
            _show(case(asked.seed, number))
    print(f"\n{time.monotonic() - began:.0f} s;", f"{len(found)} failed." if found else "Clean.")
    return 1 if found else 0


def _told(families: Counter[str]) -> list[str]:
    return [f"{name} {times}," for name, times in families.most_common()]


def _show(failing: Case) -> None:
    print(f"case {failing.number}, {failing.family}, into {failing.door}")
    for what, data in (
        ("client", failing.sends),
        ("site", failing.answer),
        ("client, then", failing.then),
    ):
        if data:
            more = f" … {len(data)} bytes" if len(data) > _SHOWN else ""
            print(f"  {what}: {data[:_SHOWN]!r}{more}")
