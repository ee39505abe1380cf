"""From a workspace and its settings to the rooms below: rules, store, cache."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from clawmark.config import Settings, user_cache_dir
from clawmark.core.digest import content_hash
from clawmark.core.errors import ArgumentError, ConfigError, WorkspaceNotFoundError
from clawmark.core.ports import Store
from clawmark.embedders.cache import EmbeddingCache
from clawmark.files import ExtraPath, FileRules
from clawmark.sync import LiveRules, Recipe

INDEX_FOLDER = ".clawmark"
INDEX_FILE = "index.sqlite"
SQLITE_PREFIX = "sqlite:///"
# Kinds of session with a person, as far as is known: no setting leaves them out.
CONVERSATIONS = ("interactive", "unknown")


def existing_workspace(workspace: str | os.PathLike[str]) -> Path:
    """Check that a workspace is a folder, and give its absolute path.

    Raises:
        WorkspaceNotFoundError: It is not.
    """
    if not isinstance(workspace, (str, os.PathLike)) or not str(workspace):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise WorkspaceNotFoundError(f"A workspace is a path, not {workspace!r}.")
    path = Path(workspace).expanduser().absolute()
    try:
        is_folder, exists = path.is_dir(), path.exists()
    except OSError as error:
        raise WorkspaceNotFoundError(
            f"The workspace {path} cannot be looked at: {error.strerror}.", action="Name a folder of Markdown notes."
        ) from error
    if not is_folder:
        what = "is not a folder" if exists else "does not exist"
        raise WorkspaceNotFoundError(f"The workspace {path} {what}.", action="Name a folder of Markdown notes.")
    return path


def folds_case(workspace: Path) -> bool:
    """Tell whether the file system of a workspace takes names in another case for the same."""
    other = workspace.with_name(workspace.name.swapcase())
    try:
        return other != workspace and other.samefile(workspace)
    except OSError:
        return False


def file_rules(workspace: Path, settings: Settings) -> FileRules:
    """Give the rules that decide which files count."""
    files = settings.files
    return FileRules(
        workspace=workspace,
        extra_paths=tuple(ExtraPath(extra.path, extra.pattern) for extra in files.extra_paths),
        include=files.include,
        exclude=files.exclude,
        follow_links=files.follow_links,
        max_bytes=files.max_bytes,
        session_paths=settings.sessions.paths,
    )


def recipe(settings: Settings) -> Recipe:
    """Give what is made of a file."""
    automated = settings.sessions.include_kinds
    return Recipe(
        tokens=settings.chunking.tokens,
        overlap=settings.chunking.overlap,
        redact=settings.sessions.redact,
        follow_links=settings.files.follow_links,
        kinds=frozenset((*CONVERSATIONS, *automated)) if automated else None,
    )


def live_rules(settings: Settings) -> LiveRules:
    """Give when a transcript that is being written may wait."""
    sessions = settings.sessions
    return LiveRules(sessions.delta_bytes, sessions.delta_messages, settings.sync.watch_debounce_ms / 1000)


def open_store(workspace: Path, store: Store | str | None, settings: Settings, environ: Mapping[str, str]) -> Store:
    """Open the store that an argument, else the configuration, names.

    Raises:
        ConfigError: The URL is of no known kind.
    """
    if store is not None and not isinstance(store, str):
        if not callable(getattr(store, "reading", None)):
            raise ArgumentError(f"store must be a Store or a URL, not {store!r}.")
        return store
    url = store or settings.store.url
    if not url:
        return _sqlite(index_path(workspace, environ))
    if not url.startswith(SQLITE_PREFIX):
        raise ConfigError(
            f"No store is known for the URL {url!r}.",
            code="UNKNOWN_STORE",
            action="Use sqlite:///PATH (four slashes for an absolute path).",
        )
    path = workspace / Path(url.removeprefix(SQLITE_PREFIX)).expanduser()
    if path.suffix == ".md":
        message = f"The store {url!r} names a Markdown file."
        raise ConfigError(message, code="BAD_SETTING", action="Name a file such as sqlite:///index.sqlite.")
    return _sqlite(path)


def _sqlite(path: Path) -> Store:
    from clawmark.stores.sqlite import SqliteStore

    return SqliteStore(path)


def index_path(workspace: Path, environ: Mapping[str, str]) -> Path:
    """Give the place of the index: in the workspace, or in the user's cache when that is read-only."""
    folder = workspace / INDEX_FOLDER
    # A link could have come with a clone and lead anywhere.
    if not folder.is_symlink() and os.access(folder if folder.is_dir() else workspace, os.W_OK):
        return folder / INDEX_FILE
    return index_of_read_only(workspace, environ)


def index_of_read_only(workspace: Path, environ: Mapping[str, str]) -> Path:
    """Give the place of the index of a workspace that cannot be written to."""
    name = content_hash(str(workspace.resolve()).encode("utf-8", "surrogateescape"))[:16]
    return user_cache_dir(environ) / "indexes" / name / INDEX_FILE


def writer_lock_path(workspace: Path, environ: Mapping[str, str]) -> Path:
    """Give the lock file of those who write memory files: one for a workspace, whatever its store."""
    return index_path(workspace, environ).with_name("write.lock")


def lock_path(store: Store) -> Path | None:
    """Give the file that is locked during a pass; None when the store is no file."""
    path = getattr(store, "path", None)
    return path.with_name("sync.lock") if isinstance(path, Path) else None


def embedding_cache(
    settings: Settings, environ: Mapping[str, str], told: Callable[[str, str, int], None]
) -> EmbeddingCache | None:
    """Give the user's embedding cache, which tells of what it spares; None when it is switched off."""
    if not settings.cache.enabled:
        return None
    path = user_cache_dir(environ) / "embeddings.sqlite"
    return EmbeddingCache(path, max_entries=settings.cache.max_entries, told=told)


def models_folder(environ: Mapping[str, str]) -> Path:
    """Give the folder in which local models keep what starts them faster."""
    return user_cache_dir(environ) / "models"
