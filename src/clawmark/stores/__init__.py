"""Stores: the index behind the one Protocol of ``core.ports``."""
