"""python -m bench fuzz: send mutated messages through a lane and check that it survives them."""

import argparse
import time
from collections import Counter
from collections.abc import Sequence

from rich.console import Console

from bench.fuzz.cases import Case, case
from bench.fuzz.check import failures
from bench.traffic.loopback_network import enter_loopback_network
from bench.workspace import open_workspace

_SHOWN = 400
"""Bytes of a message that are printed."""


def main(arguments: Sequence[str]) -> int:
    """Run cases and print those that fail; return 1 if there are any."""
    parser = argparse.ArgumentParser(prog="python -m bench fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=2000, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, nargs="+", metavar="NUMBER", help="only these cases")
    parser.add_argument(
        "--failures", type=int, default=10, metavar="N", help="stop after N failures (default: 10)"
    )
    asked = parser.parse_args(arguments)
    if asked.cases < 1 or asked.failures < 1:
        parser.error("--cases and --failures: 1 is the least")
    numbers: list[int] = asked.only or list(range(1, asked.cases + 1))
    try:
        enter_loopback_network()
    except OSError as error:
        numbers = [it for it in numbers if not case(asked.seed, it).may_name_any_host]
        print(
            "Cases that may name any host are skipped, since this user cannot create a network with"
            f" only loopback: {error.strerror}."
        )
    families = Counter(case(asked.seed, number).family for number in numbers)
    print(f"{len(numbers):,} cases, seed {asked.seed}:", *_counts(families))
    began = time.monotonic()
    with open_workspace(quick=True) as workspace, Console(stderr=True).status("running cases"):
        failed = list(failures(workspace, asked.seed, numbers, asked.failures))
    for failure in failed:
        print(f"\nfailed: {'; '.join(failure.why)}")
        print(
            f"repeat: python -m bench fuzz --seed {asked.seed} --only",
            *failure.numbers,
        )
        for number in failure.numbers[:1]:
            _show(case(asked.seed, number))
    print(f"\n{time.monotonic() - began:.0f} s;", f"{len(failed)} failed." if failed else "Clean.")
    return 1 if failed else 0


def _counts(families: Counter[str]) -> list[str]:
    return [f"{name} {times}," for name, times in families.most_common()]


def _show(failing: Case) -> None:
    print(f"case {failing.number}, {failing.family}, into {failing.channel}")
    for what, data in (
        ("client", failing.sends),
        ("site", failing.answer),
        ("client, then", failing.then),
    ):
        if data:
            more = f" … {len(data)} bytes" if len(data) > _SHOWN else ""
            print(f"  {what}: {data[:_SHOWN]!r}{more}")
