"""Errors: one root, stable codes, and what a caller can catch."""

from __future__ import annotations

import pytest

import clawmark
from clawmark.core import errors
from clawmark.core.errors import (
    ArgumentError,
    ClawmarkError,
    ConfigError,
    ConflictError,
    EmbeddingError,
    InputTooLongError,
    PathNotAllowedError,
    QuotaError,
    RateLimitedError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    WorkspaceNotFoundError,
)

CLASSES = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, ClawmarkError)]


def test_every_error_has_the_root_and_a_code_of_its_own() -> None:
    codes = [kind.default_code for kind in CLASSES]

    assert len(set(codes)) == len(codes)
    assert all(code == code.upper() for code in codes)


@pytest.mark.parametrize("kind", [ArgumentError, WorkspaceNotFoundError, ConfigError])
def test_a_wrong_argument_or_setting_is_a_value_error(kind: type[ClawmarkError]) -> None:
    assert issubclass(kind, ValueError)


@pytest.mark.parametrize("kind", [InputTooLongError, RateLimitedError, QuotaError])
def test_a_provider_that_refuses_is_an_embedding_error(kind: type[ClawmarkError]) -> None:
    assert issubclass(kind, EmbeddingError)


@pytest.mark.parametrize("kind", [StoreBusyError, StoreCorruptError])
def test_a_lock_and_a_damaged_index_are_told_apart(kind: type[ClawmarkError]) -> None:
    """L03."""
    assert issubclass(kind, StoreError)
    assert not issubclass(StoreBusyError, StoreCorruptError)


def test_an_error_carries_message_code_and_action() -> None:
    plain = PathNotAllowedError("memory/../x is outside.")
    told = StoreError("No index.", code="INDEX_MISSING", action="Run `clawmark index`.")

    assert (plain.message, plain.code, plain.action) == ("memory/../x is outside.", "MEMORY_PATH_NOT_ALLOWED", "")
    assert (str(told), told.code, told.action) == ("No index.", "INDEX_MISSING", "Run `clawmark index`.")


def test_a_conflict_carries_the_hash_of_the_file_as_it_is() -> None:
    """I03."""
    assert ConflictError("MEMORY.md has changed.", current_hash="abc").current_hash == "abc"


def test_a_rate_limit_carries_the_time_to_wait() -> None:
    """P02."""
    assert RateLimitedError(retry_after=30.0).retry_after == 30.0
    assert RateLimitedError().retry_after is None
    assert RateLimitedError().code == "RATE_LIMITED"


def test_the_errors_of_the_contract_are_exported() -> None:
    names = [
        "ClawmarkError",
        "PathNotAllowedError",
        "ConflictError",
        "ConfigError",
        "InputTooLongError",
        "RateLimitedError",
        "QuotaError",
    ]

    assert [getattr(clawmark, name) for name in names] == [getattr(errors, name) for name in names]
