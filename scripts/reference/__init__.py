"""The generator of docs/reference/: one module for each page, and what the pages share.

Run it with `make gen`, or as `python -m scripts.reference [--check]`.
"""
