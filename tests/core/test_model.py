"""The wire shape: every public value in camelCase, ready for JSON."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, fields, replace
from datetime import UTC, date, datetime
from typing import Any

import pytest

from clawmark.core import model
from clawmark.core.model import (
    DoctorReport,
    ErrorInfo,
    Explanation,
    Fallback,
    Finding,
    ForgetReport,
    Notice,
    PathReason,
    ReadResult,
    SearchResponse,
    SearchResult,
    Spoken,
    Status,
    SyncReport,
    Wire,
    WriteReport,
    camel_case,
    to_wire,
)

EXPLANATION = Explanation(cosine=0.5, decay_rule="dated", candidates={"vector": 3, "text": 1}, importance=0.5)
SESSION = Spoken("s1", "interactive", "user", datetime(2026, 6, 30, 12, tzinfo=UTC))
RESULT = SearchResult(
    path="memory/a.md",
    start_line=1,
    end_line=2,
    score=0.5,
    confidence=None,
    vector_score=0.5,
    text_score=None,
    snippet="数据 text",
    source="memory",
    citation="memory/a.md#L1-L2",
    stale=False,
    explanation=EXPLANATION,
    session=SESSION,
)
STATUS = Status(
    state="fresh",
    reason=None,
    workspace="ws",
    agent="main",
    index_path="ws/.clawmark/index.sqlite",
    provider=None,
    model=None,
    dimensions=None,
    mode="keyword",
    files=1,
    chunks=1,
    eligible=1,
    pending=0,
    failed=(),
    skipped=(PathReason("memory/e.md", "empty"),),
    source_counts={"memory": {"files": 1, "total_chunks": 2}},
    bytes_by_part=None,
    watch=None,
    cache=None,
    vector=None,
    fts=None,
    last_sync=datetime(2026, 6, 30, 12, tzinfo=UTC),
)
VALUES: list[Wire] = [
    Notice("CODE", "message"),
    ErrorInfo("CODE", "message", "action"),
    Fallback("openai", "no key"),
    EXPLANATION,
    SESSION,
    RESULT,
    SearchResponse(results=(RESULT,), fallback=Fallback("openai", "no key"), warnings=(Notice("CODE", "message"),)),
    ReadResult("ok", "MEMORY.md", "text"),
    PathReason("memory/a.md", "reason"),
    SyncReport(failed=(PathReason("memory/a.md", "reason"),)),
    STATUS,
    ForgetReport(documents=("memory/a.md",)),
    Finding("INDEX_MISSING", "There is no index yet.", "Run `clawmark index`.", "sync"),
    DoctorReport(findings=(Finding("NO_NOTES", "There is no note.", "Write one."),)),
    WriteReport("memory/a.md", 3, 0, "abc"),
]


def kind(value: Any) -> str:
    return type(value).__name__


def test_every_public_value_is_tried_here() -> None:
    public = {name for name, value in vars(model).items() if isinstance(value, type) and issubclass(value, Wire)}

    assert {kind(value) for value in VALUES} == public - {"Wire"}


@pytest.mark.parametrize("value", VALUES, ids=kind)
def test_a_value_has_its_fields_in_camel_case_on_the_wire(value: Any) -> None:
    renamed = {"from_line": "from", "from_provider": "from"}

    names = [renamed.get(field.name) or camel_case(field.name) for field in fields(value)]

    assert list(value.to_dict()) == names


@pytest.mark.parametrize("value", VALUES, ids=kind)
def test_a_value_survives_json(value: Wire) -> None:
    shape = value.to_dict()

    assert json.loads(json.dumps(shape, ensure_ascii=False)) == shape


@pytest.mark.parametrize("value", VALUES, ids=kind)
def test_a_value_cannot_be_changed(value: Any) -> None:
    name = fields(value)[0].name

    with pytest.raises(FrozenInstanceError):
        setattr(value, name, "other")


@pytest.mark.parametrize(
    ("name", "wire"),
    [
        ("score", "score"),
        ("start_line", "startLine"),
        ("took_ms", "tookMs"),
        ("rank_before_diversity", "rankBeforeDiversity"),
    ],
)
def test_names_become_camel_case(name: str, wire: str) -> None:
    assert camel_case(name) == wire


def test_a_window_and_a_fallback_say_from() -> None:
    window = ReadResult("ok", "MEMORY.md", "text", from_line=3, lines=1, truncated=True, next_from=4).to_dict()

    assert (window["from"], window["nextFrom"]) == (3, 4)
    assert "fromLine" not in window
    assert Fallback("openai", "no key").to_dict() == {"from": "openai", "reason": "no key"}


def test_a_result_without_a_citation_has_no_such_key() -> None:
    """8.3: not included means no field; every other None is null."""
    shape = replace(RESULT, citation=None).to_dict()

    assert "citation" not in shape
    assert shape["confidence"] is None
    assert RESULT.to_dict()["citation"] == "memory/a.md#L1-L2"


def test_values_inside_values_are_in_wire_shape_too() -> None:
    shape = SearchResponse(results=(RESULT,), fallback=Fallback("openai", "no key")).to_dict()

    assert shape["results"][0]["startLine"] == 1
    assert shape["results"][0]["explanation"]["decayRule"] == "dated"
    assert shape["results"][0]["explanation"]["candidates"] == {"vector": 3, "text": 1}
    assert shape["fallback"]["from"] == "openai"
    assert shape["error"] is None


def test_dates_are_iso_text_and_names_in_mappings_are_camel_case_too() -> None:
    assert STATUS.to_dict()["lastSync"] == "2026-06-30T12:00:00+00:00"
    assert STATUS.to_dict()["sourceCounts"] == {"memory": {"files": 1, "totalChunks": 2}}
    assert to_wire({"query.min_score": 1}) == {"query.min_score": 1}
    assert to_wire(date(2026, 6, 30)) == "2026-06-30"
    assert to_wire(frozenset({"memory"})) == ["memory"]
