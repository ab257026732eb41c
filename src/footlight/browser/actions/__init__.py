"""Actions on a page: clicks, typing, forms, navigation and waits."""
