"""The index over the step files, and its queries: search, summary and prior knowledge."""
