"""Make the pictures of the README and the documentation from real runs."""
