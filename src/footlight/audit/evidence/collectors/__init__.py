"""The collectors of evidence: each measures one aspect of an open page."""
