"""A busy machine is no failure: no time limit on one example."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("core", deadline=None, max_examples=100)
settings.load_profile("core")
