"""The tools that measure the open page without a model."""
