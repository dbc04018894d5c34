"""A Ray cluster of two nodes on this machine, as a program: Ray must not live in a test's process.

It prints the head's address, then obeys a word a line: ``node`` kills the second node, ``head``
the first with all that holds the cluster together. It ends with its input.
"""

import os
import signal
import sys

from ray.cluster_utils import Cluster

MEMORY = 2 * 1024**3


def main() -> None:
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "memory": MEMORY})
    second = cluster.add_node(num_cpus=1, memory=MEMORY)
    sys.stdout.write(f"{cluster.address}\n")
    sys.stdout.flush()
    for line in sys.stdin:
        if line.strip() == "node":
            cluster.remove_node(second, allow_graceful=False)
        elif line.strip() == "head" and cluster.head_node is not None:
            for processes in cluster.head_node.all_processes.values():
                for each in processes:
                    os.kill(each.process.pid, signal.SIGKILL)
        sys.stdout.write("done\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
