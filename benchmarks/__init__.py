"""Benchmarks, side by side with other servers and clients: `make bench`."""
