"""Flows over real applications: what each server's answers cost a model that acts by them."""
