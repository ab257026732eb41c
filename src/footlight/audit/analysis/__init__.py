"""The model's part of an audit: walks through a page, judgement and transcript."""
