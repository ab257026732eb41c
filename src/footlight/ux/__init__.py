"""Whether a page can be used by its readers: evidence that code measures, and a model's judgement of it."""
