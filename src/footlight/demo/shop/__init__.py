"""The demonstration shop: its catalogue, its pages, and what its visitors submitted."""
