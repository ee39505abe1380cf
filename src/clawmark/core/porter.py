"""The Porter stemmer: English words to the part that their forms share.

Source:
    Porter, "An algorithm for suffix stripping", Program 14(3), 1980, as Snowball's
    "porter" publishes it. Words of one or two letters stay as they are. The tests compare
    it with the Snowball library, which is not used here because the hook must load nothing
    but the standard library.
"""

from __future__ import annotations

_KINDS = str.maketrans({letter: "v" if letter in "aeiou" else "c" for letter in "abcdefghijklmnopqrstuvwxz"})
# No rule reads or changes a word that ends in one of these.
_INERT_ENDS = frozenset("abfhjkopqvwxz")
# The paper halves every double consonant but l, s and z; Snowball halves these ("trekked" gives "trekk").
_HALVED_DOUBLES = frozenset("bdfgmnprt")

_Suffixes = dict[str, tuple[tuple[str, str], ...]]


def _by_end(rules: str) -> _Suffixes:
    """Group suffixes by their last two letters, longest first; most words end in none of them."""
    pairs = [(suffix, replacement) for suffix, _, replacement in (rule.partition(">") for rule in rules.split())]
    pairs.sort(key=lambda pair: -len(pair[0]))
    return {end: tuple(pair for pair in pairs if pair[0].endswith(end)) for end in {pair[0][-2:] for pair in pairs}}


_STEP_2 = _by_end(
    "ational>ate tional>tion enci>ence anci>ance izer>ize abli>able alli>al entli>ent eli>e ousli>ous ization>ize "
    "ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous aliti>al iviti>ive biliti>ble"
)
_STEP_3 = _by_end("icate>ic ative> alize>al iciti>ic ical>ic ful> ness>")
_STEP_4 = _by_end("al> ance> ence> er> ic> able> ible> ant> ement> ment> ent> ion> ou> ism> ate> iti> ous> ive> ize>")
_STEPS = ((_STEP_2, 1), (_STEP_3, 1), (_STEP_4, 2))


def porter_stem(word: str) -> str:
    """Stem a lower-case ASCII word; anything else is given back unchanged.

    >>> [porter_stem(word) for word in ("caresses", "relational", "hopping", "sky", "qx-44")]
    ['caress', 'relat', 'hop', 'sky', 'qx-44']
    """
    if len(word) < 3 or not (word.isascii() and word.isalpha() and word.islower()):
        return word
    if word[-1] in _INERT_ENDS:
        return word
    if word[-1] == "s":
        word = _without_plural(word)
    if word[-2:] in ("ed", "ng"):
        word = _without_participle(word)
    if word[-1] == "y" and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    for suffixes, least in _STEPS:
        if word[-2:] in suffixes:
            word = _replaced(word, suffixes, least)
    return _without_final_e(word) if word[-1] in "el" else word


def _pattern(word: str) -> str:
    """Spell a word as consonants (c) and vowels (v); y is a vowel after a consonant."""
    pattern = word.translate(_KINDS)
    # In a run of y the kinds alternate.
    return pattern.replace("cy", "cv").replace("yy", "cv").replace("y", "c") if "y" in pattern else pattern


def _measure(stem: str) -> int:
    """Count the vowel groups that are followed by a consonant."""
    return _pattern(stem).count("vc")


def _has_vowel(stem: str) -> bool:
    return "v" in _pattern(stem)


def _ends_short(word: str) -> bool:
    """Tell whether a word ends consonant, vowel, consonant, the last not w, x or y."""
    return _pattern(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _without_plural(word: str) -> str:
    if word.endswith("sses") or word.endswith("ies"):
        return word[:-2]
    return word if word.endswith("ss") else word[:-1]


def _without_participle(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        stem = word[: -len(suffix)]
        if word.endswith(suffix):
            return _repaired(stem) if _has_vowel(stem) else word
    return word


def _repaired(stem: str) -> str:
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if stem[-1] in _HALVED_DOUBLES and stem[-1] == stem[-2:-1]:
        return stem[:-1]
    return stem + "e" if _measure(stem) == 1 and _ends_short(stem) else stem


def _replaced(word: str, suffixes: _Suffixes, least: int) -> str:
    """Replace the longest suffix that matches, if the stem before it is long enough."""
    for suffix, replacement in suffixes[word[-2:]]:
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            if suffix == "ion" and stem[-1:] not in ("s", "t"):
                return word
            return stem + replacement if _measure(stem) >= least else word
    return word


def _without_final_e(word: str) -> str:
    if word[-1:] == "e":
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
