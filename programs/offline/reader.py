"""Rules for reading: blind recoverer, answerer, judge, query rewriter and HyDE writer.

A sentence answers best whose words, and whose record's words, meet the question's words in the
same or a near sense; the answer is a value of the asked type in it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from memsteer.programs.answers import compare, fold
from memsteer.programs.offline.facts import Sentence, draw, read_sentences, values_in
from memsteer.programs.offline.vectors import Vector, near_words, soft_overlap, word_vector
from memsteer.programs.text import content_words
from memsteer.signatures.supervision import AnswerType, SourceRecord

_LEAST_SCORE = 0.25  # below this the texts do not speak of what is asked
_HEADER = re.compile(r"^\[([^\]\n]+)\](?: (\d{4}-\d{2}-\d{2}\S*))?([^\n]*)\n", re.MULTILINE)
_ASKED: tuple[tuple[str, AnswerType], ...] = (
    (r"\bhow much\b|\bamount\b|\bprice\b|\bcost\b", "money"),
    (r"\bhow long\b|\bhow many (?:days|weeks|hours|minutes|months)\b", "duration"),
    (r"\bhow many\b|\bwhat number\b", "number"),
    (r"\b(?:on )?(?:what|which) (?:date|day)\b|^when\b", "date"),
    (r"\b(?:at )?what time\b", "time"),
    (r"^(?:did|do|does|is|was|were|are|have|has|had|can|could|will)\b", "boolean"),
)


@dataclass(frozen=True)
class _Reading:
    answer: str
    sentence: Sentence | None


def recover_answer(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """RecoverAnswer: the best value, citing every record that meets part of the question."""
    records = [SourceRecord.model_validate(r) for r in inputs["records"]]
    page = _Page(inputs["question"], records)
    reading = page.read(inputs["answer_type"])
    cited = page.meeting_records()
    if reading.sentence is not None:
        cited[reading.sentence.record.record_id] = reading.sentence
    citations = [{"record_id": i, "quote": s.text} for i, s in cited.items()]
    return {"answer": reading.answer, "citations": citations}


def answer_question(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """AnswerQuestion: the same reading, over the excerpts of the context."""
    memory = str(inputs.get("memory", ""))
    heads = list(_HEADER.finditer(memory))
    records = []
    for n, head in enumerate(heads):
        end = heads[n + 1].start() if n + 1 < len(heads) else len(memory)
        text = memory[head.end() : end].strip()
        kind = "conversation" if re.match(r"(User|Assistant):", text) else "note"
        records.append(SourceRecord(record_id=head[1], kind=kind, time=head[2] or "", text=text))
    question = str(inputs["question"])
    reading = _Page(question, records).read(asked_type(question))
    cited = [reading.sentence.record.record_id] if reading.sentence else []
    return {"answer": reading.answer, "cited": cited}


def asked_type(question: str) -> AnswerType:
    """The answer type that a question's own words ask for."""
    for pattern, answer_type in _ASKED:
        if re.search(pattern, question, re.IGNORECASE):
            return answer_type
    return "span"


class _Page:
    """A question laid over the sentences of some records."""

    def __init__(self, question: str, records: Sequence[SourceRecord]) -> None:
        self.question = question
        self.cues = tuple(dict.fromkeys(content_words(question)))
        self.sentences = [s for r in records for s in read_sentences(r)]
        self.met = self._meet()
        # A cue that every sentence meets says nothing; one that few meet says most.
        spread = (self.met > 0.6).sum(axis=0) if len(self.sentences) else np.ones(len(self.cues))
        self.weight = 1.0 / (1.0 + np.asarray(spread, dtype=np.float32))
        self.weight /= max(float(self.weight.sum()), 1e-9)

    def _meet(self) -> Vector:
        """(sentences, cues) how well each sentence meets each cue."""
        if not self.sentences or not self.cues:
            return np.zeros((len(self.sentences), len(self.cues)), dtype=np.float32)
        offered = sorted({w for s in self.sentences for w in s.cues})
        place = {w: i for i, w in enumerate(offered)}
        asked = np.stack([word_vector(w) for w in self.cues])
        table = np.stack([word_vector(w) for w in offered]) if offered else np.zeros((1, 384))
        near = table @ asked.T
        near = np.where(near < 0.35, 0.0, near)
        for column, cue in enumerate(self.cues):
            if cue in place:
                near[place[cue], column] = 1.0
        rows = [
            near[[place[w] for w in s.cues]].max(axis=0) if s.cues else np.zeros(len(self.cues))
            for s in self.sentences
        ]
        return np.stack(rows).astype(np.float32)

    def _scores(self) -> Vector:
        """(sentences,) own match plus a share of the record's: leads stand beside the target."""
        own = self.met @ self.weight
        by_record: dict[str, Vector] = {}
        for sentence, row in zip(self.sentences, self.met, strict=True):
            known = by_record.get(sentence.record.record_id)
            joined = row if known is None else np.maximum(known, row)
            by_record[sentence.record.record_id] = joined
        around = [float(by_record[s.record.record_id] @ self.weight) for s in self.sentences]
        return np.asarray(own + 0.5 * np.array(around, dtype=np.float32))

    def read(self, answer_type: AnswerType) -> _Reading:
        if not self.sentences or not self.cues:
            return _Reading("Unknown", None)
        days = self._days_between() if answer_type == "duration" else None
        if days is not None:
            return days
        scores = self._scores()
        order = [int(i) for i in np.argsort(-scores, kind="stable")]
        if scores[order[0]] < _LEAST_SCORE:
            return _Reading("Unknown", None)
        if answer_type == "boolean":
            return _Reading("Yes", self.sentences[order[0]])
        for i in order:
            if scores[i] < 0.5 * scores[order[0]]:
                break
            value = self._value(self.sentences[i], answer_type)
            if value:
                return _Reading(value, self.sentences[i])
        return _Reading("Unknown", None)

    def _value(self, sentence: Sentence, answer_type: AnswerType) -> str:
        if answer_type == "date":
            return sentence.record.time[:10]
        asked = fold(self.question)
        for value in values_in(sentence.text):
            if value.answer_type == answer_type and fold(value.text) not in asked:
                return value.text
        return ""

    def _days_between(self) -> _Reading | None:
        """Days between the two events that "between … and …" names."""
        match = re.search(r"\bdays\b.*\bbetween (.+) and (when .+?|.+?)\??$", self.question)
        if not match:
            return None
        ends = [self._best_for(part) for part in match.groups()]
        times = [s.record.time[:10] for s in ends if s and s.record.time]
        if len(times) < 2:
            return None
        first, last = (date.fromisoformat(t) for t in times)
        return _Reading(f"{abs((last - first).days)} days", ends[0])

    def _best_for(self, part: str) -> Sentence | None:
        wanted = tuple(content_words(part))
        scored = [(float(soft_overlap(wanted, s.cues).sum()), s) for s in self.sentences]
        best = max(scored, key=lambda pair: pair[0], default=(0.0, None))
        return best[1] if best[0] > 0 else None

    def meeting_records(self) -> dict[str, Sentence]:
        """Records that meet at least two cues best of all, each with its best sentence."""
        owners: dict[str, int] = {}
        for column in range(len(self.cues)):
            best = self.met[:, column].max(initial=0.0)
            if best < 0.45:
                continue
            holders = {
                s.record.record_id
                for s, v in zip(self.sentences, self.met[:, column], strict=True)
                if v >= best - 1e-6
            }
            for holder in holders:
                owners[holder] = owners.get(holder, 0) + 1
        found: dict[str, Sentence] = {}
        own = self.met @ self.weight
        for i in np.argsort(-own, kind="stable"):
            sentence = self.sentences[int(i)]
            if owners.get(sentence.record.record_id, 0) >= 2:
                found.setdefault(sentence.record.record_id, sentence)
        return found


def judge_answer(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """JudgeAnswer: the typed comparison of answers; the rules know no paraphrase."""
    verdict = compare(str(inputs["answer"]), str(inputs["reference"]))
    return {"correct": verdict.correct, "reason": verdict.reason}


def rewrite_query(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """RewriteQuery: the clauses of the question, and its cues with a near word beside each."""
    question = str(inputs["question"])
    parts = re.split(
        r"[,;:?]| (?:when|while|after|before|during|since|because|and|but|that|who|which) ",
        question,
    )
    clauses = [" ".join(content_words(part)) for part in parts]
    queries = [c for c in clauses if len(c.split()) >= 2][:3]
    cues = content_words(question)
    widened = [w for cue in cues for w in (cue, *near_words(cue)[:1])]
    return {"queries": list(dict.fromkeys([*queries, " ".join(widened)])) or [question]}


def write_hypothetical(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """WriteHypothetical: the question as a statement, in its own and in near words."""
    question = str(inputs["question"])
    cues = content_words(question)
    opener = r"^\W*(?:what|which|who|when|where|why|how)\b\W*(?:much|many|long)?"
    said = re.sub(opener, "", question, flags=re.IGNORECASE)
    passages = [f"I {said.strip(' ?')}."]
    for variant in range(2):
        other = []
        for cue in cues:
            near = near_words(cue)
            other.append(near[draw(variant, cue) % len(near)] if near else cue)
        passages.append(f"Today there was {' '.join(other)}.")
    return {"passages": passages}
