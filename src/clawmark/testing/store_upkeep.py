"""Contract of a store: what is forgotten, what contradicts itself, and what is told of rows to those who mend them."""

from __future__ import annotations

import pytest

from clawmark.core.forgetting import Tombstone
from clawmark.core.ports import Store
from clawmark.testing.samples import (
    EVERYTHING,
    IDENTITY,
    OTHER_IDENTITY,
    chunk_ids,
    chunks_of,
    document,
    embed,
    ids_in,
    put,
    remove,
)

_STONE = Tombstone("path", "memory/a.md", "path:memory/a.md")
_OTHER = Tombstone("text", "t00 s11", "chunk:memory/a.md#L5")
_TEXT = "Two cranes stand.\n\nThe door is open."


class StoreUpkeep:
    """Tombstones outlive generations; a sound index has no faults."""

    def test_tombstones_come_back_as_they_were_given(self, store: Store) -> None:
        """Twice is once; what is removed is gone; a transaction sees its own."""
        with store.writing("main", IDENTITY) as writer:
            writer.put_tombstones([_STONE, _OTHER])
            writer.put_tombstones([_STONE])
            assert writer.tombstones() == {_STONE, _OTHER}
        with store.reading("main") as reader:
            assert reader.tombstones() == {_STONE, _OTHER}
        with store.writing("main", IDENTITY) as writer:
            writer.remove_tombstones([_STONE])
        with store.reading("main") as reader:
            assert reader.tombstones() == {_OTHER}

    def test_tombstones_belong_to_the_agent_and_not_to_a_generation(self, store: Store) -> None:
        """A rebuild keeps them; another agent has none of them."""
        with store.writing("main", IDENTITY) as writer:
            writer.put_tombstones([_STONE])
        with store.writing("main", OTHER_IDENTITY) as writer:
            assert writer.tombstones() == {_STONE}
            writer.complete()
        with store.writing("other", IDENTITY) as writer:
            writer.remove_tombstones([_STONE])
            assert writer.tombstones() == set()
        with store.reading("main") as reader:
            assert reader.tombstones() == {_STONE}

    def test_a_failed_transaction_forgets_nothing(self, store: Store) -> None:
        """Tombstones and removals of one transaction stand or fall together."""
        with pytest.raises(ZeroDivisionError):
            _fail_after_forgetting(store)
        with store.reading("main") as reader:
            assert reader.tombstones() == set()

    def test_an_agent_without_an_index_has_forgotten_nothing(self, store: Store) -> None:
        """And has no generation, and no fault."""
        with store.reading("main") as reader:
            assert reader.tombstones() == set()
            assert (reader.document_text(1), reader.chunks(1)) == ("", [])
        assert (store.identities("main"), store.faults("main")) == ([], [])
        store.repair("main")

    def test_a_document_gives_its_text_and_its_chunks(self, store: Store) -> None:
        """In the order of the text, each with whether it has a vector."""
        number = put(store, "main", "memory/a.md", _TEXT)
        first, second = chunk_ids(store, "main")
        embed(store, "main", {second: 1.0})
        with store.reading("main") as reader:
            assert reader.document_text(number) == _TEXT
            chunks = reader.chunks(number)
        assert [(chunk.id, chunk.embedded) for chunk in chunks] == [(first, False), (second, True)]
        assert [_TEXT[chunk.start : chunk.end] for chunk in chunks] == _TEXT.split("\n\n")
        assert [(chunk.start_line, chunk.end_line) for chunk in chunks] == [(1, 1), (3, 3)]
        assert [chunk.embedding_key for chunk in chunks] == [chunk.embedding_key for chunk in chunks_of(_TEXT)]

    def test_anothers_document_gives_nothing(self, store: Store) -> None:
        """Not even by its number."""
        put(store, "main", "memory/a.md", "A heron.")
        number = put(store, "other", "memory/secret.md", "A swordfish.")
        with store.reading("main") as reader:
            assert (reader.document_text(number), reader.chunks(number)) == ("", [])

    def test_identities_name_every_generation_the_answering_one_first(self, store: Store) -> None:
        """Until the new one is complete and the old one gone."""
        with store.writing("main", IDENTITY) as writer:
            writer.complete()
        with store.writing("main", OTHER_IDENTITY) as writer:
            writer.replace(document("memory/b.md", "An egret."), chunks_of("An egret."))
        assert store.identities("main") == [IDENTITY, OTHER_IDENTITY]
        with store.writing("main", OTHER_IDENTITY) as writer:
            writer.complete()
        assert store.identities("main") == [OTHER_IDENTITY]
        assert store.identities("other") == []

    def test_a_sound_index_has_no_faults_and_a_repair_changes_nothing(self, store: Store) -> None:
        """Whatever was written, replaced, moved, removed and embedded."""
        number = put(store, "main", "memory/a.md", _TEXT)
        put(store, "main", "memory/b.md", "A heron.")
        put(store, "main", "memory/b.md", "Two herons.\n\nAn egret.")
        embed(store, "main", dict.fromkeys(chunk_ids(store, "main"), 0.5))
        put(store, "main", "memory/c.md", "An ibis.")
        with store.writing("main", IDENTITY) as writer:
            writer.replace(document("memory/d.md", "", rejected="blank"), [])
        remove(store, "main", number)
        with store.reading("main") as reader:
            before = (reader.documents(), reader.counts(), ids_in(reader))
        assert store.faults("main") == []
        store.repair("main")
        with store.reading("main") as reader:
            assert (reader.documents(), reader.counts(), ids_in(reader)) == before
            assert len(reader.text_candidates(["heron"], EVERYTHING, 9)) == 1

    def test_bytes_have_the_same_whole_in_plain_and_in_deep_form(self, store: Store) -> None:
        """The plain form costs no look at every row."""
        put(store, "main", "memory/a.md", _TEXT)
        with store.reading("main") as reader:
            plain, deep = reader.bytes_by_part(deep=False), reader.bytes_by_part()
        assert plain == {"file": deep["file"]}
        assert deep["file"] > 0


def _fail_after_forgetting(store: Store) -> None:
    with store.writing("main", IDENTITY) as writer:
        writer.put_tombstones([_STONE])
        raise ZeroDivisionError
