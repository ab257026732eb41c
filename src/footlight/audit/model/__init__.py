"""Language models: their providers, requests, and the tools that they may call."""
