"""Contract of a store: documents that change in part keep what stays the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clawmark.core.errors import StoreError
from clawmark.core.ports import ChunkRow, Store
from clawmark.testing.samples import EVERYTHING, IDENTITY, chunk_ids, chunks_of, document, embed, ids_in, put, unit

_BIRDS = "A crane.\n\nA heron.\n\nAn egret."


class StoreGrowth:
    """Replaced and extended documents: nothing is embedded again, nothing is left behind."""

    def test_a_chunk_with_the_same_text_keeps_its_vector_when_its_document_is_replaced(self, store: Store) -> None:
        """Wherever it stands now; what is new waits for its own."""
        put(store, "main", "memory/a.md", _BIRDS)
        first, second, third = chunk_ids(store, "main")
        embed(store, "main", {first: 0.1, second: 0.2, third: 0.3})
        put(store, "main", "memory/a.md", "A crane.\n\nTwo storks.\n\nAn egret.\n\nA heron.")
        with store.reading("main") as reader:
            texts = reader.texts(ids_in(reader))
            near = reader.cosines(unit(), ids_in(reader))
            waiting = [chunk.text for chunk in reader.pending(limit=10)]
        assert {texts[number]: round(cosine.best, 3) for number, cosine in near.items()} == {
            "A crane.": 0.1,
            "An egret.": 0.3,
            "A heron.": 0.2,
        }
        assert waiting == ["Two storks."]

    def test_a_chunk_below_another_heading_waits_for_a_vector_of_its_own(self, store: Store) -> None:
        """The heading is part of what is embedded."""
        put(store, "main", "memory/a.md", "A crane.", context="Birds")
        embed(store, "main", {chunk_ids(store, "main")[0]: 0.5})
        put(store, "main", "memory/a.md", "A crane.", context="Machines")
        with store.reading("main") as reader:
            assert len(reader.pending(limit=10)) == 1

    def test_ids_rise_in_the_order_of_the_text_after_any_change(self, store: Store) -> None:
        """Ties are broken by them, as in an index that is made anew."""
        put(store, "main", "memory/a.md", _BIRDS)
        put(store, "main", "memory/a.md", "A crane.\n\nA stork.\n\nA heron.\n\nAn egret.")
        with store.reading("main") as reader:
            texts = reader.texts(ids_in(reader))
        assert [texts[number] for number in sorted(texts)] == ["A crane.", "A stork.", "A heron.", "An egret."]

    def test_an_extended_document_is_what_replacing_it_would_give(self, store: Store) -> None:
        """Rows, texts, words and vectors; the kept chunks stay as they are."""
        whole = "A crane.\n\nA heron flies.\n\nAn egret."
        put(store, "main", "memory/a.md", "A crane.\n\nA heron.")
        before = chunk_ids(store, "main")
        embed(store, "main", dict.fromkeys(before, 0.5))
        kept = len("A crane.\n\n")
        with store.writing("main", IDENTITY) as writer:
            tail = replace(document("memory/a.md", whole), text=whole[kept:])
            number = writer.extend(tail, chunks_of(whole)[1:], kept_chunks=1, kept_chars=kept)
        with store.reading("main") as reader:
            (row,) = reader.documents()
            assert (row.id, row.chunks, row.hash) == (number, 3, document("memory/a.md", whole).hash)
            assert list(reader.texts(ids_in(reader)).values()) == ["A crane.", "A heron flies.", "An egret."]
            assert ids_in(reader)[0] == before[0]
            assert [chunk.text for chunk in reader.pending(limit=10)] == ["A heron flies.", "An egret."]
            assert reader.statistics(["crane", "heron", "egret"]).document_frequency == dict.fromkeys(
                ("crane", "heron", "egret"), 1
            )
            assert reader.statistics([]).chunks == 3
            assert reader.text_candidates(["heron"], EVERYTHING, 10) == ids_in(reader)[1:2]

    def test_a_document_that_is_not_there_cannot_be_extended(self, store: Store) -> None:
        """Half a document would be worse than none."""
        put(store, "main", "memory/a.md", "A crane.")
        for path, kept in (("memory/b.md", 1), ("memory/a.md", 2)):
            with pytest.raises(StoreError), store.writing("main", IDENTITY) as writer:
                writer.extend(document(path, "x"), chunks_of("x"), kept_chunks=kept, kept_chars=1)
        with store.reading("main") as reader:
            assert [row.path for row in reader.documents()] == ["memory/a.md"]

    def test_who_said_what_in_which_session_comes_back(self, store: Store) -> None:
        """Speaker and time of a chunk, kind and id of its session; nothing of it for files."""
        said: ChunkRow = replace(chunks_of("A crane.")[0], speaker="user", spoken_ms=1_782_000_000_000)
        given = document("sessions/a.jsonl", "A crane.", source="sessions", meta={"kind": "scheduled", "session": "s1"})
        with store.writing("main", IDENTITY) as writer:
            writer.replace(given, [said])
        put(store, "main", "memory/a.md", "A heron.")
        with store.reading("main") as reader:
            found = {item.source: item for item in reader.candidates(ids_in(reader), [])}
        spoken, written = found["sessions"], found["memory"]
        assert (spoken.kind, spoken.session, spoken.speaker, spoken.spoken_ms) == (
            "scheduled",
            "s1",
            "user",
            1_782_000_000_000,
        )
        assert (written.kind, written.session, written.speaker, written.spoken_ms) == ("", "", "", None)
