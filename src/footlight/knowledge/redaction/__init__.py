"""Redaction of secrets: rules that define what is secret, and functions that remove it from texts."""
