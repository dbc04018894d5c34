"""A program that runs a Ray cluster of two nodes, since Ray must not run in a test's process.

It prints the head's address, then reads a command per line: ``busy`` waits until no CPU is free
and prints how many bytes of memory are reserved, ``node`` kills the second node, ``head`` the head
node. It kills what is left, and ends, with standard input.
"""

import faulthandler
import os
import signal
import sys
import time
from typing import Any

import ray
from ray.cluster_utils import Cluster

MEMORY = 2 * 1024**3
START_LIMIT = 150
"""Seconds in which both nodes are up, also on a busy machine."""


def memory_asked_for_where_no_cpu_is_free(cluster: Cluster) -> int:
    ray.init(address=cluster.address, log_to_driver=False)
    try:
        deadline = time.monotonic() + 60
        while (free := ray.available_resources()).get("CPU", 0):  # type: ignore[no-untyped-call]
            if time.monotonic() > deadline:
                raise TimeoutError(f"some CPU was always free: {free}")
            time.sleep(0.02)
        return int(ray.cluster_resources()["memory"] - free.get("memory", 0))  # type: ignore[no-untyped-call]
    finally:
        # Ray kills its drivers together with the head.
        ray.shutdown()


def main() -> None:
    # A start that hangs says where, and ends.
    faulthandler.dump_traceback_later(START_LIMIT, exit=True)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "memory": MEMORY})
    second = cluster.add_node(num_cpus=1, memory=MEMORY)
    faulthandler.cancel_dump_traceback_later()
    sys.stdout.write(f"{cluster.address}\n")
    sys.stdout.flush()
    for line in sys.stdin:
        answer = "done"
        if line.strip() == "busy":
            answer = str(memory_asked_for_where_no_cpu_is_free(cluster))
        elif line.strip() == "node":
            kill(second)
        elif line.strip() == "head":
            kill(cluster.head_node)
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()
    kill(second)
    kill(cluster.head_node)
    # Ray would wait half a minute for a head that is gone.
    os._exit(0)


def kill(node: Any) -> None:
    for processes in node.all_processes.values():
        for each in processes:
            os.kill(each.process.pid, signal.SIGKILL)
            each.process.wait()


if __name__ == "__main__":
    main()
