"""Masking of secrets: the goldens, the shapes, and what must not be touched."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clawmark.redaction import may_hold_secret, redact, redact_part

LETTERS = "abcdefghijklmnopqrstuvwxyzabcdefghijklmn"

# Golden group "redact": input, masked text.
GOLDEN = [
    ("token ghp_abcdefghijklmnopqrstuvwxyz0123", "token ghp_ab…0123"),
    ("OPENAI_API_KEY=sk-1234567890abcdef1234", "OPENAI_API_KEY=sk-123…1234"),
    ("Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer ***"),
    ('password: "hunter2"', 'password: "***"'),
    ('{"apiKey":"xyz"}', '{"apiKey":"***"}'),
    ("nothing here", "nothing here"),
    ("bot123456:ABCDEFGHIJKLMNOPQRSTUVWX", "bot123456…UVWX"),
    ("--token abc123", "--token ***"),
]


@pytest.mark.parametrize(("text", "masked"), GOLDEN)
def test_golden_secrets_are_masked_as_in_the_spec(text: str, masked: str) -> None:
    assert redact(text).text == masked
    assert redact(text).count == (text != masked)


def test_an_api_key_and_a_bearer_token_make_two_redactions() -> None:
    """User case X05."""
    bearer = "eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl"
    note = f"# Keys\n\nAPI_KEY=sk-{LETTERS}\n\nThe header is Authorization: Bearer {bearer}\n"

    redacted = redact(note)

    assert redacted.count == 2
    assert LETTERS not in redacted.text
    assert bearer not in redacted.text
    assert redacted.text.startswith("# Keys\n\nAPI_KEY=sk-abc…klmn\n")


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("**Password:** hunter2 for the router", "**Password:** *** for the router"),
        ("`API_KEY=abc123`", "`API_KEY=***`"),
        ("x-api-key: abc123", "x-api-key: ***"),
        ("API key: abc123", "API key: ***"),
        ("token: Bearer abc123", "token: Bearer ***"),
        ("Authorization: Basic dXNlcjpwdw==", "Authorization: Basic ***"),
        ("AUTH_TOKEN='abc def'", "AUTH_TOKEN='***'"),
        ('{"client_secret": "a\\"b c"}', '{"client_secret": "***"}'),
        ("PASSWORD=пароль", "PASSWORD=***"),
        ("登录 password：hunter2，然后重启", "登录 password：***，然后重启"),
        ("token: abc123。下一步", "token: ***。下一步"),
        ("--api-key 'abc'", "--api-key '***'"),
        ("--password hunter2 --verbose", "--password *** --verbose"),
        ("https://x.example/?key=AbCdEf0123456789_-", "https://x.example/?key=AbCdEf…89_-"),
        ("postgres://ada:hunter2@db/shop", "postgres://ada:***@db/shop"),
        ("postgres://用户:hunter2@db/shop", "postgres://用户:***@db/shop"),
        ("bearer abcdefghijklmnopqrstuvwxyz", "bearer abcdef…wxyz"),
        (f"sk-{LETTERS}", "sk-abc…klmn"),
        (f"gho_{LETTERS}", "gho_ab…klmn"),
        (f"github_pat_{LETTERS}", "github…klmn"),
        ("xoxb-1234567890-abcdefgh", "xoxb-1…efgh"),
        ("xapp-1-A12345678901234", "xapp-1…1234"),
        ("gsk_abcdefghijklmnop", "gsk_ab…mnop"),
        ("AIzaSyabcdefghijklmnopqrstu", "AIzaSy…rstu"),
        ("pplx-abcdefghijklmnop", "pplx-a…mnop"),
        ("npm_abcdefghijklmnop", "npm_ab…mnop"),
        (f"hf_{LETTERS}", "hf_abc…klmn"),
        ("AKIAABCDEFGHIJKLMNOP", "AKIAAB…MNOP"),
        ("sk_live_abcdefghijklmnop", "sk_liv…mnop"),
    ],
)
def test_a_secret_of_a_known_shape_is_masked_once(text: str, masked: str) -> None:
    assert redact(text).text == masked
    assert redact(text).count == 1


@pytest.mark.parametrize(
    "text",
    [
        "Key: C major",
        "The key point: start early",
        "primary_key: user_id",
        "max_tokens: 500",
        "Token::new() takes no argument",
        "Password:\n\nAsk Ada.",
        "| Token: | expires |",
        "task-based and risk-free, at the help desk-side",
        "monkey: banana",
        "mail ada@example.org about https://example.org/a:b",
        "会议 12:30 开始，密钥管理见文档",
        "***",
        "",
    ],
)
def test_ordinary_notes_stay_as_they_are(text: str) -> None:
    assert redact(text).text == text
    assert redact(text).count == 0


KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n\nq83vEjRWeJCrze8S\n-----END RSA PRIVATE KEY-----"


def test_a_private_key_keeps_its_marker_lines_and_its_line_count() -> None:
    redacted = redact(f"before\n{KEY}\nafter\n")

    assert redacted.text == (
        "before\n-----BEGIN RSA PRIVATE KEY-----\n***\n\n***\n-----END RSA PRIVATE KEY-----\nafter\n"
    )
    assert redacted.count == 1


@pytest.mark.parametrize("name", ["private_key: ", '"private_key": "'])
def test_a_private_key_behind_a_name_is_masked_as_a_key(name: str) -> None:
    redacted = redact(name + KEY)

    assert "MIIEpAIBAAKCAQEA" not in redacted.text
    assert "q83vEjRWeJCrze8S" not in redacted.text
    assert redacted.count == 1


def test_of_a_private_key_that_never_ends_only_key_lines_are_masked() -> None:
    redacted = redact("-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nThe rest is prose about gardens.")

    assert redacted.text == "-----BEGIN PRIVATE KEY-----\n***\nThe rest is prose about gardens."


def test_a_folded_private_key_is_masked_on_its_one_line() -> None:
    assert redact(KEY.replace("\n", " ")).text == ("-----BEGIN RSA PRIVATE KEY----- *** -----END RSA PRIVATE KEY-----")


FRAGMENTS = st.lists(
    st.sampled_from(
        [
            *("KEY", "api_key", "TOKEN", "secret", "password", "passwd", "--token", "--api-key", "Bearer", "bot123456"),
            *(
                "Authorization",
                "=",
                ":",
                "：",
                " ",
                "  ",
                "\n",
                "\r\n",
                "\t",
                '"',
                "'",
                "`",
                "\\",
                "*",
                "**",
                "***",
                "…",
            ),
            *(
                "sk-",
                "ghp_",
                "xoxb-",
                "xapp-",
                "gsk_",
                "AIza",
                "pplx-",
                "npm_",
                "hf_",
                "AKIA",
                "sk_live_",
                "github_pat_",
            ),
            *("abc", "hunter2", LETTERS, "abcdefghijklmnop1234", "sk-123…1234", "://", "@", "a", "-", "_", "/", "?"),
            *(
                "-----BEGIN PRIVATE KEY-----",
                "-----END PRIVATE KEY-----",
                "-----",
                "密码",
                "，",
                "é",
                "\u2028",
                "\ud800",
            ),
        ]
    ),
    max_size=14,
).map("".join)


@settings(max_examples=100)
@given(FRAGMENTS)
@example('"secret":"TOKEN=abc def ghi jkl mno pqr stu"')
def test_redacting_is_idempotent_and_keeps_the_lines(text: str) -> None:
    once = redact(text)

    assert redact(once.text).text == once.text
    assert re.sub(r"[^\n]", "", once.text) == re.sub(r"[^\n]", "", text)
    assert len(once.text.splitlines()) == len(text.splitlines())


@settings(max_examples=100)
@given(FRAGMENTS)
def test_the_quick_check_never_hides_a_secret(text: str) -> None:
    """The appended key switches the full patterns on; without it the check decides."""
    full = redact(f"{text}\n\n\nAPI_KEY=abc").text.removesuffix("\n\n\nAPI_KEY=***")

    assert redact(text).text == full
    assert may_hold_secret(text) or full == text


@settings(max_examples=100)
@given(
    st.text(st.characters(exclude_characters="=:：@-_"), max_size=200).filter(lambda text: "earer" not in text.lower())
)
def test_text_without_any_pattern_is_unchanged(text: str) -> None:
    assert redact(text).text == text
    assert redact(text).count == 0


# --- a text that came in several parts ------------------------------------------------------------


def in_parts(*parts: str) -> list[str]:
    masked: list[str] = []
    inside = False
    for part in parts:
        redacted, inside = redact_part(part, inside_key=inside)
        masked.append(redacted.text)
    return masked


def test_a_private_key_that_was_sent_as_several_messages_is_masked_in_each() -> None:
    """Chat programs cut what is longer than a message, also in the middle of a line."""
    parts = in_parts(
        "The key:\n-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nq83vEjRW",
        "eJCrze8S\nAAECAwQFBgcICQoL\nDA0ODxAR",
        "EhMUFRYX\n-----END PRIVATE KEY-----\nGot it?",
    )

    assert parts == [
        "The key:\n-----BEGIN PRIVATE KEY-----\n***\n***",
        "***\n***\n***",
        "***\n-----END PRIVATE KEY-----\nGot it?",
    ]


@pytest.mark.parametrize("text", ["thanks", "Got it?\nMIIEpAIBAAKCAQEA", "", "One two\nthree"])
def test_what_is_said_after_the_beginning_of_a_key_stays(text: str) -> None:
    assert in_parts("-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA", text)[1] == text


def test_parts_are_masked_like_texts_of_their_own_outside_of_keys() -> None:
    assert in_parts(KEY, "MIIEpAIBAAKCAQEA", "password: hunter2") == [
        redact(KEY).text,
        "MIIEpAIBAAKCAQEA",
        "password: ***",
    ]
