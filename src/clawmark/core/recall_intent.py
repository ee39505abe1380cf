"""Does a prompt ask about the past: prior work, decisions, dates, people, preferences, todos?

Rules on words, sentence by sentence, because they run before every prompt and must cost
next to nothing. A sentence asks when it points at what was said or done before, or when it
is a question about somebody's own affairs; it does not when it wants something made,
explained, chosen, or kept for later. Precision and recall: ``benchmarks/recall_intent.py``.

A second gate follows: nothing is shown that the memory does not answer. So a doubtful
question about one's own affairs may pass here; a request for work may not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from clawmark.core.tokens import is_identifier, surfaces

# People ask at the beginning or at the end; a log pasted in between says nothing.
_LONGEST_PROMPT = 4_000
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
# A full stop inside a name, such as main.py, ends nothing.
_SENTENCE = re.compile(r"(?:[^\n。！？；?!;.]|\.(?=\w))+[。！？；?!;.]*")
_HAN = re.compile("[\u4e00-\u9fff]")
# How far a sentence asks about the past.
_NOTHING, _PARTICULAR, _PAST = 0, 1, 2
_KANA_OR_HANGUL = re.compile("[\u3040-\u30ff\uac00-\ud7af]")


@dataclass(frozen=True)
class _Cues:
    """What the sentences of one language show.

    Attributes:
        kept: Something is to be noted for later; outweighs everything.
        back: Points at what was said or done before; outweighs the rest.
        order: Something is to be made.
        question: It is a question.
        general: A question for books, for a manual or for an opinion.
        own: About somebody's own affairs: people, dates, habits, tasks, things of the house.
    """

    kept: str
    back: str
    order: str
    question: str
    general: str
    own: str


_DECIDED = r"(?:agree|settle|decide|chose|choose|pick|discuss|talk|plan|approve|promise|mention|drop|sign|try|tried)\w*"
_MADE = (
    "write|implement|create|add|fix|refactor|generate|explain|translate|summari[sz]e|convert|build|rename|run|install|"
    "optimi[sz]e|debug|print|make|draft|compose|sort|split|update|remove|delete|extend|port|change|set|save|store|"
    "review|use|suggest|recommend|pick|choose|decide|give|rewrite|come|tell|design|insert|move|replace|format|commit|"
    "push|deploy|test|check|improve|simplify|document|act|answer|schedule"
)
_POLITE = r"^\W*(?:(?:please|now|then|also|ok|okay|so|and|but|hey|hi|just|thanks|again)\W+)*"
_OWNING = (
    "own|maintain|responsible|in charge|on call|handle|review|approve|take|look after|lead|manage|know|has|have|run|"
    "deploy|broke|break|merge|pay|organi[sz]e|sign"
)

_ENGLISH = _Cues(
    kept=rf"{_POLITE}(?:remember(?! (?:when|what|who|how|where|which|the)\b)|remind me (?!wh|how|of)|note\b|"
    r"from now on)",
    back=rf"\b(?:did|have|had|has) (?:we|i|you|they|anyone|anybody|somebody|someone)\b(?! to\b)"
    rf"|\b(?:we|i|you|they|team) (?:(?:have|had|already|just|finally|ever|once) )*(?:{_DECIDED}(?<=ed|se|ew|ut)\b)"
    r"|\b(?:we|i|you) (?:once )?(?:were|was|left|stopped|said|told|used to|wrote|had|changed|disabled|found|suggested|"
    r"recommended|taught|gave|provided|shared|asked|happen(?:ed)?|consulted)\b"
    r"|\b(?:do|can) you (?:still )?(?:remember|recall)\b|\bremind me (?:wh|how|of)|^\W*remember (?:when|what|who|the)\b"
    r"|\b(?:last|previous|earlier) (?:time|session|conversation|chat|discussion|meeting|attempt|decision)\b"
    r"|\b(?:left off|back then|in the end|originally|previously|how long ago|since when)\b"
    r"|\bas (?:discussed|agreed|decided|planned|before|usual)\b|\bour (?:decision|agreement|plan|policy|choice)\b"
    r"|\b(?:in|from) (?:my|our) (?:notes|memory|diary|journal)\b"
    r"|\b(?:did|has|have) the .*\bever\b|\bwhat (?:was|were) the (?:outcome|result|conclusion|reason|plan)s?\b"
    # A person in a question about what she did: a name is what has a capital inside a sentence.
    r"|\bdid (?-i:[A-Z][a-z]+ [a-z])",
    order=rf"{_POLITE}(?:(?:can|could|would|will) you (?:please )?)?(?:{_MADE})\b"
    r"|^\W*(?:list|show)\b(?!.*\b(?:my|our|to-?dos?|tasks|items|decisions|questions|blockers)\b)",
    question=rf"{_POLITE}(?:(?:one more thing)\W+)*"
    r"(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|am|do|does|did|has|have|had|any)\b|\?\s*$"
    r"|^\W*(?:list|show)\b",
    general=r"\bhow (?:do|can|could|should|would|to)\b(?! (?:we|i|you) (?:usually|normally|generally|like|prefer|take))"
    r"|\b(?<!who )(?:should|shall|could|can|would) (?:i|we|you|one|they)\b|\byou think\b|\bis it (?:safe|possible|ok)\b"
    r"|\b(?:what|who)(?:'s| is| are|'re) (?:a|an|the (?:difference|best|preferred|most|meaning|purpose|point)|you)\b"
    r"|\bwhat (?:does|do) .*\bmean\b|\bdifference between\b|\bbest (?:way|practice)|\bbetter\b|\bin the world\b"
    r"|\bhow (?:are you|does)\b|\bgoing on\b"
    r"|\bwhy (?:is|does|do|are|isn't|doesn't|won't|can't) .*"
    r"\b(?:fail|work|run|loop|code|test|build|error|compile|match|container|crash|exit)",
    own=r"\b(?:my|mine|our|ours|we|us|i|me)\b|\bi'(?:ve|m|d)\b|\bwe'(?:ve|re|d)\b"
    rf"|\bwho(?:'s| is| was| were| are)?\b.{{0,20}}\b(?:{_OWNING})\w*\b|\bwho was (?:in|at|there)\b|\bcolleagues?\b"
    r"|\b(?:to-?dos?|action items?|open (?:items?|questions?|issues|for)|pending|outstanding|tasks)\b"
    r"|\b(?:left to do|next on)\b"
    r"|\bstill (?:open|need|left|going)\b|\b(?:roadmap|deadline|due|overdue|blockers?|the plan|the team|the reason)"
    r"|\b(?:lease|appointment|meeting|birthday|contract|invoice|renew\w*|expir\w+|audit|incident|outage|rollout|"
    r"release|budget|reasoning|rationale|licen[cs]e|decision|adr|review)\b"
    r"|\b(?:password|key|wi-?fi|nas|router|landlord|plumber|dentist|doctor|account number|staging|production|office|"
    r"boiler|heating)\b"
    # A person's habits; a ticket, but not a standard.
    r"|\b(?:use|uses|used) now\b|\b(?:does|is|was|has) (?-i:[A-Z][a-z]+)\b.*"
    r"\b(?:say|said|want|prefer|like|eat|drink|sit|live|approve|agree)s?\b"
    r"|(?-i:\b(?!(?:RFC|ISO|UTF|SHA|PEP|CVE|HTTP)-)[A-Z]{2,}-\d+\b)"
    r"|(?-i:\b[A-Z][a-z]+'s) (?:phone|birthday|address|name)",
)

_CHINESE = _Cues(
    kept=r"^(?:请|麻烦)?(?:你)?(?:记住|记下|请记|提醒我|帮我记|设一个)|以后(?:都|请)|从现在起",
    back=r"上次|上回|上一次(?!提交)|(?<!发布)(?<!周末)(?<!上线)之前|以前|先前|当时|刚才|后来|来着|还记得|那次|昨天|前天|去年|曾经"
    r"|上周|上个?月|(?:说|提到|讨论|聊|商量|答应|约定|决定|同意|定|试|处理|做|教|推荐|给)(?:过|到哪|了[哪什]|了?的是)"
    r"|(?:约定|答应|定下)|最[终后](?:没|选|用|定|改)|我们.{0,12}(?:为什么|怎么).{0,6}(?:不|没)",
    order=r"^(?:请|帮我|帮忙|麻烦|给我|用\w+)?(?:写|实现|生成|翻译|总结|修复|重构|新增|添加|讲个|画一|创建|改成|优化)"
    r"|^(?:请|麻烦)?(?:帮我|给|把|将|在).{0,40}?(?:写|改|加|起|翻译|实现|拆|选|总结|生成|看看|画)",
    question=r"什么|哪|谁|吗|多少|几|怎么|为什么|有没有|是不是|没有?[？?]?$|呢|还[差剩]|[?？]$",
    general=r"什么是|怎么(?:用|写|做|让|学|读|把)|如何|怎样|区别|你觉得|更好|比较好|应该|什么意思|世界|你是谁"
    r"|^.{0,6}(?:发明|发现|画)了|报错|(?:函数|代码|循环).{0,8}(?:问题|执行)|首都",
    own=r"我|咱|家里|家的|孩子|爸|妈|(?:谁|哪位).{0,8}(?:负责|管|有|值班|参加|批准|同意|接手|保管)|归谁|轮到谁|负责人|联系人"
    r"|房东|客户|同事|班主任|医生|待办|没[做完弄]|还差|还剩|还有哪些|遗留|任务|截止|到期|过期|例会|上线|发布|会议|评审"
    r"|密码|地址|电话|生日|合同|房租|护照|体检|花了多少|备用|过敏|喜欢|爱吃|习惯|定了|选了|解决了|现在的|脚本|有什么条件",
)

# Languages of which only the plainest cues are known.
_OTHERS = _Cues(
    kept=r"\A(?!)",
    back=r"\b(?:letztes mal|haben wir|hatten wir|erinnerst du|gestern|vereinbart|beschlossen)\b"
    r"|\b(?:la dernière fois|avons-nous|te souviens|rappelle-moi|hier|avait (?:décidé|dit|choisi|convenu))\b"
    r"|\b(?:última vez|recuerdas|decidimos|acordamos|dijimos|ayer)\b"
    r"|前回|先日|昨日|覚えて|決めた|決めまし|言っていた|言ってた|지난번|저번에|기억|정한|결정했|하기로",
    order=r"^\W*(?:schreib|erstell|écris|crée|escribe|crea)\w*|書いて|作って|바꿔|작성해",
    question=r"[?？]\s*$",
    general=r"^\W*(?:wie (?:mache|kann|installier|zentrier)\w*|comment|¿?cómo)\b|どうやって|어떻게|首都",
    own=r"\b(?:uns|unser\w*|mein\w*|ich|wir|chez nous|notre|nos|mon|ma|mes|nuestr\w*|soy|mi|mis)\b|私|우리|担当|담당"
    r"|\b(?:zuständig|verantwortlich|s'occupe|responsable|encargad\w+)\b",
)


# Words about remembering; notes seldom hold them, and a question must not fail for them.
_REMEMBERING = (
    r"\b(?:remember|recall(?:ed)?|remind(?:ed)?|settled?(?: on)?|decided?|agreed?(?: on)?|chose|choose|chosen|picked?|"
    r"discuss(?:ed|ion)?|mention(?:ed)?|talk(?:ed)?|said|told|say|tell|asked|happen(?:ed)?|suggest(?:ed)?|recommend(?:ed)?|"
    r"last (?:time|week|month|year)|yesterday|earlier|previous(?:ly)?|session|conversation|again|back then|in the end|"
    r"originally|currently|right now|already|still|now|so far|ever|once|exactly|know)\b(?: about\b)?"
    r"|上次|上回|之前|以前|先前|当时|刚才|后来|来着|还记得|记得|昨天|前天|上周|上个?月|去年|曾经|目前|最终|最后"
    r"|(?:说|提到|讨论|聊|商量|决定|约定|推荐)(?:过|了|到)?|定下来?了?"
    r"|前回|先日|昨日|覚えて|지난번|저번에|기억"
)


def asks_about_past(prompt: str) -> bool:
    """Tell whether a prompt asks about prior work, decisions, dates, people, preferences or todos.

    >>> asks_about_past("what did we settle on for the queue?"), asks_about_past("上次说的那个方案是什么")
    (True, True)
    >>> asks_about_past("write a function that sorts dates"), asks_about_past("what is the capital of France")
    (False, False)
    """
    return bool(question_about_past(prompt))


def question_about_past(prompt: str) -> str:
    """Give the sentences of a prompt that ask about the past; "" when none does.

    >>> question_about_past("Fix the flaky test. What did we decide about the timeout?")
    'What did we decide about the timeout?'
    """
    return _sentences_of(prompt, least=_PAST)


def particular_question(prompt: str) -> str:
    """Give the sentences that may ask about the past: only the notes can tell.

    "When does the daycare close?" shows nothing of whose daycare it is. So a question that
    wants nothing made or explained may be looked up, and counts when a note surely answers it.

    >>> particular_question("When does the daycare close?"), particular_question("How do I close a file?")
    ('When does the daycare close?', '')
    """
    return _sentences_of(prompt, least=_PARTICULAR)


def whole_identifier(prompt: str) -> str:
    """Give a prompt that is one identifier and nothing else, such as a ticket; "" otherwise.

    >>> whole_identifier(" TB-1467 "), whole_identifier("thanks")
    ('TB-1467', '')
    """
    word = prompt.strip()
    return word if 4 <= len(word) <= 64 and len(surfaces(word)) == 1 and is_identifier(word) else ""


def subject_of(question: str) -> str:
    """Leave out the words that only say that something is remembered: what is left is looked for.

    >>> subject_of("What did we decide about the retry policy last week?"), subject_of("上次说的那个方案是什么")
    ('What did we the retry policy ?', '的那个方案是什么')
    """
    return " ".join(_compiled(_REMEMBERING).sub(" ", question).split())


def _sentences_of(prompt: str, *, least: int) -> str:
    text = _FENCED.sub("\n", prompt)
    if len(text) > _LONGEST_PROMPT:
        half = _LONGEST_PROMPT // 2
        text = f"{text[:half]}\n{text[-half:]}"
    sentences = (match[0].strip() for match in _SENTENCE.finditer(text.replace("’", "'")))
    return " ".join(sentence for sentence in sentences if _degree(sentence) >= least)


def _degree(sentence: str) -> int:
    if _HAN.search(sentence) and not _KANA_OR_HANGUL.search(sentence):
        return _degree_by(_CHINESE, sentence)
    english = _degree_by(_ENGLISH, sentence)
    if english == _PAST or _degree_by(_OTHERS, sentence) == _PAST:
        return _PAST
    refused = _found(_OTHERS.order, sentence) or _found(_OTHERS.general, sentence)
    return _NOTHING if refused else english


def _degree_by(cues: _Cues, sentence: str) -> int:
    if _found(cues.kept, sentence):
        return _NOTHING
    if _found(cues.back, sentence):
        return _PAST
    if _found(cues.order, sentence) or not _found(cues.question, sentence) or _found(cues.general, sentence):
        return _NOTHING
    return _PAST if _found(cues.own, sentence) else _PARTICULAR


def _found(pattern: str, sentence: str) -> bool:
    return _compiled(pattern).search(sentence) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile when met: most prompts need the cues of one language only."""
    return re.compile(pattern, re.IGNORECASE)
