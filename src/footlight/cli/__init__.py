"""The ways in. Every command imports what it needs when it runs."""
