"""What was done and seen, step by step, kept with the repository and found again."""
