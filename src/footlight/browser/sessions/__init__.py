"""Sessions: isolated browser contexts, their pages, state and lifetime."""
