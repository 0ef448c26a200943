"""Rules for the extractor and for the answerer over memories.

What the user says is cut into sentences and clauses; each that tells something becomes one
memory in the third person, dated where a time rule is given. Pronouns are resolved to the person
last named; the assistant's words are not used.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np

from memsteer.programs.offline.anchors import anchored
from memsteer.programs.offline.kinds import kinds_named, kinds_told
from memsteer.programs.offline.people import find_people, is_user, named_in
from memsteer.programs.offline.reader import asked_type
from memsteer.programs.offline.vectors import Vector, word_vector
from memsteer.programs.text import content_words, sentences

_LEAST_WORDS = 3  # content words that a memory must have
_OPENER = re.compile(
    r"^(?:(?:(?:hey|hi|hello|yeah|yep|yes|yup|nah|nope|oh|man|ugh|wow|okay|ok|honestly|actually|"
    r"anyways?|exactly|definitely|so|and|but|also|plus|haha|luckily|by the way|speaking of which|"
    r"on (?:a|the) \w+ (?:note|side))\b[,!.—-]*|(?:no|well|right|true|sure)\b[,!.—-]+) *)+",
    re.IGNORECASE,
)
_BREAK = re.compile(
    r"\s*(?:;|—|–| - )\s*|,? (?:but|although|though|while|whereas)\s+|, (?:and|so) "
    r"(?=(?:I|we|he|she|they|it|[A-Z][a-z]+)\b)"
)
_REQUEST = re.compile(
    r"^(?:(?:can|could|would|will) you|please|remind me|let me know|let's|thanks|thank you|"
    r"make sure you|tell me|just the|got it|sounds|i hope|hopefully|i guess|i know|i'll let you)",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"\b(?:correct|right) answer (?:is|was)[: ]+(.+?)(?:\.(?=\s|$)|$)", re.IGNORECASE
)
_DONE = (  # an adverb at most, and a participle: "I'd already packed" is "I had"
    r"(?:(?:already|just|never|only|always|once|long|finally|even|also) )?"
    r"(?:(?!need|feed)[a-z]+ed|been|had|gone|made|seen|got|done|taken|given|told|said|left|lost|found|bought|"
    r"brought|thought|forgotten|spent|kept|met|put|come|written|sent|won|heard)\b"
)
_FIRST = (
    (r"\bI['’]m\b", "{user} is"),
    (r"\bI['’]ll\b", "{user} will"),
    (r"\bI['’]ve\b", "{user} has"),
    (rf"\bI['’]d(?= {_DONE})", "{user} had"),
    (r"\bI['’]d\b", "{user} would"),
    (r"\bI am\b", "{user} is"),
    (r"\bI\b", "{user}"),
    (r"\b(?:me|myself)\b", "{user}"),
    (r"\b[Mm]y\b", "{user}'s"),
    (r"\b[Mm]ine\b", "{user}'s"),
    (r"\b[Ww]e['’]re\b", "they are"),
    (r"\b[Ww]e['’]ll\b", "they will"),
    (r"\b[Ww]e['’]ve\b", "they have"),
    (rf"\b[Ww]e['’]d(?= {_DONE})", "they had"),
    (r"\b[Ww]e['’]d\b", "they would"),
    (r"\b[Ww]e\b", "they"),
    (r"\bus\b", "them"),
    (r"\b[Oo]ur\b", "their"),
)
# "I promised Ann I'll come": without a "that" two names would stand side by side.
_TOLD = re.compile(
    r"\b((?:promise|promised|tell|told|assure|assured|remind|reminded|warn|warned|convince|convinced)"
    r" (?:[Mm]y )?[A-Za-zÀ-ÿ]+(?: [A-ZÀ-Ý][a-zà-ÿ]+)?) (?=(?:I|[Ww]e)\b)"
)
_OF_USER = re.compile(r"\b(?:I|I['’]\w+|me|my|we|we['’]\w+|our|us|myself)\b", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:he|she|him|her|his|hers)\b", re.IGNORECASE)
_CONTINUES = re.compile(
    r"^(?:it|this|that|which)\b.{0,20}\b(?:triggered|caused|because|due|thanks)\b", re.IGNORECASE
)
_SUBJECT = re.compile(r"\b([Hh]e|[Ss]he)(?=['’]|\b)")
_DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_KIND_OF_TYPE = {
    "number": {"figure"},
    "duration": {"figure"},
    "money": {"figure", "purchase"},
    "date": {"schedule"},
    "time": {"schedule"},
}
FORGOTTEN = "I don't remember."
_LEAST_MATCH = 0.05  # below this no memory shares anything with the question


def extract_memories(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """ExtractMemories: one memory for each clause of the user's that tells something."""
    user = str(inputs.get("user") or "the user")
    dated = bool(inputs.get("time_rule"))
    today = _day(str(inputs["observation_date"]))
    said = [(str(m["role"]), str(m["content"])) for m in inputs["messages"]]
    known = list(_scoped_people(inputs.get("rules") or []))
    people = [
        p
        for p in find_people((text for role, text in said if role == "user"), known)
        if not is_user(p, user)
    ]
    found: dict[str, dict[str, Any]] = {}
    for clause, named, focus in _read((text for role, text in said if role == "user"), people):
        # Who is not named may be meant by a pronoun: the person last named.
        meant = (focus,) if focus and (not named or _PRONOUN.search(clause)) else ()
        about = list(dict.fromkeys((*named, *meant)))
        if _OF_USER.search(clause):
            about.append("user")
        memory = _third_person(clause, user, focus, named)
        memory = _dated(memory, today) if dated and today else memory
        day = today.isoformat() if dated and today else ""
        found.setdefault(memory, {"text": memory, "about": about, "date": day})
    return {"memories": list(found.values())}


def _read(
    texts: Iterable[str], people: Sequence[str]
) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """The clauses that tell something, the people each names, and whom the one before named."""
    focus, question = "", ""
    for text in texts:
        for clause in _clauses(text, question):
            named = named_in(clause, people)
            tells = len(set(content_words(clause))) >= _LEAST_WORDS
            if tells and not _REQUEST.match(clause):
                yield clause, named, focus or (named[0] if named else "")
            focus = named[0] if named else focus
        question = text if text.strip().endswith("?") else ""


def _scoped_people(rules: Iterable[Any]) -> Iterable[str]:
    for rule in rules:
        match = re.match(r"person ([^:]+): ", str(rule))
        if match:
            yield match[1]


def _clauses(text: str, question: str) -> Iterable[str]:
    """The clauses of a message that state; of a correction, the question with the answer."""
    correction = _CORRECTION.search(text)
    if correction:
        asked = question.strip().rstrip("?")
        yield f"{asked}: {correction[1].strip()}" if asked else correction[1].strip()
        return
    for sentence in _whole_sentences(text):
        if sentence.rstrip("\"'”’) ").endswith("?"):
            continue
        for part in _parts(_OPENER.sub("", sentence.strip())):
            clause = _OPENER.sub("", part).strip(" ,.!")
            if clause:
                yield clause


def _whole_sentences(text: str) -> list[str]:
    """Sentences; one that gives only the cause of what was said before belongs to that."""
    whole: list[str] = []
    for sentence in sentences(text):
        if whole and _CONTINUES.match(_OPENER.sub("", sentence)):
            whole[-1] = f"{whole[-1].rstrip('.! ')}: {sentence}"
        else:
            whole.append(sentence)
    return whole


def _parts(sentence: str) -> list[str]:
    """The sentence in its clauses, those that say little joined to the one before."""
    pieces = [p for p in _BREAK.split(sentence) if p.strip(" ,.")]
    parts: list[str] = []
    for piece in pieces:
        if parts and min(len(content_words(piece)), len(content_words(parts[-1]))) < _LEAST_WORDS:
            parts[-1] = f"{parts[-1]}, {piece.strip()}"
        else:
            parts.append(piece)
    return parts


def _third_person(clause: str, user: str, focus: str, named: tuple[str, ...]) -> str:
    if focus and (not named or _SUBJECT.match(clause)):
        subject = focus if not focus.startswith("my ") else focus.replace("my ", f"{user}'s ")
        clause = _SUBJECT.sub(subject, clause, count=1)
        if subject not in clause:
            clause = f"{clause} (with {subject})"
    clause = _TOLD.sub(r"\1 that ", clause)
    for pattern, word in _FIRST:
        clause = re.sub(pattern, word.replace("{user}", user), clause)
    return clause[:1].upper() + clause[1:] + "."


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def _dated(memory: str, today: date) -> str:
    """The memory with its day before it, and each day and hour that is said as a date and time."""
    return f"On {today.isoformat()}, {anchored(memory, today)}"


def answer_from_memories(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """AnswerFromMemories: the memory that meets the question best, as it stands.

    It should share the question's words, tell the kind of fact that is asked for, stand early
    (memories come best first) and, of several on one matter, be the latest.
    """
    memories = [str(m) for m in inputs["memories"]]
    question = str(inputs["question"])
    cues = tuple(dict.fromkeys(content_words(question)))
    if not memories or not cues:
        return {"reply": FORGOTTEN}
    met = _met(cues, memories)
    weight = 1.0 / (1.0 + (met > 0.6).sum(axis=0))  # a cue that all memories meet says nothing
    scores = met @ (weight / weight.sum())
    if scores.max() < _LEAST_MATCH:
        return {"reply": FORGOTTEN}
    asked = _kinds_asked(question)
    fits = [bool(asked & set(kinds_told(m))) for m in memories]
    place = np.arange(len(memories)) / len(memories)
    days = [m[0] if (m := _DAY.search(text)) else "" for text in memories]
    order = sorted(set(days))
    age = np.array([order.index(d) / max(len(order) - 1, 1) for d in days])
    scores = scores + 0.25 * np.array(fits) - 0.2 * place + 0.1 * age
    return {"reply": memories[int(np.argmax(scores))]}


def _kinds_asked(question: str) -> set[str]:
    """The kinds of fact that answer a question, by its words and the type it asks for."""
    kinds = {*kinds_named(question), *kinds_told(question)}
    kind = asked_type(question)
    return kinds | _KIND_OF_TYPE.get(kind, set())


def _met(cues: tuple[str, ...], memories: list[str]) -> Vector:
    """(memories, cues) how well each memory meets each cue; cosine below 0.35 is noise."""
    bags = [tuple(content_words(m)) for m in memories]
    offered = sorted({w for bag in bags for w in bag})
    if not offered:
        return np.zeros((len(memories), len(cues)), dtype=np.float32)
    place = {w: i for i, w in enumerate(offered)}
    near = np.stack([word_vector(w) for w in offered]) @ np.stack([word_vector(c) for c in cues]).T
    near = np.where(near < 0.35, 0.0, near)
    for column, cue in enumerate(cues):
        if cue in place:
            near[place[cue], column] = 1.0
    rows = [
        near[[place[w] for w in bag]].max(axis=0) if bag else np.zeros(len(cues)) for bag in bags
    ]
    return np.stack(rows).astype(np.float32)
