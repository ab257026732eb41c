"""The heap of workers finds the same worker as a search through all of them."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from footlight.cluster.fleet.placement import LeastLoaded

WORKERS = 4


@dataclass(eq=False)
class Machine:
    used: int = 0
    is_free: bool = True


CHANGES = st.lists(
    st.tuples(st.integers(0, WORKERS - 1), st.integers(0, 3), st.booleans(), st.booleans()), max_size=40
)


@given(CHANGES)
def test_the_free_worker_with_the_fewest_sessions_is_found(changes: list[tuple[int, int, bool, bool]]):
    machines = [Machine() for _ in range(WORKERS)]
    heap = LeastLoaded[Machine](lambda machine: machine.is_free)
    for machine in machines:
        heap.note(machine)
    for index, used, is_free, looks in changes:
        machines[index].used, machines[index].is_free = used, is_free
        heap.note(machines[index])
        if looks:
            free = [each for each in machines if each.is_free]
            assert heap.find() is min(free, key=lambda each: each.used, default=None)


def test_frequent_load_changes_do_not_grow_the_heap():
    idle, busy = Machine(), Machine(used=1)
    heap = LeastLoaded[Machine](lambda machine: machine.is_free)
    heap.note(idle)
    for number in range(10_000):
        busy.used = 1 + number % 2
        heap.note(busy)
    assert len(heap) < 200
    assert heap.find() is idle


def test_a_forgotten_worker_is_not_found():
    machine, other = Machine(), Machine(used=1)
    heap = LeastLoaded[Machine](lambda machine: machine.is_free)
    heap.note(machine)
    heap.note(other)
    heap.forget(machine)
    assert heap.find() is other
