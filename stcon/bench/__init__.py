"""Measurements of stcon beside its peers: ``python -m stcon bench``."""
