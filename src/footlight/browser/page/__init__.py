"""One page: its documents, refs and selectors, what is asked of it, and why an operation failed."""
