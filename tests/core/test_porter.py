"""The stemmer against Snowball's "porter", which is a development dependency only.

Snowball keeps "bli" and "logi" as the paper of 1980 has them ("possibli", "geologi"), and
halves fewer double consonants than the paper does ("trekk").
"""

from __future__ import annotations

import string
from typing import Any

import pytest
import Stemmer
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clawmark.core.porter import porter_stem

# A C module without types.
SNOWBALL: Any = Stemmer.Stemmer("porter")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]

SUFFIXES = (
    "sses ies ss s eed ed ing ated bled ized tting lling ssed zzing kking y ational tional enci anci izer abli bli "
    "alli entli eli ousli ization ation ator alism iveness fulness ousness aliti iviti biliti logi icate ative alize "
    "iciti ical ful ness al ance ence er ic able ible ant ement ment ent sion tion ion ou ism ate iti ous ive ize e ll"
)

REAL_WORDS = """
caresses ponies ties caress cats dresses glasses classes bosses flies skies dies lies replies studies companies stories
buses gases bus gas news his was this has does goes less unless always across business success address processes
agreed feed freed seed need proceed exceeded succeeded guaranteed plastered bled motoring sing bring string thing
king ring spring during evening morning ceiling building meeting warning nothing everything
conflated troubled sized hopping tanned falling hissing fizzed failing filing planned stopped running swimming
controlled controlling travelled travelling cancelled labelled modelling added adding egged rubbed digging jogged
trekked trekking buzzed buzzing missed passing called calling rolled pulling agreeing seeing being dying lying tying
used using made making taken taking created creating updated updating decided deciding arrived leaving moved moving
noticed changed managed arranged judged raised closed opened visited edited limited posted wanted needed started ended
happy sky cry fly try play day way say boy toy enjoy enjoyed enjoying employs employees copied copying carried carrying
hurried apply applied applies applying reply type types typing style styles system systems symbol rhythm rhythms syzygy
yellow young year yes yesterday yield layer layers eyes eye dye dyed
relational conditional rational national international optional additional traditional emotional professional
valency hesitancy agency frequency emergency currency consistency dependency efficiency latency digitizer organizer
conformably possibly probably horribly terribly comfortably reliably ably assembly radically differently vilely
analogously vietnamization predication operator feudalism decisiveness hopefulness callousness formality sensitivity
sensibility ability availability compatibility responsibility stability visibility accessibility
geology geological geologist archaeology analogy apology technology technologies technological biology biological
psychology theology theological chronological methodology
triplicate formative formalize electricity electrical hopeful goodness publicity simplicity authenticity typical
critical historical political physical medical musical careful useful wonderful beautiful darkness kindness illness
weakness awareness fitness witness harness
revival allowance inference airliner gyroscopic adjustable defensible irritant replacement adjustment dependent
adoption homologou communism activate angularity homologous effective bowdlerize
arrival proposal removal approval general several special final local total normal personal musical
balance distance insurance performance importance difference conference reference experience evidence science silence
computer computers number numbers letter letters manager server servers printer other another whether never
basic public topic music traffic specific academic electronic automatic
capable reasonable portable table tables cable valuable responsible flexible terrible incredible
important assistant restaurant instant constant distant
agreement announcement apartment appointment argument arrangement comment department development document element
employment environment experiment government improvement investment management measurement moment payment statement
treatment vestment cement present recent student accident different excellent independent parent patient president
silent
question questions action actions condition decision decisions discussion education election information location
mention mission nation opinion option options permission population position production region religion section
session solution station television union vacation version million onion champion companion
tourism mechanism organism prism realism
private climate chocolate estimate estimated estimating separate separately certificate candidate debate date dates
famous nervous serious various previous dangerous religious obvious curious
active native motive expensive attractive alternative executive sensitive relative relatives conservative
realize recognize organize organized organization organizations realization prize size apologize summarize
probate rate cease controll roll rolls hill well tell tall small wall wallet roller hello yell sell cell skill
the quick brown fox jumped over lazy dogs deploy deployed deployment deployments key keys vault rotate rotated rotation
backup backups router routers firmware upgrade upgrades upgraded invoice invoices billing quarterly secrets secret
preference preferences prefer preferred preferring inspected inspection inspections inspector results result
"""


@st.composite
def suffixed_words(draw: st.DrawFn) -> str:
    stem = draw(st.text("aeiouy" * 2 + string.ascii_lowercase, max_size=7))
    return stem + "".join(draw(st.lists(st.sampled_from(SUFFIXES.split()), max_size=3)))


def test_real_words_are_stemmed_as_snowball_stems_them() -> None:
    words = sorted(set(REAL_WORDS.split()))
    assert len(words) >= 300

    stems = {word: porter_stem(word) for word in words if len(word) > 2}

    assert stems == {word: SNOWBALL.stemWord(word) for word in stems}


@pytest.mark.parametrize("suffix", SUFFIXES.split())
def test_every_suffix_is_cut_as_snowball_cuts_it(suffix: str) -> None:
    """After stems without, with one and with two measures, and after each kind of letter."""
    words = [stem + suffix for stem in ("", "b", "oa", "tr", "hop", "troub", "sky", "relat", "gener", "adopt", "yyx")]

    stems = {word: porter_stem(word) for word in words if len(word) > 2}

    assert stems == {word: SNOWBALL.stemWord(word) for word in stems}


@given(suffixed_words().filter(lambda word: len(word) > 2))
@example("mekked")
@example("yhyyed")
@example("pyying")
def test_made_up_words_are_stemmed_as_snowball_stems_them(word: str) -> None:
    assert porter_stem(word) == SNOWBALL.stemWord(word)


@settings(max_examples=50)
@given(st.text("ybcei", min_size=3, max_size=12))
def test_a_y_is_a_vowel_where_snowball_has_it_so(word: str) -> None:
    assert porter_stem(word) == SNOWBALL.stemWord(word)


@pytest.mark.parametrize("word", ["", "a", "is", "as", "by", "ss"])
def test_words_of_one_or_two_letters_stay_as_they_are(word: str) -> None:
    assert porter_stem(word) == word


@pytest.mark.parametrize("word", ["naïves", "Running", "v2s", "don't", "foo_bars", "кошки", "图书", "runn ing"])
def test_a_word_with_other_characters_stays_as_it_is(word: str) -> None:
    assert porter_stem(word) == word


@given(st.text())
def test_a_stem_of_any_text_is_never_longer_and_never_empty(text: str) -> None:
    stem = porter_stem(text)

    assert len(stem) <= len(text)
    assert bool(stem) == bool(text)


def test_forms_of_one_word_share_their_stem() -> None:
    assert {porter_stem(word) for word in ("inspect", "inspected", "inspecting", "inspection", "inspections")} == {
        "inspect"
    }
