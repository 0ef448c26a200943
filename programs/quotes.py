"""Finding a quote in a record: roles quote, and the program turns the quote into a span.

A model that copies words still changes spaces, case, quotation marks and dashes. So a quote that
is not found as it stands is looked for in a folded text. Folding works on clusters (a sign with
its combining marks, or a run of spaces) and remembers where each came from; a match counts only
if it starts and ends between clusters, so that a span never cuts an accented letter in two.
"""

import unicodedata
from collections.abc import Iterator

from memsteer.programs.records import Record, Span

_QUOTES = {"'": "‘’‚‛′‵ʼ´`‹›", '"': "“”„‟″‶«»〝〞〟"}
_DASHES = "‐‑‒–—―−⸺⸻"
_INVISIBLE = "\u00ad\u200b\u2060\ufeff"  # soft hyphen, zero-width space, word joiner, BOM
_FOLDS = str.maketrans(
    {sign: plain for plain, signs in _QUOTES.items() for sign in signs}
    | dict.fromkeys(_DASHES, "-")
    | dict.fromkeys(_INVISIBLE, "")
)


def locate(record: Record, quote: str) -> Span | None:
    """The first place where the text of `record` says `quote`; None if absent or blank.

    The exact words are tried first, then the words up to spaces, case, quotation marks, dashes
    and Unicode compatibility (NFKC). Offsets are always into the original text.
    """
    if not quote.strip():
        return None
    start = record.text.find(quote)
    if start >= 0:
        return Span(record.id, start, start + len(quote))
    wanted = _fold(quote)[0].strip()
    if not wanted:
        return None
    text, starts, ends = _fold(record.text)
    found = text.find(wanted)
    while found >= 0:
        end = found + len(wanted)
        if found in starts and end in ends:
            return Span(record.id, starts[found], ends[end])
        found = text.find(wanted, found + 1)
    return None


def _fold(text: str) -> tuple[str, dict[int, int], dict[int, int]]:
    """The folded text; for each folded offset where a cluster starts, or ends, the original one."""
    pieces: list[str] = []
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    length = 0
    for start, end in _clusters(text):
        piece = _fold_cluster(text[start:end])
        if piece:
            starts[length] = start
            length += len(piece)
            ends[length] = end
            pieces.append(piece)
    return "".join(pieces), starts, ends


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for i in range(1, len(text)):
        in_run = text[i].isspace() and text[i - 1].isspace()
        if not in_run and not unicodedata.combining(text[i]):
            yield start, i
            start = i
    if text:
        yield start, len(text)


def _fold_cluster(cluster: str) -> str:
    if cluster.isspace():
        return " "
    # NFKD tells the same texts apart as NFKC, and unlike it works sign by sign.
    folded = unicodedata.normalize("NFKD", cluster.translate(_FOLDS)).casefold()
    return unicodedata.normalize("NFKD", folded)
