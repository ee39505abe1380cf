"""Masking of secrets before a text is indexed, embedded or shown.

The shapes of spec 7.5, made safer where they leak or cost recall:

* A value ends at the end of its line, so ``Token:`` above a paragraph masks nothing.
* Markdown around a name (``**Password:** x``) and scheme words (``token: Bearer x``)
  belong to the shape; quoted values may hold spaces.
* A bare ``key`` names a secret only next to a long value (``key=...``): "Key: C major"
  and ``primary_key: id`` are knowledge, not secrets.
* A text is never cut into pieces, because a secret on a border would escape. Every
  pattern runs in linear time instead.

Nothing here knows about files, sessions or indexes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SHORTEST_SHOWN = 18
_SHOWN_HEAD = 6
_SHOWN_TAIL = 4
_FULL_MASK = "***"
_ELLIPSIS = "…"
# Masking can bring two fragments together that look like a new assignment. Each pass
# shortens what it masks; more than three passes were never needed in property tests.
_MOST_PASSES = 8

_FLAGS = re.ASCII | re.IGNORECASE | re.VERBOSE


@dataclass(frozen=True)
class Redacted:
    """A text without its secrets.

    Attributes:
        text: The text; it has as many lines as before.
        count: Number of secrets that were masked.
    """

    text: str
    count: int


def redact(text: str) -> Redacted:
    r"""Mask every secret of a known shape in a text.

    A secret of 18 characters or more keeps its first six and last four, any other
    becomes ``***``. Of a private key the marker lines stay, so that line numbers stay.
    Redacting twice changes nothing more and counts nothing more.

    Source:
        recall-spec 7.5.

    >>> redact("OPENAI_API_KEY=sk-1234567890abcdef1234")
    Redacted(text='OPENAI_API_KEY=sk-123…1234', count=1)
    """
    if not may_hold_secret(text):
        return Redacted(text, 0)
    masked, count = _mask_once(text)
    previous = text
    for _ in range(_MOST_PASSES):
        if masked == previous:
            break
        previous, (masked, _again) = masked, _mask_once(masked)
    return Redacted(masked, count)


def redact_part(text: str, *, inside_key: bool) -> tuple[Redacted, bool]:
    r"""Mask the secrets of a text that goes on from another, such as the next message of a chat.

    Args:
        text: The part.
        inside_key: Whether the part before ended inside a private key: long texts are
            sent as several messages.

    Returns:
        The part without its secrets, and whether it ends inside a private key.

    >>> redact_part("MIIEvQIBADANBgkqhkiG9w0B\n-----END PRIVATE KEY-----", inside_key=True)
    (Redacted(text='***\n-----END PRIVATE KEY-----', count=1), False)
    """
    opening = f"{_OPENING}{_missing_start(text)}" if inside_key else ""
    masked = redact(opening + text)
    shown = masked.text.removeprefix(_OPENING) if inside_key else masked.text
    # One short word after the beginning of a key is an answer, not a piece of the key.
    goes_on = _ends_inside_key(opening + text) and not (inside_key and _is_word(text))
    return Redacted(_without_cut_line(shown) if goes_on else shown, masked.count), goes_on


def _is_word(text: str) -> bool:
    return "\n" not in text.strip() and _KEY_LINE.fullmatch(text.strip()) is None


def _without_cut_line(text: str) -> str:
    """Mask the last line of a key when it was cut so short that it looks like a word."""
    above, newline, last = text.rpartition("\n")
    return f"{above}{newline}{_FULL_MASK}" if _KEY_END.fullmatch(last.strip()) and last.strip() else text


def _missing_start(text: str) -> str:
    """Complete a line of a key that was cut where the part begins: alone it may look like a word."""
    first, _, rest = text.partition("\n")
    second = rest.partition("\n")[0].strip()
    is_cut = _KEY_LINE.fullmatch(second) or second.startswith("-----END ")
    return _KEY_START if is_cut and first.strip() and _KEY_END.fullmatch(first.rstrip()) else ""


def _ends_inside_key(text: str) -> bool:
    begins = text.rfind("-----BEGIN ")
    key = _PRIVATE_KEY.match(text, begins) if begins >= 0 else None
    if key is None or key.group(2) is not None or key.end() != len(text):
        return False
    *whole, last = key.group(1).strip().split("\n")
    lines = [line.strip() for line in whole if line.strip()]
    return all(_KEY_LINE.fullmatch(line) for line in lines) and _KEY_END.fullmatch(last.strip()) is not None


# --- the shapes ---------------------------------------------------------------------------

_LINE_ENDS = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
_BLANKS = r"\s\x85\xa0\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
# Values are ASCII, so that Chinese text after a value is kept; passwords may be anything
# up to a blank or full-width punctuation.
# The ellipsis is in both: what is masked already must be seen as one value.
_BARE_VALUE = r"[…!\x23-\x26\x28-\x5b\x5d-\x5f\x61-\x7e]+"
_BARE_PASSWORD = rf"""[^{_BLANKS}"'`\\，。；：、！？（）「」“”]+"""
# Letters or digits must occur: a table border or a dash is no value.
_HOLDS_WORD = rf"""(?=[^{_BLANKS}"'`\\]*[^{_BLANKS}\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f])"""
_QUOTED_VALUE = rf"""
    "((?:[^"\\{_LINE_ENDS}]|\\[^{_LINE_ENDS}]){{1,400}})"
    |'((?:[^'\\{_LINE_ENDS}]|\\[^{_LINE_ENDS}]){{1,400}})'
    |`([^`{_LINE_ENDS}]{{1,400}})`
"""
_SEPARATOR = r"""
    ["'*`]{0,3}[ \t\u00a0\u3000]*(?:={1,3}>?|:(?!:)=?|：)[ \t\u00a0\u3000]*+[*_]{0,2}+[ \t\u00a0\u3000]*+
    (?:(?:bearer|basic)[ \t]+)?+(?!\*|["'`]?-----BEGIN)
"""
# Which keys are secrets: NAME_KEY and its spellings, but not the keys of databases.
_KEY_NAME = r"""
    (?:
        (?<=[_\-.])(?<!primary.)(?<!foreign.)(?<!partition.)(?<!sort.)(?<!public.)(?<!cache.)
        |(?<=api)|(?<=access)|(?<=secret)|(?<=private)|(?<=auth)|(?<=encryption)|(?<=signing)|(?<=license)
        |(?<=api[ ])|(?<=access[ ])|(?<=secret[ ])|(?<=private[ ])|(?<=license[ ])
    )key
"""


def _assignment(name: str, bare_value: str) -> re.Pattern[str]:
    value = rf"(?:{_QUOTED_VALUE}|[\"'`]?{_HOLDS_WORD}({bare_value}))"
    return re.compile(rf"(?:{name})(?![a-z0-9_]){_SEPARATOR}{value}", _FLAGS)


_PRIVATE_KEY = re.compile(
    r"""
    -----BEGIN[ ][A-Z0-9 ]{0,40}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----
    ((?:(?!-----)[\s\S])*+)
    (-----END[ ][A-Z0-9 ]{0,40}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----)?
    """,
    _FLAGS,
)
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{16,}", re.ASCII)
_KEY_END = re.compile(r"[A-Za-z0-9+/=]*", re.ASCII)
_OPENING = "-----BEGIN PRIVATE KEY-----\n"
_KEY_START = "A" * 16

# Of each match, the last group that took part is the secret.
_RULES: tuple[re.Pattern[str], ...] = (
    _assignment(rf"token|secret|{_KEY_NAME}", _BARE_VALUE),
    _assignment(r"password|passwd", _BARE_PASSWORD),
    re.compile(r"(?<![a-z0-9])key=([a-z0-9_\-]{16,})", _FLAGS),
    re.compile(
        rf"""--(?:api[-_]?key|token|secret|password|passwd)[ \t]+
        (?:{_QUOTED_VALUE}|["'`]?(?!--)({_BARE_VALUE}))""",
        _FLAGS,
    ),
    re.compile(
        r"""authorization["'*`]{0,3}[ \t]*[:=：][ \t]*["'`]?
        (?:bearer|basic)[ \t]+([…a-z0-9._\-+/=~]+)""",
        _FLAGS,
    ),
    re.compile(r"\bbearer\s+([a-z0-9._\-+/=~]{18,})", _FLAGS),
    re.compile(
        r"""\b(
        sk-[a-z0-9_-]{8,}
        |gh[pousr]_[a-z0-9]{20,}
        |github_pat_[a-z0-9_]{20,}
        |xox[baprs]-[a-z0-9-]{10,}
        |xapp-[a-z0-9-]{10,}
        |gsk_[a-z0-9_-]{10,}
        |aiza[a-z0-9_-]{20,}
        |pplx-[a-z0-9_-]{10,}
        |npm_[a-z0-9]{10,}
        |hf_[a-z0-9]{20,}
        |akia[a-z0-9]{16}
        |[sr]k_(?:live|test)_[a-z0-9]{16,}
        )""",
        _FLAGS,
    ),
    re.compile(r"\bbot(\d{6,}:[a-z0-9_-]{20,})", _FLAGS),
    re.compile(rf"""://[^{_BLANKS}/@:?\x23"'`]*:([^{_BLANKS}/@"'`]+)@""", _FLAGS),
)


def _mask_once(text: str) -> tuple[str, int]:
    count = 0

    def mask_group(match: re.Match[str]) -> str:
        nonlocal count
        group = match.lastindex or 0
        secret = match.group(group)
        if _is_masked(secret):
            return match.group()
        count += 1
        start, end = match.start(group) - match.start(), match.end(group) - match.start()
        whole = match.group()
        return whole[:start] + _mask(secret) + whole[end:]

    def mask_key(match: re.Match[str]) -> str:
        nonlocal count
        body = match.group(1)
        masked = _mask_key_body(body, closed=match.group(2) is not None)
        count += masked != body
        start = match.start(1) - match.start()
        whole = match.group()
        return whole[:start] + masked + whole[start + len(body) :]

    text = _PRIVATE_KEY.sub(mask_key, text)
    for rule in _RULES:
        text = rule.sub(mask_group, text)
    return text, count


def _mask(secret: str) -> str:
    if len(secret) < _SHORTEST_SHOWN:
        return _FULL_MASK
    return f"{secret[:_SHOWN_HEAD]}{_ELLIPSIS}{secret[-_SHOWN_TAIL:]}"


def _is_masked(secret: str) -> bool:
    if secret == _FULL_MASK:
        return True
    return len(secret) == _SHOWN_HEAD + 1 + _SHOWN_TAIL and secret[_SHOWN_HEAD] == _ELLIPSIS


def _mask_key_body(body: str, *, closed: bool) -> str:
    """Mask each line of a private key; of an unclosed one only what looks like a key."""
    lines = body.splitlines(keepends=True)
    masked: list[str] = []
    for number, line in enumerate(lines):
        content = line.strip()
        if not closed and content and not _KEY_LINE.fullmatch(content):
            return "".join(masked + lines[number:])
        masked.append(line.replace(content, _FULL_MASK) if content else line)
    return "".join(masked)


# --- the check that runs on every text ----------------------------------------------------
#
# Over lower-cased ASCII bytes, and every pattern begins with a literal, so that the regex
# engine skips to it: 0.3 to 0.9 ns a character each, 5 to 7 ns together on English and
# Chinese prose. One regular expression with all the words in it costs 50 to 70.

_NAME_ENDS = rb"""["'*`]{0,3}[ \t]*[=:]"""
_HINTS = (
    rb"k(?:ey(?:" + _NAME_ENDS + rb"|(?<=--api.key)[ \t]|(?<=--apikey)[ \t]|-----|[ ]block-----)"
    rb"|(?<=tok)en(?:" + _NAME_ENDS + rb"|(?<=--token)[ \t])"
    rb"|(?<=sk)-[a-z0-9_-]{8}|(?<=ak)ia[a-z0-9]{16})",
    rb"_(?:(?<=gh[pousr]_)|(?<=github_pat_)|(?<=gsk_)|(?<=npm_)|(?<=hf_)|(?<=[sr]k_live_)|(?<=[sr]k_test_))"
    rb"[a-z0-9_-]{10}",
    rb"x(?:ox[baprs]-|app-|(?<=pplx)-)[a-z0-9_-]{10}",
    rb"z(?<=aiz)a[a-z0-9_-]{20}",
    rb":(?<=\d:)[a-z0-9_-]{20}",
    rb"passw(?:or)?d(?:" + _NAME_ENDS + rb"|(?<=--password)[ \t]|(?<=--passwd)[ \t])",
    rb"secret(?:" + _NAME_ENDS + rb"|(?<=--secret)[ \t])",
    rb"bearer\s",
    rb"authorization" + _NAME_ENDS,
)
_HINT_SEARCHES = tuple(re.compile(hint).search for hint in _HINTS)
_LOGIN_IN_URL = re.compile(rb"://[^\s/@:#]*:[^\s/@]+@")


def may_hold_secret(text: str) -> bool:
    """Tell quickly whether a text deserves the full patterns; never False for a secret."""
    if not text.isascii():
        text = text.replace("：", ":")
    lowered = text.encode("ascii", "replace").lower()
    for search in _HINT_SEARCHES:
        if search(lowered):
            return True
    return b"@" in lowered and _LOGIN_IN_URL.search(lowered) is not None
