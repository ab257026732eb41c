"""A language model at work: who makes it, how it is asked, and the tools that it may call."""
