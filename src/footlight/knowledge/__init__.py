"""The memory of steps: records of tool calls, kept with the repository, searched and reported."""
