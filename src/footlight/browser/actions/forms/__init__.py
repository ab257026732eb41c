"""Fill the fields of forms: texts, choices, checkboxes and files."""
