"""Text to terms: one tokenizer for every source, every store and every question.

A term is a stemmed word, an identifier whole (``rfc-0077``, ``src/app/main.py``) and in
parts, or an overlapping pair of characters of a script that is written without
spaces. Single characters of such scripts are *singles*: findable, but no part of
the length and the order of the text.

``TOKENIZER_VERSION`` is part of the index identity: changed terms mean a new index.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, pairwise

from clawmark.core.porter import porter_stem
from clawmark.core.stopwords import CJK_PHRASES, stop_words_for

TOKENIZER_VERSION = 1

# Everything that separates words. Naming the separators, not the letters, keeps
# combining vowel signs (Devanagari, Thai) inside their words and makes emoji words.
_SEPARATORS = (
    r"\s\x00-\x1f!-/:-@\[-`{-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u2000-\u206f\u20a0-\u20cf\u2100-\u214f\u2190-\u23ff"
    r"\u2500-\u27bf\u3000-\u3004\u3008-\u3020\u3030\u303d-\u303f\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\uffe0-\uffe6"
)
_WORD = rf"[^{_SEPARATORS}]+"
_JOINING = "-_./:#@+'’"
_JOINTS = rf"[{_JOINING}]{{1,3}}"
# A line feed is a token of its own: the terms of a text keep its lines.
_SURFACE = rf"{_WORD}+(?:{_JOINTS}+{_WORD}+)*+|\n"
_ASCII_SURFACE = re.compile(rf"[A-Za-z0-9]++(?:{_JOINTS}+[A-Za-z0-9]++)*+|\n")

_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    r"\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31f0-\u31ff"  # kana, bopomofo
    r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul
)
_RUN = rf"([{_UNSPACED}]+)"
_UNSPACED_CHARACTER = rf"[{_UNSPACED}]"
# What normalising turns into these scripts: half-width, compatibility and squared forms.
_OTHER_FORMS = (
    r"[\u0e33\u0eb3\u0edc\u0edd\u2e9f-\u2fdf\u3038-\u303a\u309b-\u309f\u30ff\u3130-\u319f\u3200-\u33ff"
    r"\uf900-\ufaff\uff66-\uffdc\U0001f200-\U0001f2ff\U0002f800-\U0002fa1f]"
)
# Runs that no normalisation changes.
_PLAIN_RUN = r"[\u3041-\u3096\u30a1-\u30fe\u4e00-\u9fff\uac00-\ud7a3]+"
_JOINT = re.compile(_JOINTS)
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_CAMEL_BORDER = re.compile(r"[a-z][A-Z]")
# Marks that are spelling, not meaning, in their scripts: Latin, Greek and Cyrillic
# accents, Hebrew points, Arabic vowel signs. Vowel signs of Indic scripts stay.
_ACCENTS = r"[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]"

# Sets of thousands of characters take 5 ms each to compile: only who meets one pays.
_compiled = cache(re.compile)


@dataclass(frozen=True)
class Terms:
    """The terms of one surface word.

    Attributes:
        main: Terms in order; they count for length and order.
        singles: Single characters of unspaced scripts that are part of longer runs.
    """

    main: tuple[str, ...]
    singles: tuple[str, ...] = ()


@dataclass(frozen=True)
class QueryTerms:
    """What a question asks of the text leg.

    Attributes:
        terms: Distinct terms in order of appearance, function words dropped.
        dropped: True when the question had words, but only function words.
        identifier: True when every word of the question is an identifier, such as
            a ticket number, a version, a path.
    """

    terms: tuple[str, ...]
    dropped: bool
    identifier: bool


def surface_pattern(text: str) -> re.Pattern[str]:
    """Give the pattern of the surface words of a text; the simpler one where it is ASCII."""
    return _ASCII_SURFACE if text.isascii() else _compiled(_SURFACE)


def surfaces(text: str) -> list[str]:
    r"""Cut a text into surface words; each line feed is an item of its own.

    >>> surfaces("see RFC-0077.\nOK")
    ['see', 'RFC-0077', '\n', 'OK']
    """
    return surface_pattern(text).findall(text)


def has_unspaced_script(text: str) -> bool:
    """Tell whether a text holds a character of a script written without spaces."""
    return not text.isascii() and _compiled(_UNSPACED_CHARACTER).search(text) is not None


def fold(word: str) -> str:
    """Fold case, width and accents, so that spellings of one word are equal.

    >>> fold("Ｍüller")
    'muller'
    """
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFKC", word).casefold()
    if _compiled(_RUN).search(folded):
        return folded
    return unicodedata.normalize("NFC", _compiled(_ACCENTS).sub("", unicodedata.normalize("NFKD", folded)))


def analyse(surface: str) -> Terms:
    """Turn one surface word into its terms.

    >>> analyse("RFC-0077").main
    ('rfc-0077', 'rfc', '0077')
    >>> analyse("钥匙柜")
    Terms(main=('钥匙', '匙柜'), singles=('钥', '匙', '柜'))
    """
    if surface.isascii():
        return Terms(_alphanumeric(surface)) if surface.isalnum() else _compound(surface)
    if len(surface) > 1 and _compiled(_PLAIN_RUN).fullmatch(surface):
        return Terms(_pairs(surface), tuple(surface))
    return _compound(surface)


def _alphanumeric(surface: str) -> tuple[str, ...]:
    lower = surface.lower()
    if not surface[1:].islower() and _CAMEL_BORDER.search(surface):
        return (lower, *(porter_stem(part.lower()) for part in _CAMEL.findall(surface)))
    return (porter_stem(lower),)


def _compound(surface: str) -> Terms:
    if surface.isascii():
        return Terms(tuple(_spaced(surface)))
    main: list[str] = []
    singles: list[str] = []
    for segment in _compiled(_RUN).split(unicodedata.normalize("NFKC", surface)):
        _add_segment(segment, main, singles)
    return Terms(tuple(main), tuple(singles))


def _add_segment(segment: str, main: list[str], singles: list[str]) -> None:
    if not _compiled(_UNSPACED_CHARACTER).match(segment):
        # Normalising can make spaces: the Arabic ligature of four words.
        for word in segment.split():
            main.extend(_spaced(word.strip(_JOINING)))
    elif len(segment) == 1:
        main.append(segment)
    else:
        main.extend(_pairs(segment))
        singles.extend(segment)


def _spaced(word: str) -> Iterable[str]:
    return _apostrophe(word) if "'" in word or "’" in word else _whole_and_parts(word)


def _apostrophe(word: str) -> tuple[str, ...]:
    """``Ann's`` is Ann; ``don't`` is dont; ``O'Brien`` is obrien, and its parts."""
    head, _, tail = word.replace("’", "'").partition("'")
    if tail.lower() in {"s", ""} and head:
        return analyse(head).main
    joined = analyse(head + tail).main
    return joined if len(tail) <= 2 or "'" in tail else joined + analyse(head).main + analyse(tail).main


def _whole_and_parts(word: str) -> Iterator[str]:
    parts = _JOINT.split(word)
    if len(parts) > 1:
        yield fold(word)
    for part in parts:
        if part.isascii():
            yield from filter(None, _alphanumeric(part))
        elif folded := fold(part):  # nothing is left of an accent alone
            yield porter_stem(folded)


def _pairs(run: str) -> tuple[str, ...]:
    return tuple([a + b for a, b in pairwise(run)])


@lru_cache(maxsize=65536)
def cached_analysis(surface: str) -> Terms:
    """Like ``analyse``, remembered: most words of a text have been seen before."""
    return analyse(surface)


class _Memo(dict[str, tuple[str, ...]]):
    """Surface word to its main terms; filled as words are met, and emptied when it is large."""

    def __missing__(self, surface: str) -> tuple[str, ...]:
        if len(self) >= 262_144:
            self.clear()
        terms = ("\n",) if surface == "\n" else analyse(surface).main
        self[surface] = terms
        return terms


_MEMO = _Memo()


def text_terms(text: str) -> list[str]:
    r"""Give the main terms of a text in order, "\n" between lines.

    >>> text_terms("Two cranes\nRFC-0077")
    ['two', 'crane', '\n', 'rfc-0077', 'rfc', '0077']
    """
    # Looking words up in a dictionary from C is 6 times faster than a loop over calls.
    return list(chain.from_iterable(map(_MEMO.__getitem__, surface_pattern(text).findall(text))))


def text_singles(text: str) -> tuple[str, ...]:
    """Give the distinct characters of the longer runs of unspaced script in a text.

    >>> text_singles("钥匙柜 OK")
    ('钥', '匙', '柜')
    """
    if text.isascii():
        return ()
    if _compiled(_OTHER_FORMS).search(text):
        text = unicodedata.normalize("NFKC", text)
    if not has_unspaced_script(text):
        return ()
    runs = _compiled(_RUN).findall(text)
    return tuple(dict.fromkeys("".join([run for run in runs if len(run) > 1])))


def query_terms(query: str) -> QueryTerms:
    """Turn a question into distinct terms, function words dropped.

    >>> query_terms("what was the result of the inspection").terms
    ('result', 'inspect')
    >>> query_terms("GitHub备份为什么失败").terms
    ('github', 'git', 'hub', '备份', '失败')
    """
    words = [surface for surface in surfaces(query) if surface != "\n"]
    lower = [unicodedata.normalize("NFKC", word).casefold().replace("’", "'").replace("'", "") for word in words]
    stops = stop_words_for(lower)
    kept = [word for word, plain in zip(words, lower, strict=True) if plain not in stops]
    terms: dict[str, None] = {}
    for word in kept:
        for piece in _without_function_phrases(word):
            terms.update(dict.fromkeys(analyse(piece).main))
    return QueryTerms(
        terms=tuple(terms),
        dropped=bool(words) and not terms,
        identifier=bool(kept) and bool(terms) and all(is_identifier(word) for word in kept),
    )


def _without_function_phrases(word: str) -> list[str]:
    """Cut function phrases out of runs of unspaced script; keep a run that is nothing else."""
    if not has_unspaced_script(word):
        return [word]
    pieces = [piece for piece in _compiled(_PHRASES).split(word) if piece]
    # A one-character question such as 是 still means itself.
    return pieces if pieces or len(word) > 1 else [word]


_PHRASES = "|".join(map(re.escape, CJK_PHRASES))


def is_identifier(word: str) -> bool:
    """Tell whether a surface word names one thing: digits among letters, or joints.

    >>> [is_identifier(word) for word in ("INC-90817", "v2.3.1", "ERR_CONN", "well-known", "crane", "2026")]
    [True, True, True, False, False, True]
    """
    if any(character.isdigit() for character in word):
        return True
    return bool(re.search(r"[_/#@:]|[A-Za-z]\.[A-Za-z]", word)) and word.isascii()
