"""The knowledge store: records of tool calls, kept with the repository, with search and reports."""
