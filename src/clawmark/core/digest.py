"""Digests of contents; ``hashlib`` is loaded with the first one, because most searches need none."""

from __future__ import annotations


def content_hash(data: bytes) -> str:
    """Give the SHA-256 of some bytes, hex: what ``hash`` means in every value."""
    import hashlib

    return hashlib.sha256(data).hexdigest()


def content_key(data: bytes) -> bytes:
    """Give a BLAKE2b digest of 16 bytes: the key of a text among vectors."""
    import hashlib

    return hashlib.blake2b(data, digest_size=16).digest()
