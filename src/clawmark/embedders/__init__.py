"""Embedders: texts to vectors, each behind the one Protocol of ``core.ports``."""
