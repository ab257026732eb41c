"""Acting on a page: clicks, typing, forms, navigation, waiting."""
