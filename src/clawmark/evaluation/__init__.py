"""Labelled questions against real searches: the numbers that ranking is chosen by."""
