"""Read a page: text, values, Markdown, pictures, storage."""
