"""Evidence about a page that code measures through a server's tools, without a model."""
