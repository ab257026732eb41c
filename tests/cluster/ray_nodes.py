"""Run a Ray cluster on loopback until standard input is closed. It prints its address.

Each argument is the number of processors of a node.
"""

from __future__ import annotations

import sys
from typing import Any

from ray.cluster_utils import Cluster


def main() -> None:
    first, *others = (_node(int(each)) for each in sys.argv[1:])
    cluster = Cluster(initialize_head=True, head_node_args=first)
    for node in others:
        cluster.add_node(**node)
    sys.stdout.write(f"address {cluster.address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    cluster.shutdown()


def _node(cpus: int) -> dict[str, Any]:
    return {
        "node_ip_address": "127.0.0.1",
        "num_cpus": cpus,
        "object_store_memory": 80 << 20,
        "include_dashboard": False,
        # No test needs these two: the one starts machines, the other copies the output of workers.
        "no_monitor": True,
        "include_log_monitor": False,
    }


if __name__ == "__main__":
    main()
