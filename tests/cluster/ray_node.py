"""Add a node to a Ray cluster on loopback, as `ray start --block --address ADDRESS --num-cpus CPUS` does.

That command itself refuses loopback. The node ends at SIGTERM.
"""

from __future__ import annotations

import signal
import sys

from ray._private.node import Node
from ray._private.parameter import RayParams


def main(address: str, cpus: str) -> None:
    parameters = RayParams(
        gcs_address=address,
        redis_address=address,
        node_ip_address="127.0.0.1",
        num_cpus=int(cpus),
        object_store_memory=80 << 20,
        min_worker_port=0,
        max_worker_port=0,
        dashboard_port=None,
    )
    Node(parameters, head=False, shutdown_at_exit=True, spawn_reaper=True)
    sys.stdout.write("Ray runtime started\n")
    sys.stdout.flush()
    while True:
        signal.pause()


if __name__ == "__main__":
    main(*sys.argv[1:])
