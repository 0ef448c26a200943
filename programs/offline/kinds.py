"""Kinds of facts (decisions, promises, feelings, times, figures, …), seen by their words.

A kind has two vocabularies: how a rule or a wish names it, and how a fact of that kind is told.
Both are of general English. What neither knows is met by word vectors in the gate.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

import Stemmer

from memsteer.programs.text import words


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The English stem of a word, by Snowball."""
    return str(Stemmer.Stemmer("english").stemWord(word))


@dataclass(frozen=True)
class Kind:
    """One kind of fact: `named` in rules, `told` in facts, `shape` where words are not enough."""

    name: str
    named: str
    told: str
    shape: str = ""


KINDS = (
    Kind(
        "decision",
        "decision decide conclusion verdict outcome call approval ruling resolution priority",
        "decide finalize finalise conclude confirm approve reject veto choose chose settle mandate "
        "order assign appoint authorize authorise greenlight cancel postpone prioritize rule "
        "decision verdict conclusion officially overrule insist instruct demand require set grant "
        "delay announce extend cap allocate deny switch",
        r"\b(?:(?:final|made the|official) (?:call|decision|word)|went with|go(?:ing)? with|"
        r"sign(?:ed)? off)\b",
    ),
    Kind(
        "promise",
        "promise commitment commit pledge vow swear swore word agreement guarantee",
        "promise commit commitment pledge vow swear swore sworn guarantee pact oath",
        r"\b(?:g[ai]ven?\b.{0,30}\bword|agreed to|made an? \w+ agreement)\b",
    ),
    Kind(
        "feeling",
        "emotion emotional feeling feel mood sentiment attitude reaction react mental stress "
        "happiness",
        "feel felt emotion emotional mood happy unhappy sad upset angry anxious anxiety worry "
        "worried relief relieved excited excitement ecstatic thrilled thrill delighted joy joyful "
        "nervous afraid scared frustrated frustration furious disappointed devastated hurt lonely "
        "jealous proud pride grateful touched moved ashamed embarrassed guilty guilt overwhelmed "
        "depressed panic calm hopeful hopeless heartbroken miserable melancholy nostalgic insecure "
        "resentful bitter terrified dread despair cry cried tear validated betrayed appreciated "
        "honored honoured stressed exhausted burnout rage outraged annoyed irritated cheerful "
        "content satisfied warmth affection love grief confident confidence comforted reassured "
        "sulk distress vulnerable empowered elated peaceful shocked amused sentimental ecstasy "
        "relaxed surprised giddy envy envious gloomy "
        "lighthearted discouraged inspired motivated triumphant mortified humiliated enraged tense",
    ),
    Kind(
        "figure",
        "number figure metric statistic data amount quantity value measurement parameter spec "
        "specification benchmark target result",
        "percent percentage average rate ratio",
        r"(?<![\w-])\d[\d,.]*(?:[a-z%]+\b|\b)(?! (?:am|pm|o'clock)\b)|[$€£¥]\s?\d",
    ),
    Kind(
        "finding",
        "technical finding solution architecture engineering root diagnosis analysis",
        "conclude determine diagnose cause identify verify measure calculate establish prove "
        "benchmark architecture technical bug fix patch deploy refactor optimize optimise "
        "algorithm",
    ),
    Kind(
        "schedule",
        "schedule time timing appointment plan meeting meet date arrangement session "
        "logistics calendar timetable training gathering day hour",
        "schedule reschedule arrange appointment postpone move shift",
        r"\b(?:[01]?\d|2[0-3])(?::[0-5]\d(?:\s?[ap]\.?m\b\.?)?|\s?[ap]\.?m\b\.?)|"
        r"\b(?:on|next|this|every|for|to|until|by) (?:mon|tues|wednes|thurs|fri|satur|sun)day",
    ),
    Kind(
        "event",
        "event milestone occasion celebration news family happening",
        "wedding birthday funeral graduation graduate engagement engaged marry married divorce "
        "pregnant pregnancy birth born surgery operation hospital hospitalized diagnosis diagnosed "
        "retire retirement died death pass reunion anniversary festival baptism promotion moving "
        "illness accident family relatives visit",
    ),
    Kind(
        "preference",
        "preference like taste favorite favourite hobby interest habit dislike",
        "prefer love like enjoy favorite favourite hate dislike allergic habit",
    ),
    Kind(
        "advice",
        "advice suggestion recommendation tip idea feedback",
        "suggest recommend advise advice recommendation suggestion tip remind warn",
    ),
    Kind(
        "purchase",
        "purchase price cost expense budget spending money",
        "buy bought purchase cost price pay paid budget spend",
        r"[$€£¥]\s?\d|\b\d[\d,.]* ?(?:dollars|euros|pounds|rmb|usd|eur|yuan|yen)\b",
    ),
    Kind(
        "health",
        "health medical illness symptom diet fitness injury",
        "sick ill pain ache doctor medicine injured injury sore fever symptom therapy diet",
    ),
)  # fmt: skip
_BY_NAME = {kind.name: kind for kind in KINDS}
# A wish has a side that is wanted and a side that is not; these words begin the second.
_UNWANTED = re.compile(
    r"[,;.]?\s*\b(?:not|instead of|rather than|skip(?:ping)?|ignor(?:e|ing)|drop(?:ping)?|"
    r"forget(?: about)?|leav(?:e|ing) out|leave|without|except|never|nothing|no need|"
    r"(?:you )?(?:can |do ?n[o']?t |don['’]t )(?:need|have|want|worry|record|track|bother|care)"
    r")\b[^,;.]*",
    re.IGNORECASE,
)


_DROPPED = re.compile(
    r"(?:^|[,;.] ?)[^,;.]*\b(?:can go|needn['’]t|need not|(?:is|are)n['’]t|(?:is|are) not|"
    r"(?:does|do)n['’]t matter|can be (?:left|skipped|dropped|ignored))\b[^;.]*$",
    re.IGNORECASE,
)


@cache
def _stems(name: str, side: str) -> frozenset[str]:
    return frozenset(stem(w) for w in getattr(_BY_NAME[name], side).split())


@cache
def _shape(name: str) -> re.Pattern[str] | None:
    shape = _BY_NAME[name].shape
    return re.compile(shape, re.IGNORECASE) if shape else None


def kinds_told(text: str) -> tuple[str, ...]:
    """The kinds of fact that a sentence tells. Dates in ISO form count as no figure."""
    bare = re.sub(r"\(?\b\d{4}-\d{2}-\d{2}\b\)?", " ", text)
    stems = {stem(w) for w in words(bare)}
    return tuple(
        k.name
        for k in KINDS
        if stems & _stems(k.name, "told") or ((shape := _shape(k.name)) and shape.search(bare))
    )


def kinds_named(rule: str) -> tuple[str, ...]:
    """The kinds of fact that a rule or wish asks for."""
    stems = {stem(w) for w in words(wanted_part(rule))}
    return tuple(k.name for k in KINDS if stems & _stems(k.name, "named"))


def wanted_part(rule: str) -> str:
    """The rule without what it leaves out."""
    parts = re.split(r"(?<=[.;!]) ", rule)
    kept = []
    for part in parts:
        # The last word on a sentence's subject may be that it is not wanted.
        while dropped := _DROPPED.search(part):
            part = part[: dropped.start()]
        kept.append(_UNWANTED.sub(" ", part))
    return " ".join(kept)


def name_kinds(names: Iterable[str]) -> str:
    """Kinds in words for a rule: "decisions, promises and feelings"."""
    said = [_IN_WORDS[name] for name in names]
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"


_IN_WORDS = {
    "decision": "decisions and conclusions",
    "promise": "promises and commitments",
    "feeling": "feelings, mood shifts and what triggers them",
    "figure": "key numbers",
    "finding": "technical conclusions",
    "schedule": "schedules and times",
    "event": "major events",
    "preference": "preferences",
    "advice": "advice",
    "purchase": "prices",
    "health": "health",
}
