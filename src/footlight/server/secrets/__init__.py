"""Secrets that calls use by name, and the masking of their values in everything that leaves the server."""
