"""Contract of a store: no agent ever sees, counts or changes what is another's."""

from __future__ import annotations

import pytest

from clawmark.core.ports import Store
from clawmark.testing.samples import (
    EVERYTHING,
    IDENTITY,
    OTHER_IDENTITY,
    SPACE,
    best_of,
    chunk_ids,
    embed,
    ids_in,
    paths_in,
    put,
    remove,
    unit,
)

_TEXT = "heron egret\n\nheron"


class StoreAgents:
    """The same paths and the same words, side by side in one store."""

    @pytest.fixture
    def shared(self, store: Store) -> Store:
        """A store in which two agents have the same note, and one of them a secret beside it."""
        put(store, "ann", "memory/a.md", _TEXT)
        put(store, "bob", "memory/a.md", _TEXT)
        put(store, "bob", "memory/secret.md", "heron swordfish\n\nheron\n\nheron")
        for agent in ("ann", "bob"):
            embed(store, agent, dict.fromkeys(chunk_ids(store, agent), 0.5))
        return store

    def test_agents_are_named(self, shared: Store) -> None:
        """Those that have an index here, in order."""
        assert shared.agents() == ["ann", "bob"]

    def test_no_leg_finds_what_is_anothers(self, shared: Store) -> None:
        """Not by word, not by scan, not by meaning."""
        with shared.reading("ann") as reader:
            own = ids_in(reader)
            assert paths_in(reader) == ["memory/a.md"]
            assert reader.text_candidates(["swordfish"], EVERYTHING, 99) == []
            assert reader.scan_text(["swordfish"], EVERYTHING) == []
            assert set(reader.text_candidates(["heron"], EVERYTHING, 99)) == set(own)
            assert {found for found, _ in reader.vector_candidates(unit(), EVERYTHING, 99)} == set(own)

    def test_anothers_words_do_not_shift_scores(self, shared: Store) -> None:
        """N, average length and frequencies are of the agent alone; so are counts and sizes."""
        with shared.reading("ann") as reader:
            statistics = reader.statistics(["heron", "swordfish"])
            assert (statistics.chunks, statistics.average_length) == (2, 1.5)
            assert statistics.document_frequency["heron"] == 2
            assert statistics.document_frequency.get("swordfish", 0) == 0
            assert reader.counts() == {"memory": {"files": 1, "chunks": 2, "vectors": 2, "rejected": 0}}
            assert reader.pending(limit=99) == []

    def test_anothers_ids_lead_to_nothing(self, shared: Store) -> None:
        """Neither text, nor description, nor cosine, even when a number is guessed."""
        foreign = chunk_ids(shared, "bob")
        with shared.reading("bob") as reader:
            documents = frozenset(row.id for row in reader.documents())
        with shared.reading("ann") as reader:
            assert reader.texts(foreign) == {}
            assert reader.candidates(foreign, ["heron"]) == []
            assert reader.cosines(unit(), foreign) == {}
            where = type(EVERYTHING)(EVERYTHING.sources, documents)
            assert reader.text_candidates(["heron"], where, 99) == []
            assert reader.vector_candidates(unit(), where, 99) == []

    def test_a_writer_cannot_change_what_is_anothers(self, shared: Store) -> None:
        """Removing, moving, touching or embedding by a number of another agent does nothing."""
        with shared.reading("bob") as reader:
            before = (reader.documents(), reader.texts(ids_in(reader)), reader.counts())
            chunks = ids_in(reader)
        with shared.writing("ann", IDENTITY) as writer:
            for row in before[0]:
                writer.touch(row.id, size=1, mtime_ns=1)
                writer.move(row.id, path="memory/mine.md", size=1, mtime_ns=1)
                writer.remove(row.id)
            writer.put_vectors(dict.fromkeys(chunks, unit(-1.0)), space=SPACE)
        with shared.reading("bob") as reader:
            assert (reader.documents(), reader.texts(chunks), reader.counts()) == before
            assert best_of(reader, chunks) == pytest.approx(dict.fromkeys(chunks, 0.5), abs=1e-6)
            assert len(reader.text_candidates(["heron"], EVERYTHING, 99)) == 5
            assert reader.statistics(["heron"]).chunks == 5
        with shared.reading("ann") as reader:
            assert reader.statistics(["heron"]).chunks == 2

    def test_one_agents_rebuild_leaves_the_other_alone(self, shared: Store) -> None:
        """Generations, identities and facts belong to one agent."""
        with shared.writing("bob", IDENTITY) as writer:
            writer.put_facts({"error": "swordfish"})
            writer.complete()
        with shared.writing("ann", OTHER_IDENTITY) as writer:
            writer.complete()
        with shared.reading("ann") as reader:
            state = reader.state()
            assert state is not None
            assert (reader.documents(), "error" in state.facts) == ([], False)
        with shared.reading("bob") as reader:
            assert paths_in(reader) == ["memory/a.md", "memory/secret.md"]
            assert len(reader.text_candidates(["heron"], EVERYTHING, 99)) == 5
            assert len(reader.vector_candidates(unit(), EVERYTHING, 99)) == 5

    def test_one_agents_removal_leaves_the_others_same_note(self, shared: Store) -> None:
        """Also when path, text and words are equal."""
        with shared.reading("ann") as reader:
            (row,) = reader.documents()
        remove(shared, "ann", row.id)
        with shared.reading("bob") as reader:
            assert paths_in(reader) == ["memory/a.md", "memory/secret.md"]
            assert len(reader.text_candidates(["egret"], EVERYTHING, 99)) == 1
            assert reader.statistics(["egret"]).document_frequency["egret"] == 1
