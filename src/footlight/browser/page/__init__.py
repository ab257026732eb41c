"""One page: its state, refs and selectors, the operations on it, and the diagnosis of failed operations."""
