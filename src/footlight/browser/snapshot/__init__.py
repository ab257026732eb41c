"""Accessibility snapshots as values: nodes, their text, differences and search. No I/O."""
