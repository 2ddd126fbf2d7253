"""Bounded test functions: what bounds cost a search."""
