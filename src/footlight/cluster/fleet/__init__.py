"""The workers of a cluster as a server sees them: placement, the queue for a place, and lost workers."""
