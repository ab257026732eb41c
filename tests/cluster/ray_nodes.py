"""Run a Ray cluster of two nodes on loopback until standard input is closed. It prints its address."""

from __future__ import annotations

import sys

from ray.cluster_utils import Cluster


def main() -> None:
    node = {"node_ip_address": "127.0.0.1", "num_cpus": 2, "object_store_memory": 80 << 20}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    cluster.add_node(**node, include_dashboard=False)
    sys.stdout.write(f"address {cluster.address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    cluster.shutdown()


if __name__ == "__main__":
    main()
