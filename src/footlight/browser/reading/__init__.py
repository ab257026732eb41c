"""Reading a page: text, values, Markdown, pictures, storage."""
