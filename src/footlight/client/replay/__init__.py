"""Logs and sequences, called again, compared with what was logged, or written as a test."""
