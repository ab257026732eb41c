"""Snapshots as text: lines, rows of tables, size limits, and parts that the reader knows already. No I/O."""
