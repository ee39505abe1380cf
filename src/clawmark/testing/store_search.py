"""Contract of a store: what the two legs give, within filters and limits."""

from __future__ import annotations

import pytest

from clawmark.core.ports import Filter, Store
from clawmark.core.tokens import text_singles, text_terms
from clawmark.testing.samples import EVERYTHING, best_of, chunk_ids, embed, ids_in, put, unit

# Everything that a term can be made of: joints, scripts without spaces, marks, emoji.
_ODD_TEXTS = (
    "RFC-0077 v2.3.1 src/app/main.py ERR_CONN_42 #682 k=60 user@example.org c++ a:b",
    "o'brien said don't; Ann's \"quoted\" words, NEAR( AND OR NOT * col:val -x ^y",
    "钥匙柜在门后 GitHub备份为什么失败 一",
    "カタカナ ひらがな 한국어 ภาษาไทย",
    "Müller naïve Ελληνικά кириллица שלום العربية हिन्दी",
    "😀 👩‍👩‍👧 ½ ² ™ … – — ‘x’ “y”",
    "tab\there\x0bvertical\x00nul\x1funit",
)


class StoreSearch:
    """Filters before limits, best first, ties by id."""

    def test_any_of_the_terms_is_enough_and_the_strongest_match_is_first(self, store: Store) -> None:
        """Terms are joined by or; a chunk with both is ahead of one with either."""
        put(store, "main", "memory/a.md", "heron stands here today\n\nheron egret\n\negret was seen there\n\nnothing")
        heron, both, egret, _ = chunk_ids(store, "main")
        with store.reading("main") as reader:
            found = reader.text_candidates(["heron", "egret"], EVERYTHING, 10)
            assert found[0] == both
            assert set(found) == {heron, both, egret}
            assert reader.text_candidates(["heron", "egret"], EVERYTHING, 1) == [both]
            assert reader.text_candidates(["absent"], EVERYTHING, 10) == []
            assert reader.text_candidates([], EVERYTHING, 10) == []

    def test_equally_strong_matches_are_ordered_by_id(self, store: Store) -> None:
        """The same question has the same answer every time."""
        put(store, "main", "memory/a.md", "\n\n".join(["heron flies"] * 20))
        ids = chunk_ids(store, "main")
        embed(store, "main", dict.fromkeys(ids, 0.5))
        with store.reading("main") as reader:
            assert reader.text_candidates(["heron"], EVERYTHING, 5) == ids[:5]
            assert [found for found, _ in reader.vector_candidates(unit(), EVERYTHING, 5)] == ids[:5]

    @pytest.mark.parametrize("text", _ODD_TEXTS)
    def test_a_chunk_is_found_by_each_of_its_terms(self, store: Store, text: str) -> None:
        """Whatever a term is made of, it is data, never syntax; counts agree with the text."""
        put(store, "main", "memory/a.md", text)
        put(store, "main", "memory/b.md", "heron")
        (chunk,) = chunk_ids(store, "main", "memory/a.md")
        terms = text_terms(text)
        wanted = dict.fromkeys([*terms, *text_singles(text)])
        with store.reading("main") as reader:
            (candidate,) = reader.candidates([chunk], list(wanted))
            statistics = reader.statistics(list(wanted))
            for term in wanted:
                assert reader.text_candidates([term], EVERYTHING, 10) == [chunk], term
                assert reader.scan_text([term], EVERYTHING) == [chunk], term
                assert statistics.document_frequency[term] == 1, term
                assert candidate.frequencies[term] == max(1, terms.count(term)), term
            assert candidate.length == len(terms)

    def test_a_scan_finds_what_the_full_text_index_finds(self, store: Store) -> None:
        """It replaces the index where that is damaged, within the same filters."""
        put(store, "main", "memory/a.md", "heron\n\negret\n\nheron egret")
        session = put(store, "main", "s", "heron", source="sessions")
        with store.reading("main") as reader:
            assert reader.scan_text(["heron"], EVERYTHING) == sorted(reader.text_candidates(["heron"], EVERYTHING, 10))
            only = Filter(EVERYTHING.sources, frozenset({session}))
            assert reader.scan_text(["heron"], only) == ids_in(reader, "s")
            assert reader.scan_text(["heron"], Filter(frozenset({"sessions"}))) == ids_in(reader, "s")

    def test_a_source_is_chosen_before_the_limit(self, store: Store) -> None:
        """A weak hit of the wanted source is not pushed out by strong ones of the other."""
        put(store, "main", "memory/a.md", "\n\n".join(["heron heron heron"] * 30))
        put(store, "main", "s", "a heron among many other words that say nothing", source="sessions")
        with store.reading("main") as reader:
            weak = ids_in(reader, "s")
            strong = ids_in(reader, "memory/a.md")
        embed(store, "main", {**dict.fromkeys(strong, 1.0), **dict.fromkeys(weak, 0.1)})
        where = Filter(frozenset({"sessions"}))
        with store.reading("main") as reader:
            assert reader.text_candidates(["heron"], where, 1) == weak
            assert [found for found, _ in reader.vector_candidates(unit(), where, 1)] == weak
            assert set(reader.text_candidates(["heron"], Filter(frozenset({"memory"})), 99)) == set(strong)

    def test_documents_are_chosen_before_the_limit(self, store: Store) -> None:
        """Filters on path and date arrive as document ids."""
        put(store, "main", "memory/a.md", "\n\n".join(["heron heron heron"] * 30))
        wanted = put(store, "main", "memory/b.md", "a heron among many other words that say nothing")
        with store.reading("main") as reader:
            weak = ids_in(reader, "memory/b.md")
            strong = ids_in(reader, "memory/a.md")
        embed(store, "main", {**dict.fromkeys(strong, 1.0), **dict.fromkeys(weak, 0.1)})
        where = Filter(EVERYTHING.sources, frozenset({wanted, 999_999}))
        with store.reading("main") as reader:
            assert reader.text_candidates(["heron"], where, 1) == weak
            assert [found for found, _ in reader.vector_candidates(unit(), where, 1)] == weak

    def test_a_filter_that_allows_nothing_finds_nothing(self, store: Store) -> None:
        """No document, no source, or a document of a source that is off."""
        memory = put(store, "main", "memory/a.md", "heron")
        embed(store, "main", dict.fromkeys(chunk_ids(store, "main"), 1.0))
        nothing = (
            Filter(EVERYTHING.sources, frozenset()),
            Filter(frozenset()),
            Filter(frozenset({"sessions"}), frozenset({memory})),
        )
        with store.reading("main") as reader:
            for where in nothing:
                assert reader.text_candidates(["heron"], where, 10) == [], where
                assert reader.scan_text(["heron"], where) == [], where
                assert reader.vector_candidates(unit(), where, 10) == [], where

    def test_the_nearest_vectors_come_first_with_their_cosines(self, store: Store) -> None:
        """Exact to float32, also below zero, and never more than the limit."""
        put(store, "main", "memory/a.md", "One.\n\nTwo.\n\nThree.\n\nFour.")
        ids = chunk_ids(store, "main")
        cosines = dict(zip(ids, (0.25, -0.5, 1.0, 0.75), strict=True))
        embed(store, "main", cosines)
        with store.reading("main") as reader:
            found = reader.vector_candidates(unit(), EVERYTHING, 10)
            assert [number for number, _ in found] == [ids[2], ids[3], ids[0], ids[1]]
            assert dict(found) == pytest.approx(cosines, abs=1e-6)
            assert reader.vector_candidates(unit(), EVERYTHING, 2) == found[:2]

    def test_the_cosine_of_named_chunks_is_that_of_the_ranking(self, store: Store) -> None:
        """A hit of the text leg gets its vector score; one without a vector has none."""
        put(store, "main", "memory/a.md", "One.\n\nTwo.\n\nThree.")
        first, second, third = chunk_ids(store, "main")
        embed(store, "main", {first: 0.25, third: -0.5})
        with store.reading("main") as reader:
            assert best_of(reader, [first, second, third]) == pytest.approx({first: 0.25, third: -0.5}, abs=1e-6)
            assert reader.cosines(unit(), []) == {}
            assert reader.cosines(unit(), [second, 999_999]) == {}

    def test_vectors_follow_the_index(self, store: Store) -> None:
        """What was read once does not hide what was written since."""
        put(store, "main", "memory/a.md", "One.")
        embed(store, "main", dict.fromkeys(chunk_ids(store, "main"), 0.5))
        with store.reading("main") as reader:
            assert len(reader.vector_candidates(unit(), EVERYTHING, 10)) == 1
        put(store, "main", "memory/b.md", "Two.")
        (new,) = chunk_ids(store, "main", "memory/b.md")
        embed(store, "main", {new: 1.0})
        with store.reading("main") as reader:
            assert reader.vector_candidates(unit(), EVERYTHING, 1) == [(new, pytest.approx(1.0))]
        embed(store, "main", {new: -1.0})
        with store.reading("main") as reader:
            assert [found for found, _ in reader.vector_candidates(unit(), EVERYTHING, 10)][-1] == new

    def test_sizes_are_told_by_part(self, store: Store) -> None:
        """Bytes, for people who wonder where their disk went."""
        put(store, "main", "memory/a.md", "heron " * 100)
        embed(store, "main", dict.fromkeys(chunk_ids(store, "main"), 1.0))
        with store.reading("main") as reader:
            parts = reader.bytes_by_part()
        assert parts
        assert all(isinstance(size, int) and size >= 0 for size in parts.values())
        assert sum(parts.values()) > 0
