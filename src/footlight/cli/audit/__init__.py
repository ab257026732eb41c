"""`footlight audit`: the accessibility and usability audit of web pages."""
