"""Accessibility snapshots as values: nodes, rendering, differences and search. No I/O."""
