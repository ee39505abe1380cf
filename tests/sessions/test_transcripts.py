"""Transcripts of each format to sessions: what is kept, what is left out, what is told."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clawmark.redaction import redact
from clawmark.sessions import Earlier, Session, SessionReading, parse_session, session_text, split_jsonl

DATA = Path(__file__).parents[1] / "data" / "sessions"
SAID = tuple[int, str, str]


def transcript(name: str) -> Session:
    return parse_session(split_jsonl((DATA / name).read_bytes()), name=name)


def session(*records: Any, name: str = "s1.jsonl", earlier: Earlier | None = None) -> Session:
    return parse_session(enumerate(encoded(records), 1), name=name, earlier=earlier)


def known_after(*records: Any, earlier: Earlier | None = None) -> Earlier:
    """Give what is known at the end of some records, as it comes back from the index."""
    reading = SessionReading(enumerate(encoded(records), 1), name="s1.jsonl", earlier=earlier)
    return Earlier.from_json(json.loads(json.dumps(reading.before(len(records) + 1).to_json())))


def encoded(records: Iterable[Any]) -> list[bytes]:
    return [record if isinstance(record, bytes) else json.dumps(record).encode() for record in records]


def said(parsed: Session) -> list[SAID]:
    return [(line.line, line.role, line.text) for line in parsed.lines]


def texts(parsed: Session) -> list[str]:
    return [line.text for line in parsed.lines]


def user(text: str, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "text": text, **fields}


def assistant(text: str, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "text": text, **fields}


# --- the formats, each from a realistic file -------------------------------------------------


def test_an_openclaw_transcript_becomes_its_conversation() -> None:
    parsed = transcript("openclaw.jsonl")

    assert (parsed.format, parsed.session_id, parsed.kind) == ("openclaw", "3f2c9a10-openclaw", "interactive")
    assert said(parsed) == [
        (3, "user", "When do we plant the tomatoes?"),
        (6, "assistant", "After the last frost.\nFor your garden that is the middle of May."),
        (7, "user", "明天下午三点开项目评审会，提醒我带上种子清单。"),
        (8, "assistant", "好的，明天下午三点之前我会提醒你带上种子清单。"),
        (11, "user", "Thanks. Is the pump running?"),
        (12, "assistant", "Yes, since this morning."),
    ]
    assert parsed.started == datetime(2026, 3, 4, 9, 0, tzinfo=UTC)
    assert parsed.ended == datetime(2026, 3, 4, 9, 11, tzinfo=UTC)
    assert (parsed.skipped_lines, parsed.bad_lines) == (10, 0)


def test_a_claude_code_transcript_becomes_its_conversation() -> None:
    parsed = transcript("claude_code.jsonl")

    assert (parsed.format, parsed.kind) == ("claude-code", "interactive")
    assert parsed.session_id == "7d1f2c34-5a6b-4c7d-8e9f-0a1b2c3d4e5f"
    assert said(parsed) == [
        (6, "user", "Why does the checkout total differ by one cent?"),
        (10, "assistant", "The prices are added as floats. Sum them as Decimal and round once at the end."),
        (11, "user", "改成用 Decimal 计算，并在最后统一四舍五入。"),
        (12, "assistant", "已经修改：价格全部用 Decimal 相加，只在最后一步四舍五入到分。"),
        (20, "user", "Thanks, ship it."),
    ]
    assert parsed.ended == datetime(2026, 3, 4, 9, 18, tzinfo=UTC)


def test_a_codex_rollout_becomes_its_conversation_without_repeats() -> None:
    parsed = transcript("codex.jsonl")

    assert (parsed.format, parsed.kind) == ("codex", "interactive")
    assert parsed.session_id == "019c2c24-29ad-72c2-83dd-f3edfa6bf161"
    assert said(parsed) == [
        (5, "user", "Make the date parser accept ISO week dates."),
        (12, "assistant", "The parser now reads 2026-W10-3 as 4 March 2026."),
        (14, "user", "再补一个跨年的测试用例。"),
        (16, "assistant", "已补充：2026-W53-7 属于 2027 年 1 月 3 日。"),
    ]


def test_a_plain_transcript_becomes_its_conversation_with_times() -> None:
    parsed = transcript("plain.jsonl")

    assert (parsed.format, parsed.session_id, parsed.kind) == ("plain", "plain", "interactive")
    assert said(parsed) == [
        (1, "user", "Where did we leave the spare key?"),
        (2, "assistant", "Under the blue pot, by the back door."),
        (5, "user", "备用钥匙换地方了，放在二楼书架第三层。"),
        (8, "assistant", "记住了：备用钥匙\n在二楼书架第三层。"),
    ]
    assert [line.timestamp for line in parsed.lines] == [
        datetime(2026, 3, 4, 8, 0, tzinfo=UTC),
        datetime(2026, 3, 4, 8, 1, tzinfo=UTC),
        datetime(2026, 3, 4, 8, 2, 0, 500_000, tzinfo=UTC),
        datetime(2026, 3, 4, 8, 3, tzinfo=UTC),
    ]
    assert (parsed.skipped_lines, parsed.bad_lines) == (2, 2)


def test_the_golden_session_is_rendered_masked_and_hashed_as_in_the_spec() -> None:
    """Golden session-326."""
    lines = [
        '{"type":"session","id":"abc"}',
        '{"type":"message","message":{"role":"user","content":"Hello\\n\\n  there"}}',
        "not json",
        '{"type":"message","message":{"role":"toolResult","content":"secret"}}',
        "",
        '{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"Hi"},'
        '{"type":"thinking","text":"hmm"},{"type":"text","text":" my key is sk-abcdefghijklmnopqrstuvwx "}]}}',
        '{"type":"message","message":{"role":"system","content":"x"}}',
        '{"type":"message","message":{"role":"user","content":"   "}}',
        '{"type":"custom","message":{"role":"user","content":"no"}}',
    ]

    rendered = session_text(parse_session(enumerate(map(str.encode, lines), 1), name="abc.jsonl"))
    text = redact(rendered.text).text

    assert text == "User: Hello there\nAssistant: Hi my key is sk-abc…uvwx"
    assert rendered.line_map == (2, 6)
    digest = hashlib.sha256(f"{text}\n{','.join(map(str, rendered.line_map))}".encode()).hexdigest()
    assert digest == "ce4568705c83b79765ddd63d6a922757ee4357776884f1063dc0fb729fbd8805"


def test_a_codex_rollout_of_the_first_versions_is_read() -> None:
    block = {"type": "input_text", "text": "Rename the module."}
    parsed = session(
        {"id": "old-1", "timestamp": "2025-05-07T17:24:21Z", "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [block]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
    )

    assert (parsed.format, parsed.session_id) == ("codex", "old-1")
    assert texts(parsed) == ["Rename the module.", "Done."]
    assert parsed.started == datetime(2025, 5, 7, 17, 24, 21, tzinfo=UTC)


def event(kind: str, message: str) -> dict[str, Any]:
    return {"type": "event_msg", "payload": {"type": kind, "message": message}}


def test_screen_events_count_where_a_rollout_has_nothing_else() -> None:
    parsed = session(event("user_message", "Hello"), event("agent_message", "Hi"))

    assert texts(parsed) == ["Hello", "Hi"]


def test_screen_events_of_a_later_part_count_as_in_the_whole() -> None:
    header = {"type": "session_meta", "payload": {"id": "c1"}}
    spoken = {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [TEXT_BLOCK]}}

    assert texts(session(event("agent_message", "Hi"), earlier=known_after(header))) == ["Hi"]
    assert texts(session(event("agent_message", "Hi"), earlier=known_after(header, spoken))) == []


def test_a_main_form_that_comes_later_revises_what_was_read() -> None:
    """The screen events counted as long as there was nothing else."""
    spoken = {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [TEXT_BLOCK]}}
    earlier = known_after(event("agent_message", "Hi"))

    assert session(spoken, earlier=earlier).revises_earlier
    assert not session(event("agent_message", "Hi"), earlier=earlier).revises_earlier
    assert not session(spoken, earlier=known_after(spoken)).revises_earlier


TEXT_BLOCK = {"type": "input_text", "text": "Hello"}


# --- what is left out everywhere ---------------------------------------------------------------

MEMORY = "The deploy key lives in vault A."


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize(
    "block",
    [
        f'<recalled-memory source="notes">\n{MEMORY}\n</recalled-memory>',
        f"<relevant-memories>{MEMORY}</relevant-memories>",
        f"<relevant_memories>\n{MEMORY}\n</relevant_memories>",
        f"<active_memory_plugin>{MEMORY}</active_memory_plugin>",
        f'<clawmark-memory query="a > b" note="2">\n{MEMORY}\n</clawmark-memory>',
        f"<CLAWMARK-MEMORY>\n{MEMORY} </clawmark-memory >",
        f'<recalled-memory-3fa9 note="2">\n{MEMORY} </recalled-memory> \n</recalled-memory-3fa9>',
        f"<recalled-memory:b71c>\n{MEMORY}\n</recalled-memory:b71c>",
        f"<clawmark-memory>\n{MEMORY} <clawmark-memory> is a fence.\n</clawmark-memory>",
        f"<relevant-memories>\n<relevant-memories>\n{MEMORY}\n</relevant-memories>\n{MEMORY}\n</relevant-memories>",
    ],
)
def test_recalled_memory_is_cut_out_and_the_rest_stays(role: str, block: str) -> None:
    """User case T10."""
    parsed = session({"role": role, "text": f"Before.\n{block}\nAfter."}, {"role": role, "text": f"One {block} two."})

    assert [" ".join(text.split()) for text in texts(parsed)] == ["Before. After.", "One two."]


def test_a_fence_of_recalled_memory_that_is_never_closed_reaches_to_the_end() -> None:
    parsed = session(user(f"Look:\n<clawmark-memory>\n{MEMORY}\nand more"))

    assert texts(parsed) == ["Look:"]


def test_a_message_that_is_only_recalled_memory_is_skipped() -> None:
    parsed = session(user(f"<relevant-memories>\n{MEMORY}\n</relevant-memories>"), assistant("Fine."))

    assert texts(parsed) == ["Fine."]
    assert parsed.skipped_lines == 1


@pytest.mark.parametrize(
    "section",
    [
        f"## Memory Recall\n\nThese may help:\n\n- {MEMORY}\n  (line 3)\n\n",
        f"## Memory Recall\n{MEMORY}\n\n",
        f"### Memory recall (2 hits)\n1. {MEMORY}\n2. {MEMORY}\n---\n",
        f"# Memory Recall\n- {MEMORY}\n\n## Request\n",
    ],
)
def test_an_injected_recall_section_is_cut_out_of_a_user_message(section: str) -> None:
    parsed = session(user(f"{section}Where is the deploy key?"))

    assert MEMORY not in texts(parsed)[0]
    assert texts(parsed)[0].endswith("Where is the deploy key?")


def test_an_assistant_may_write_about_memory_recall() -> None:
    text = "## Memory Recall\n\nThe feature searches notes."

    assert texts(session(assistant(text))) == [text]


@pytest.mark.parametrize(
    "block",
    [
        "<system-reminder>x</system-reminder>",
        "<command-name>/plan</command-name><command-args>x</command-args>",
        "<local-command-stdout>x</local-command-stdout>",
        "<bash-input>x</bash-input><bash-stdout>x</bash-stdout>",
        "<environment_context>\n<cwd>/x</cwd>\n</environment_context>",
        "<permissions instructions>x</permissions instructions>",
        "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>",
        "System: [2026-03-04 09:00:00 UTC] x\n",
        'Sender (untrusted metadata):\n```json\n{"name": "x"}\n```\n',
        "[message_id: 41]\n",
        "# Context from my IDE setup:\n\n## Active file: x\n\n## My request for Codex:\n",
        "[Thu 2026-03-05 16:29 GMT+8] ",
    ],
)
def test_context_that_a_program_puts_into_a_user_message_is_cut_out(block: str) -> None:
    assert texts(session(user(f"{block}Rename the module."))) == ["Rename the module."]


@pytest.mark.parametrize(
    "text",
    [
        "[Request interrupted by user]",
        "Caveat: The messages below were generated by the user while running local commands.",
        "This session is being continued from a previous conversation that ran out of context. Summary: x",
    ],
)
def test_a_notice_that_nobody_typed_is_skipped(text: str) -> None:
    assert texts(session(user(text), assistant("Hi"))) == ["Hi"]


@pytest.mark.parametrize("text", ["NO_REPLY", " HEARTBEAT_OK ", "<think>\nhmm\n</think>", "[[reply_to_current]]"])
def test_an_answer_that_says_nothing_is_skipped(text: str) -> None:
    assert texts(session(user("Hi"), assistant(text))) == ["Hi"]


def test_thinking_and_tool_calls_written_as_text_are_cut_out() -> None:
    parsed = session(assistant("<think>Which module?</think>\nI rename it.\n<tool_call>{}</tool_call>"))

    assert texts(parsed) == ["I rename it."]


def test_prose_about_tags_stays() -> None:
    text = "Why does `<system-reminder>` have no end, and what is <b>bold</b>?"
    answer = "Put the reasons between <think> and </think> tags."

    assert texts(session(user(text), assistant(answer))) == [text, answer]


@pytest.mark.parametrize(
    "record",
    [
        {"role": "tool", "text": "x"},
        {"role": "system", "content": "x"},
        {"role": "user", "content": [{"type": "tool_result", "content": "x"}]},
        {"type": "message", "message": {"role": "toolResult", "content": "x"}},
        {"type": "message", "message": {"role": "user", "content": None}},
        {"type": "message", "message": {"role": "assistant", "content": [{"type": "toolCall"}, "x", {"text": "x"}]}},
        {"type": "user", "isMeta": True, "message": {"role": "user", "content": "x"}},
        {"type": "user", "message": {"role": "assistant", "content": "x"}},
        {"type": "user", "origin": {"kind": "task-notification"}, "message": {"role": "user", "content": "x"}},
        {"type": "assistant", "message": {"role": "assistant", "model": "<synthetic>", "content": "x"}},
        {"type": "response_item", "payload": {"type": "function_call_output", "output": "x"}},
        {"type": "response_item", "payload": {"type": "message", "role": "developer", "content": "x"}},
        {"type": "event_msg", "payload": {"type": "agent_reasoning", "text": "x"}},
        {"type": ["message"], "role": {}, "text": "x"},
        {"unknown": "x"},
        {},
    ],
)
def test_a_record_that_nobody_said_is_skipped(record: dict[str, Any]) -> None:
    parsed = session(record)

    assert (parsed.lines, parsed.skipped_lines, parsed.bad_lines) == ((), 1, 0)


# --- damaged and hostile lines --------------------------------------------------------------


@pytest.mark.parametrize(
    "raw", [b"not json", b'{"role": "user", "text": "cut', b"[1]", b'"text"', b"7", b"null", b"[" * 100_000, b"\xff"]
)
def test_a_line_that_is_no_json_object_is_counted_and_passed_over(raw: bytes) -> None:
    parsed = session(raw, user("Still here."))

    assert said(parsed) == [(2, "user", "Still here.")]
    assert parsed.bad_lines == 1


def test_text_always_encodes_as_utf_8() -> None:
    parsed = session(
        b'{"role": "user", "text": "a\\ud83d b\\u0000 \\ud83d\\ude00", "session_id": "s\\udc00"}',
        b'\xef\xbb\xbf{"role": "user", "text": "caf\xe9"}',
    )

    assert texts(parsed) == ["a\ufffd b \U0001f600", "caf\ufffd"]
    assert parsed.session_id == "s\ufffd"


def test_a_huge_tool_result_does_not_keep_its_neighbours_from_being_read() -> None:
    """User case T09."""
    huge = {"type": "message", "message": {"role": "toolResult", "content": "x" * 2_000_000}}
    parsed = session(
        {"type": "message", "message": {"role": "user", "content": "Before"}},
        huge,
        {"type": "message", "message": {"role": "assistant", "content": "After"}},
    )

    assert said(parsed) == [(1, "user", "Before"), (3, "assistant", "After")]


def test_lines_are_read_one_by_one() -> None:
    read: list[int] = []

    def lines() -> Iterable[tuple[int, bytes]]:
        for number in range(1, 4):
            read.append(number)
            yield number, json.dumps(user(f"message {number}")).encode()

    assert len(parse_session(lines(), name="s").lines) == 3
    assert read == [1, 2, 3]


# --- kinds ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("s1.jsonl", "interactive"),
        ("cron-daily.jsonl", "scheduled"),
        ("agent_main_heartbeat.jsonl", "scheduled"),
        ("scheduled.2026-03-04.jsonl", "scheduled"),
        ("agent:main:subagent:18ab.jsonl", "subagent"),
        ("agent-32335b9b.jsonl", "subagent"),
        ("cron/s1.jsonl", "interactive"),
        ("micron.jsonl", "interactive"),
    ],
)
def test_the_file_name_tells_the_kind(name: str, kind: str) -> None:
    """User case T07."""
    parsed = session(user("Good morning"), name=name)

    assert parsed.kind == kind
    assert texts(parsed) == ["Good morning"]


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ({"type": "session", "id": "a", "sessionKey": "agent:main:cron:7f"}, "scheduled"),
        ({"type": "session", "id": "a", "kind": "subagent"}, "subagent"),
        ({"type": "session", "id": "a", "kind": "interactive"}, "interactive"),
        ({"type": "session_meta", "payload": {"id": "a", "thread_source": "automation"}}, "scheduled"),
        ({"type": "session_meta", "payload": {"id": "a", "source": {"subagent": {"depth": 1}}}}, "subagent"),
        (user("Hi", kind="cron"), "scheduled"),
    ],
)
def test_the_header_tells_the_kind(header: dict[str, Any], kind: str) -> None:
    assert session(header, user("Hi"), name="heartbeat.jsonl").kind == kind


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("[cron:7f3a daily report] Collect the numbers.", "scheduled"),
        ("Read HEARTBEAT.md if it exists.", "scheduled"),
        ("[OpenClaw heartbeat poll]", "scheduled"),
        ("run __openclaw_memory_core_short_term_promotion_dream__", "scheduled"),
        ("[Subagent Context] You are a helper.", "subagent"),
    ],
)
def test_a_session_of_automated_turns_only_is_kept_under_their_kind(prompt: str, kind: str) -> None:
    parsed = session(user(prompt), assistant("All quiet."))

    assert (parsed.kind, texts(parsed)) == (kind, [prompt, "All quiet."])


def test_automated_turns_are_left_out_of_a_conversation_with_a_person() -> None:
    parsed = session(
        user("Read HEARTBEAT.md if it exists."),
        assistant("The battery is low."),
        user("Where is the key?"),
        assistant("Under the pot."),
        user("Pre-compaction memory flush. Store durable memories."),
        assistant("Stored."),
    )

    assert (parsed.kind, texts(parsed)) == ("interactive", ["Where is the key?", "Under the pot."])
    assert parsed.skipped_lines == 4


def test_system_turns_are_left_out_even_when_there_is_nothing_else() -> None:
    parsed = session(user("A new session was started via /new or /reset."), assistant("Hello!"))

    assert (parsed.kind, parsed.lines) == ("unknown", ())


def test_side_chains_are_left_out_of_the_main_session_and_kept_in_their_own_file() -> None:
    def record(text: str, **fields: Any) -> dict[str, Any]:
        return {"type": "user", "sessionId": "p1", "message": {"role": "user", "content": text}, **fields}

    mixed = session(record("Main"), record("Side", isSidechain=True))
    own = session(record("Side", isSidechain=True))

    assert (mixed.kind, texts(mixed)) == ("interactive", ["Main"])
    assert (own.kind, texts(own), own.session_id) == ("subagent", ["Side"], "p1")


def test_a_transcript_without_messages_is_of_unknown_kind_and_format() -> None:
    assert session() == Session(format="unknown", session_id="s1", kind="unknown")


# --- ids, times, increments -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "session_id"),
    [
        ("s1.jsonl", "s1"),
        ("sessions/main/s2.jsonl.reset.2026-06-01", "s2"),
        ("sessions\\s3.jsonl", "s3"),
        (".jsonl", ".jsonl"),
        ("notes", "notes"),
    ],
)
def test_without_an_id_inside_the_file_name_gives_it(name: str, session_id: str) -> None:
    assert session(user("Hi"), name=name).session_id == session_id


def test_a_resumed_session_goes_by_the_id_of_its_file() -> None:
    record = {"type": "user", "sessionId": "older", "message": {"role": "user", "content": "Hi"}}
    name = "7d1f2c34-5a6b-4c7d-8e9f-0a1b2c3d4e5f"

    assert session(record, name=f"{name}.jsonl").session_id == name
    assert session(record).session_id == "older"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (1_772_611_200, 0),
        (1_772_611_200.5, 0.5),
        (1_772_611_200_250, 0.25),
        (1_772_611_200_000_000, 0),
        (1_772_611_200_000_000_000, 0),
        ("1772611200", 0),
        ("2026-03-04T08:00:00Z", 0),
        ("2026-03-04T16:00:00+08:00", 0),
        ("2026-03-04 08:00", 0),
    ],
)
def test_times_are_read_as_iso_or_epoch_and_given_in_utc(value: object, seconds: float) -> None:
    moment = session(user("Hi", ts=value)).lines[0].timestamp

    assert moment is not None
    assert (moment - datetime(2026, 3, 4, 8, tzinfo=UTC)).total_seconds() == seconds
    assert moment.tzinfo is UTC


@pytest.mark.parametrize("value", [None, True, 0, -5, "", "soon", "0001-01-01T00:00+09:00", 10**40, [], "9" * 40])
def test_what_is_no_time_leaves_the_message_undated(value: object) -> None:
    assert session(user("Hi", ts=value)).lines[0].timestamp is None


@pytest.mark.parametrize("number", [b"Infinity", b"NaN", b"1e999", b"-1e999"])
def test_a_number_that_is_not_finite_is_no_time(number: bytes) -> None:
    assert session(b'{"role": "user", "text": "Hi", "ts": ' + number + b"}").lines[0].timestamp is None


def test_a_later_part_continues_the_session() -> None:
    """User cases T06 and T08."""
    earlier = known_after(
        {"type": "session", "id": "abc", "sessionKey": "agent:main:cron:1", "timestamp": "2026-03-04T08:00:00Z"},
        {"type": "message", "timestamp": "2026-03-04T08:01:00Z", "message": {"role": "user", "content": "One"}},
    )
    record = {"type": "message", "timestamp": "2026-03-04T08:09:00Z", "message": {"role": "user", "content": "Two"}}

    later = parse_session([(3, json.dumps(record).encode())], name="other.jsonl", earlier=earlier)

    assert (later.format, later.session_id, later.kind) == ("openclaw", "abc", "scheduled")
    assert later.started == datetime(2026, 3, 4, 8, 0, tzinfo=UTC)
    assert later.ended == datetime(2026, 3, 4, 8, 9, tzinfo=UTC)
    assert said(later) == [(3, "user", "Two")]


def test_a_part_after_nothing_but_a_header_still_learns_its_kind() -> None:
    earlier = known_after({"type": "session", "id": "abc"})

    later = session(user("Hi", ts=1_772_611_200), earlier=earlier)

    assert (later.kind, later.session_id, texts(later)) == ("interactive", "abc", ["Hi"])


def test_a_part_without_messages_keeps_the_end_of_the_session() -> None:
    earlier = known_after(user("Hi", ts=1_772_611_200))

    assert session({"role": "tool", "text": "x"}, earlier=earlier).ended == datetime(2026, 3, 4, 8, 0, tzinfo=UTC)


def test_an_answer_of_a_later_part_belongs_to_the_turn_that_began_before() -> None:
    earlier = known_after(user("Hi"), user("Read HEARTBEAT.md now"))

    later = session(assistant("Beat."), user("Really?"), assistant("Yes."), earlier=earlier)

    assert texts(later) == ["Really?", "Yes."]
    assert not later.revises_earlier


def test_a_person_who_joins_a_scheduled_session_revises_what_was_read() -> None:
    """Its automated turns count only as long as there is nothing else."""
    earlier = known_after(user("Read HEARTBEAT.md now"), assistant("All quiet."))

    assert session(user("Hello?"), earlier=earlier).revises_earlier
    assert not session(user("Read HEARTBEAT.md now"), earlier=earlier).revises_earlier


# --- lines that were written twice ----------------------------------------------------------------


@pytest.mark.parametrize("fields", [{"id": "m1"}, {"ts": "2026-03-04T08:00:00Z"}])
def test_a_message_that_was_written_twice_in_a_row_counts_once(fields: dict[str, Any]) -> None:
    parsed = session(user("Yes", **fields), {"role": "tool", "text": "x"}, user("Yes", **fields), assistant("Fine."))

    assert said(parsed) == [(1, "user", "Yes"), (4, "assistant", "Fine.")]
    assert texts(session(user("Yes", **fields), earlier=known_after(user("Yes", **fields)))) == []


@pytest.mark.parametrize(
    "second",
    [user("Yes"), user("Yes", id="m2"), user("Yes", id="m1", ts=1_772_611_200), assistant("Yes", id="m1")],
)
def test_the_same_words_said_again_count_again(second: dict[str, Any]) -> None:
    first = user("Yes", id="m1") if "id" in second else user("Yes")

    assert texts(session(first, second)) == ["Yes", "Yes"]


def test_messages_out_of_order_keep_their_lines_and_the_session_its_latest_time() -> None:
    parsed = session(user("Second", ts=1_772_611_200), assistant("First", ts=1_772_600_000))

    assert texts(parsed) == ["Second", "First"]
    assert parsed.started == datetime(2026, 3, 4, 4, 53, 20, tzinfo=UTC)
    assert parsed.ended == datetime(2026, 3, 4, 8, 0, tzinfo=UTC)


FIELDS = ["type", "role", "text", "content", "message", "payload", "ts", "timestamp", "id", "sessionId", "instructions"]
SCALARS = st.sampled_from(
    [None, True, 0, -1, 1.5, 10**30, "", "text", "a\ud800b\0", "<relevant-memories>", "中文", " "]
)
JSON = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.sampled_from(FIELDS), SCALARS, max_size=3)
BLOCKS = st.lists(st.dictionaries(st.sampled_from(["type", "text"]), SCALARS, max_size=2), max_size=2)
RECORDS = st.dictionaries(
    st.sampled_from(FIELDS),
    st.sampled_from(["message", "user", "assistant", "session", "response_item", "session_meta", "event_msg"])
    | JSON
    | BLOCKS,
    max_size=6,
)


@settings(max_examples=100)
@given(st.lists(RECORDS.map(lambda record: json.dumps(record).encode()) | st.binary(max_size=30), max_size=12))
def test_any_bytes_give_a_session_whose_lines_point_into_the_transcript(lines: list[bytes]) -> None:
    parsed = parse_session(enumerate(lines, 1), name="x.jsonl")
    rendered = session_text(parsed)

    numbers = [line.line for line in parsed.lines]
    assert numbers == sorted(set(numbers))
    assert list(rendered.line_map) == sorted(rendered.line_map)
    assert set(rendered.line_map) == set(numbers) <= set(range(1, len(lines) + 1))
    assert parsed.skipped_lines + parsed.bad_lines + len(numbers) == sum(bool(line.strip()) for line in lines)
    rendered.text.encode()
