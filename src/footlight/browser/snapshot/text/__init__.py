"""Snapshots as text: lines, rows of tables, size limits, and parts that the reader already knows. No I/O."""
