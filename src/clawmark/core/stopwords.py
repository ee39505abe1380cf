"""Words that carry grammar, not content, per language: closed classes only.

The lists of the common packages were looked at and not used: they hold content
words that people search their notes for ("keys", "home", "test", "computer",
"problem", "system" in English, 年 月 日 in Chinese). A word is here when it is an
article, pronoun, preposition, conjunction, auxiliary verb or question word.
Dropping applies to questions only, never to what is indexed.
"""

from __future__ import annotations

_ENGLISH = """
a an the and or but nor if then than so as at by for from in into of off on onto out over to up with within
without about above across after against along among around before behind below between beyond during
through toward towards under until upon via is am are was were be been being do does did doing done have has
had having will would shall should can could may might must ought i me my mine myself we us our ours
ourselves you your yours yourself yourselves he him his himself she her hers herself it its itself they them
their theirs themselves this that these those there here who whom whose which what when where why how not no
any some each both either neither such only just also too very again once because while though although
whether however let isnt arent wasnt werent dont doesnt didnt havent hasnt hadnt wont wouldnt cant couldnt
shouldnt im ive id ill youre youve youll hes shes theyre theyve weve thats theres whats wheres whos ever
please tell
"""
_GERMAN = """
der die das den dem des ein eine einen einem einer eines und oder aber denn sondern wenn als ob dass weil da
in im an am auf aus bei beim mit nach von vom zu zum zur über unter vor hinter neben zwischen für durch gegen
ohne um bis seit ist sind war waren wird werden wurde wurden bin bist sein habe hat haben hatte hatten kann
können konnte soll sollen muss müssen darf dürfen will wollen mag ich du er sie es wir ihr mich dich uns euch
mir dir ihm ihn ihnen mein meine dein deine unser unsere euer ihre seine sich dieser diese dieses jener wer
was wann wo warum wie welche welcher welches nicht kein keine auch noch nur schon so sehr
"""
_SPANISH = """
el la los las un una unos unas y e o u pero sino si que como de del al a ante bajo con contra desde en entre
hacia hasta para por según sin sobre tras es son era eran fue fueron ser está están estaba estaban estar ha
han había haber he hemos soy eres somos yo tú él ella nosotros vosotros ellos ellas me te se nos os lo le les
mi mis tu tus su sus nuestro nuestra este esta estos estas ese esa esos esas aquel aquella quién quien qué
cuándo cuando dónde donde cómo cuál cuáles cuánto no ni también muy más ya
"""
_FRENCH = """
le la les l un une des du de d et ou mais donc or ni car si que qu comme à au aux avec sans sous sur dans en
par pour vers chez entre est sont était étaient être été ai as a avons avez ont avait avaient avoir suis es
sommes êtes je tu il elle nous vous ils elles me te se moi toi lui leur leurs mon ma mes ton ta tes son sa
ses notre nos votre vos ce cet cette ces qui quoi quand où pourquoi comment quel quelle quels quelles ne pas
plus aussi très
"""
_ITALIAN = """
il lo la i gli le un uno una e ed o ma se che come di del dello della dei degli delle a al allo alla ai agli
alle da dal dalla in nel nella con su sul sulla per tra fra è sono era erano essere stato ho hai ha abbiamo
avete hanno aveva avere io tu lui lei noi voi loro mi ti si ci vi mio mia tuo tua suo sua nostro vostro
questo questa questi queste quello quella chi cosa quando dove perché quale quali non anche più molto
"""
_PORTUGUESE = """
o a os as um uma uns umas e ou mas se que como de do da dos das em no na nos nas por pelo pela para com sem
sob sobre entre até é são era eram foi foram ser está estão estava estar tem têm tinha ter há eu tu ele ela
nós vocês eles elas me te se lhe meu minha teu tua seu sua nosso nossa este esta esse essa aquele aquela isto
isso quem quando onde porque qual quais quanto não também muito mais já
"""
_RUSSIAN = """
и а но или да ни если то что чтобы как в во на с со к ко у о об от до из за по под над при без для про через
между это эта этот эти тот та те я ты он она оно мы вы они меня тебя его её ее нас вас их мне тебе ему ей нам
вам им мой моя твой наш ваш свой себя кто где когда почему зачем какой какая какие который чей не бы ли же
был была было были есть будет будут быть
"""
_KOREAN = "은 는 이 가 을 를 의 에 에서 와 과 도 로 으로 그 저 것 수 등 및 누구 무엇 언제 어디 왜 어떻게"

# The most specific language wins: each list is tried on the whole question.
BY_LANGUAGE: dict[str, frozenset[str]] = {
    "en": frozenset(_ENGLISH.split()),
    "de": frozenset(_GERMAN.split()),
    "es": frozenset(_SPANISH.split()),
    "fr": frozenset(_FRENCH.split()),
    "it": frozenset(_ITALIAN.split()),
    "pt": frozenset(_PORTUGUESE.split()),
    "ru": frozenset(_RUSSIAN.split()),
    "ko": frozenset(_KOREAN.split()),
}

_CHINESE = """
为什么 什么时候 什么 怎么样 怎么 怎样 如何 哪里 哪儿 哪个 哪些 哪天 谁的 多少 是不是 有没有 请问 是否
以及 或者 我们 你们 他们 她们 它们 我的 你的 他的 她的 这个 那个 这些 那些
因为 所以 但是 的 了 吗 呢 吧 啊 呀 嘛 是 谁 我 你 他 她 它
"""
_JAPANESE = """
でしょうか でした です ますか ました ます どこ いつ だれ 誰 なに 何 なぜ どう
から まで には では とは への での は が を に で と も の へ や か
"""

# Chinese and Japanese have no spaces: these are cut out of a run before its
# bigrams are made. Longest first, so that 为什么 does not leave 为 behind.
CJK_PHRASES: tuple[str, ...] = tuple(
    sorted(f"{_CHINESE} {_JAPANESE}".split(), key=lambda phrase: (-len(phrase), phrase))
)


def stop_words_for(words: list[str]) -> frozenset[str]:
    """Give the function words to drop from a question.

    English always counts. Of the other languages the one that knows the most words
    of the question is added, if it knows more of them than English does: "die" is
    an article in "wo steht die Leiter" and a verb in "where did the battery die".

    Args:
        words: Lower-case words of the question, diacritics kept.

    >>> "die" in stop_words_for("wo steht die leiter".split())
    True
    >>> "die" in stop_words_for("where did the battery die".split())
    False
    """
    known = {code: sum(word in stops for word in words) for code, stops in BY_LANGUAGE.items()}
    best = max(BY_LANGUAGE, key=lambda code: (known[code], code == "en"))
    return BY_LANGUAGE["en"] | BY_LANGUAGE[best]
