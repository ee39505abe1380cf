"""Contract of a store: documents, transactions, generations."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from clawmark.core.chunking import embedding_text
from clawmark.core.ports import IndexState, Store
from clawmark.testing.samples import (
    EVERYTHING,
    IDENTITY,
    OTHER_IDENTITY,
    OTHER_SPACE,
    SPACE,
    chunk_ids,
    chunks_of,
    document,
    embed,
    ids_in,
    in_thread,
    paths_in,
    put,
    remove,
    unit,
)

_CRANES = "Two cranes stand at the lock.\n\nThe door is open."


class StoreDocuments:
    """Documents replaced, removed and moved; all of a transaction, or nothing."""

    def test_an_agent_without_an_index_has_nothing(self, store: Store) -> None:
        """No state, no rows, no candidates, and no error."""
        with store.reading("main") as reader:
            assert reader.state() is None
            assert reader.documents() == []
            assert reader.counts() == {}
            assert reader.text_candidates(["crane"], EVERYTHING, 10) == []
            assert reader.vector_candidates(unit(), EVERYTHING, 10) == []
            assert reader.statistics(["crane"]).chunks == 0
            assert reader.pending(limit=10) == []
        assert store.agents() == []

    def test_a_document_comes_back_as_it_was_given(self, store: Store) -> None:
        """Every field of the row, and the facts about it."""
        given = document(
            "sessions/a.jsonl", _CRANES, source="sessions", time_ms=1_782_000_000_000, meta={"kind": "chat", "n": [1]}
        )
        with store.writing("main", IDENTITY) as writer:
            number = writer.replace(given, chunks_of(_CRANES))
        with store.reading("main") as reader:
            (row,) = reader.documents()
        assert row.id == number
        assert (row.source, row.path, row.hash) == ("sessions", "sessions/a.jsonl", given.hash)
        assert (row.size, row.mtime_ns, row.time_ms) == (given.size, given.mtime_ns, given.time_ms)
        assert (row.rejected, row.chunks, dict(row.meta)) == (None, 2, {"kind": "chat", "n": [1]})

    def test_a_chunk_is_described_by_its_place_and_its_file(self, store: Store) -> None:
        """Candidates carry what ranking, decay and citations need."""
        number = put(store, "main", "memory/a.md", _CRANES, meta={"kind": "chat"}, time_ms=5)
        first, second = chunk_ids(store, "main")
        with store.reading("main") as reader:
            found = {item.id: item for item in reader.candidates([first, second], ["door", "absent"])}
            (row,) = reader.documents()
        item = found[second]
        assert (item.document_id, item.source, item.path) == (number, "memory", "memory/a.md")
        assert (item.start_line, item.end_line) == (3, 3)
        assert (item.mtime_ns, item.size, item.time_ms, item.kind) == (row.mtime_ns, row.size, 5, "chat")
        assert dict(item.frequencies) == {"door": 1}
        assert not found[first].frequencies.get("door")

    def test_texts_are_those_of_the_chunks(self, store: Store) -> None:
        """Byte for byte, in any script, and only of what was asked for."""
        text = "一二三 钥匙柜\r end 😀\n\nSecond\u2028part\x01"
        put(store, "main", "memory/a.md", text)
        first, second = chunk_ids(store, "main")
        with store.reading("main") as reader:
            assert reader.texts([first]) == {first: "一二三 钥匙柜\r end 😀"}
            assert reader.texts([second, 999_999]) == {second: "Second\u2028part\x01"}
            assert reader.texts([]) == {}

    def test_replacing_leaves_nothing_of_what_was_there(self, store: Store) -> None:
        """Old chunks, terms and vectors go with their document, in the same transaction."""
        put(store, "main", "memory/a.md", _CRANES)
        old = chunk_ids(store, "main")
        embed(store, "main", dict.fromkeys(old, 1.0))
        put(store, "main", "memory/a.md", "A heron waits.")
        with store.reading("main") as reader:
            assert [row.chunks for row in reader.documents()] == [1]
            assert reader.text_candidates(["crane", "door"], EVERYTHING, 10) == []
            assert reader.vector_candidates(unit(), EVERYTHING, 10) == []
            assert reader.text_candidates(["heron"], EVERYTHING, 10) == ids_in(reader)
            assert reader.cosines(unit(), old) == {}
            assert [chunk.text for chunk in reader.pending(limit=10)] == ["A heron waits."]

    def test_a_replaced_document_keeps_the_vectors_of_texts_that_stay(self, store: Store) -> None:
        """Wherever they stand now; what is new waits for one."""
        put(store, "main", "memory/a.md", _CRANES)
        embed(store, "main", dict(zip(chunk_ids(store, "main"), (0.25, 0.75), strict=True)))
        put(store, "main", "memory/a.md", "A heron waits.\n\nThe door is open.")
        with store.reading("main") as reader:
            assert [chunk.text for chunk in reader.pending(limit=10)] == ["A heron waits."]
            ((found, cosine),) = reader.vector_candidates(unit(), EVERYTHING, 10)
            assert (reader.texts([found])[found], cosine) == ("The door is open.", pytest.approx(0.75, abs=1e-6))
        assert store.faults("main") == []

    def test_a_removed_document_is_never_found_again(self, store: Store) -> None:
        """Neither by word, nor by meaning, nor in a count."""
        number = put(store, "main", "memory/a.md", _CRANES)
        put(store, "main", "memory/b.md", "A heron waits.")
        old = chunk_ids(store, "main", "memory/a.md")
        embed(store, "main", dict.fromkeys(chunk_ids(store, "main"), 1.0))
        remove(store, "main", number)
        with store.reading("main") as reader:
            assert paths_in(reader) == ["memory/b.md"]
            assert reader.text_candidates(["crane"], EVERYTHING, 10) == []
            assert reader.scan_text(["crane"], EVERYTHING) == []
            assert [found for found, _ in reader.vector_candidates(unit(), EVERYTHING, 10)] == ids_in(reader)
            assert reader.candidates(old, ["crane"]) == []
            assert reader.texts(old) == {}
            assert reader.counts() == {"memory": {"files": 1, "chunks": 1, "vectors": 1, "rejected": 0}}

    def test_a_failed_transaction_leaves_everything_as_it_was(self, store: Store) -> None:
        """An error between two writes undoes both."""
        number = put(store, "main", "memory/a.md", _CRANES)
        before = _everything(store)
        with pytest.raises(ZeroDivisionError):
            _fail_after_writing(store, number)
        assert _everything(store) == before
        put(store, "main", "memory/c.md", "An egret.")
        with store.reading("main") as reader:
            assert paths_in(reader) == ["memory/a.md", "memory/c.md"]

    def test_one_transaction_may_replace_and_remove_many(self, store: Store) -> None:
        """Also a document that the same transaction has written before."""
        with store.writing("main", IDENTITY) as writer:
            first = writer.replace(document("memory/a.md", "A heron."), chunks_of("A heron."))
            writer.replace(document("memory/b.md", "An egret."), chunks_of("An egret."))
            writer.replace(document("memory/b.md", "Two egrets."), chunks_of("Two egrets."))
            writer.remove(first)
        with store.reading("main") as reader:
            assert paths_in(reader) == ["memory/b.md"]
            assert list(reader.texts(ids_in(reader)).values()) == ["Two egrets."]
            assert reader.statistics(["heron", "egret"]).document_frequency.get("heron", 0) == 0

    def test_a_moved_document_keeps_its_chunks_and_vectors(self, store: Store) -> None:
        """Nothing is embedded again because a file has a new name."""
        number = put(store, "main", "memory/a.md", _CRANES)
        ids = chunk_ids(store, "main")
        embed(store, "main", dict.fromkeys(ids, 0.5))
        with store.writing("main", IDENTITY) as writer:
            writer.move(number, path="memory/new.md", size=7, mtime_ns=8)
        with store.reading("main") as reader:
            (row,) = reader.documents()
            assert (row.id, row.path, row.size, row.mtime_ns) == (number, "memory/new.md", 7, 8)
            assert ids_in(reader) == ids
            assert {item.path for item in reader.candidates(ids, [])} == {"memory/new.md"}
            assert reader.pending(limit=10) == []
            assert reader.text_candidates(["crane"], EVERYTHING, 10) == ids[:1]

    def test_a_touched_document_has_a_new_time_and_nothing_else(self, store: Store) -> None:
        """The file was saved again with the same content."""
        number = put(store, "main", "memory/a.md", _CRANES)
        ids = chunk_ids(store, "main")
        with store.writing("main", IDENTITY) as writer:
            writer.touch(number, size=70, mtime_ns=80)
        with store.reading("main") as reader:
            (row,) = reader.documents()
            assert (row.path, row.size, row.mtime_ns, row.chunks) == ("memory/a.md", 70, 80, 2)
            assert {(item.size, item.mtime_ns) for item in reader.candidates(ids, [])} == {(70, 80)}

    def test_documents_are_listed_by_source_and_path(self, store: Store) -> None:
        """The same path may be a file and a session; neither replaces the other."""
        for source, path in (("sessions", "b"), ("memory", "z"), ("sessions", "a"), ("memory", "a")):
            put(store, "main", path, "A heron.", source=source)
        with store.reading("main") as reader:
            listed = [(row.source, row.path) for row in reader.documents()]
        assert listed == [("memory", "a"), ("memory", "z"), ("sessions", "a"), ("sessions", "b")]

    def test_a_rejected_file_is_remembered_without_chunks(self, store: Store) -> None:
        """So that it is not read again, and counted apart."""
        with store.writing("main", IDENTITY) as writer:
            writer.replace(document("memory/a.md", "", rejected="not UTF-8"), [])
        put(store, "main", "memory/b.md", "A heron.")
        with store.reading("main") as reader:
            assert [(row.rejected, row.chunks) for row in reader.documents()] == [("not UTF-8", 0), (None, 1)]
            assert reader.counts() == {"memory": {"files": 1, "chunks": 1, "vectors": 0, "rejected": 1}}

    def test_pending_lists_what_has_no_vector_with_the_text_to_embed(self, store: Store) -> None:
        """By id, beginning after one, with the headings above the chunk."""
        put(store, "main", "memory/a.md", "One.\n\nTwo.\n\nThree.", context="Birds > Cranes")
        first, second, third = chunk_ids(store, "main")
        embed(store, "main", {second: 1.0})
        with store.reading("main") as reader:
            waiting = reader.pending(limit=10)
            assert [chunk.id for chunk in waiting] == [first, third]
            assert waiting[0].text == embedding_text("Birds > Cranes", "One.")
            assert (waiting[0].path, waiting[0].embedding_key) == (
                "memory/a.md",
                chunks_of("One.", context="Birds > Cranes")[0].embedding_key,
            )
            assert [chunk.id for chunk in reader.pending(limit=1)] == [first]
            assert [chunk.id for chunk in reader.pending(limit=10, after=first)] == [third]
            assert [chunk.id for chunk in reader.pending(limit=10, all_chunks=True)] == [first, second, third]

    def test_facts_are_kept_by_name(self, store: Store) -> None:
        """New ones join the old ones; the same name is overwritten."""
        with store.writing("main", IDENTITY) as writer:
            writer.put_facts({"last_sync": "2026-06-30", "failed": [{"path": "记忆.md"}]})
        with store.writing("main", IDENTITY) as writer:
            writer.put_facts({"last_sync": "2026-07-01", "error": None})
        facts = _state(store).facts
        assert dict(facts) == {"last_sync": "2026-07-01", "failed": [{"path": "记忆.md"}], "error": None}

    def test_vectors_of_another_space_replace_all_that_were_there(self, store: Store) -> None:
        """Vectors of two models are never compared; the space is a fact of the index."""
        put(store, "main", "memory/a.md", "One.\n\nTwo.")
        first, second = chunk_ids(store, "main")
        embed(store, "main", {first: 1.0, second: 0.5})
        assert _state(store).facts["space"] == SPACE
        with store.writing("main", IDENTITY) as writer:
            writer.put_vectors({second: unit(0.25)}, space=OTHER_SPACE)
        with store.reading("main") as reader:
            ((found, cosine),) = reader.vector_candidates(unit(), EVERYTHING, 10)
            assert (found, cosine) == (second, pytest.approx(0.25, abs=1e-6))
            assert [chunk.id for chunk in reader.pending(limit=10)] == [first]
        assert _state(store).facts["space"] == OTHER_SPACE

    def test_a_vector_of_a_chunk_that_is_gone_is_passed_over(self, store: Store) -> None:
        """A note may be edited while its old text is embedded."""
        put(store, "main", "memory/a.md", "One.")
        (old,) = chunk_ids(store, "main")
        put(store, "main", "memory/a.md", "Two.")
        (new,) = chunk_ids(store, "main")
        embed(store, "main", {old: 1.0, new: 0.5})
        with store.reading("main") as reader:
            assert [found for found, _ in reader.vector_candidates(unit(), EVERYTHING, 10)] == [new]
            assert reader.counts()["memory"]["vectors"] == 1

    def test_every_write_changes_the_revision(self, store: Store) -> None:
        """What is kept in memory follows it."""
        number = put(store, "main", "memory/a.md", "One.")
        (chunk,) = chunk_ids(store, "main")
        revisions = [_state(store).revision]
        embed(store, "main", {chunk: 1.0})
        revisions.append(_state(store).revision)
        put(store, "main", "memory/b.md", "Two.")
        revisions.append(_state(store).revision)
        remove(store, "main", number)
        revisions.append(_state(store).revision)
        assert len(set(revisions)) == len(revisions)

    def test_the_first_index_answers_while_it_is_built(self, store: Store) -> None:
        """It says that it is not complete."""
        put(store, "main", "memory/a.md", "A heron.")
        assert not _state(store).complete
        assert _state(store).identity == IDENTITY
        with store.writing("main", IDENTITY) as writer:
            writer.complete()
        assert _state(store).complete
        with store.reading("main") as reader:
            assert reader.text_candidates(["heron"], EVERYTHING, 10) == ids_in(reader)

    def test_another_identity_is_built_beside_until_it_is_complete(self, store: Store) -> None:
        """Searches see the old index, whole, until the new one is; then the old one is gone."""
        put(store, "main", "memory/a.md", "A heron.")
        with store.writing("main", IDENTITY) as writer:
            writer.complete()
        old = _state(store)
        with store.writing("main", OTHER_IDENTITY) as writer:
            writer.replace(document("memory/b.md", "An egret."), chunks_of("An egret."))
        with store.reading("main") as reader:
            assert paths_in(reader) == ["memory/a.md"]
            assert reader.text_candidates(["egret"], EVERYTHING, 10) == []
            assert reader.statistics(["heron"]).chunks == 1
        with store.reading("main", OTHER_IDENTITY) as reader:
            assert paths_in(reader) == ["memory/b.md"]
        with store.writing("main", OTHER_IDENTITY) as writer:
            writer.complete()
        with store.reading("main") as reader:
            assert paths_in(reader) == ["memory/b.md"]
        with store.reading("main", IDENTITY) as reader:
            assert reader.state() is None
        assert _state(store).generation != old.generation
        assert _state(store).identity == OTHER_IDENTITY

    def test_a_reader_sees_one_moment(self, store: Store) -> None:
        """What is written meanwhile is in the next view, not in this one."""
        number = put(store, "main", "memory/a.md", _CRANES)
        embed(store, "main", dict.fromkeys(chunk_ids(store, "main"), 1.0))

        def write() -> None:
            put(store, "main", "memory/b.md", "A crane flies.")
            remove(store, "main", number)

        with store.reading("main") as reader:
            before = (ids_in(reader), reader.text_candidates(["crane"], EVERYTHING, 10))
            in_thread(write)
            assert (ids_in(reader), reader.text_candidates(["crane"], EVERYTHING, 10)) == before
            assert paths_in(reader) == ["memory/a.md"]
            assert reader.statistics(["crane"]).chunks == 2
            assert len(reader.texts(before[0])) == 2
            assert [found for found, _ in reader.vector_candidates(unit(), EVERYTHING, 10)] == before[0]
        with store.reading("main") as reader:
            assert paths_in(reader) == ["memory/b.md"]
            assert reader.vector_candidates(unit(), EVERYTHING, 10) == []

    def test_writers_of_several_threads_take_turns(self, store: Store) -> None:
        """No document is lost, and no reader is in the way."""

        def write(name: str) -> None:
            for number in range(5):
                put(store, "main", f"memory/{name}{number}.md", f"heron {name} {number}")

        threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with store.reading("main") as reader:
            assert paths_in(reader) == [f"memory/{name}{number}.md" for name in "abcd" for number in range(5)]
            assert reader.statistics(["heron"]).document_frequency["heron"] == 20


def _state(store: Store) -> IndexState:
    with store.reading("main") as reader:
        state = reader.state()
    assert state is not None
    return state


def _fail_after_writing(store: Store, number: int) -> None:
    with store.writing("main", IDENTITY) as writer:
        writer.replace(document("memory/b.md", "A heron."), chunks_of("A heron."))
        writer.remove(number)
        writer.put_facts({"last_sync": "never"})
        raise ZeroDivisionError


def _everything(store: Store) -> dict[str, Any]:
    with store.reading("main") as reader:
        ids = ids_in(reader)
        return {
            "state": reader.state(),
            "documents": reader.documents(),
            "texts": reader.texts(ids),
            "counts": reader.counts(),
            "statistics": reader.statistics(["crane", "heron", "door"]),
        }
