"""Cut Markdown and HTML documents into sections, one to a heading of the first or second level.

Both kinds become the same thing first: lines, each with a heading level (0 for plain text). A
section is a heading and everything up to the next one of level 1 or 2; what stands before the
first heading is a section without a title. Lower headings stay in the text as `### …`. Sections
without a word of their own (a title above the first chapter, a rule) are dropped.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser

from memsteer.programs.text import words

_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*")
_RULE = re.compile(r"\s*([-*_])(?:\s*\1){2,}\s*")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_HIDDEN = {"head", "style", "script"}
# A line end in the source is a space on the page, but before a hand-made item it parts the items.
_LISTED = re.compile(r"\n\s*(?=(?:[-•□]|\d+\.)\s)")
_CELLS = {"td", "th"}
_LISTS = {"ul", "ol"}
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BREAKS = {"p", "div", "br", "hr", "li", "table", "tr", "blockquote", "pre", *_LISTS, *_HEADINGS}


@dataclass(frozen=True)
class Section:
    """One section: its heading without mark-up, and its text without that heading."""

    title: str
    text: str


def headings(title: str, text: str) -> tuple[str, ...]:
    """The headings in a section: its own (if it has one) and the lower ones in its text."""
    lower = (heading for level, heading in markdown_lines(text) if level)
    return tuple(h for h in (title, *lower) if h)


def markdown_sections(text: str) -> tuple[Section, ...]:
    """The sections of a Markdown document; their texts keep their mark-up."""
    return _cut(markdown_lines(text))


def html_sections(text: str) -> tuple[Section, ...]:
    """The sections of an HTML document as plain lines: `- item`, `1. item`, `| cell | cell |`."""
    parser = _Lines()
    parser.feed(text)
    parser.close()
    parser.end_line()
    return _cut(parser.lines)


def markdown_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a Markdown text with their heading levels; rules become empty lines."""
    fenced = False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        heading = None if fenced else _HEADING.fullmatch(line)
        if heading:
            yield len(heading[1]), re.sub(r"[*`]+", "", heading[2]).strip()
        else:
            yield 0, "" if _RULE.fullmatch(line) and not fenced else line.rstrip()


def _cut(lines: Iterable[tuple[int, str]]) -> tuple[Section, ...]:
    pieces: list[tuple[str, list[str]]] = [("", [])]
    for level, line in lines:
        if level in (1, 2):
            pieces.append((line, []))
        else:
            pieces[-1][1].append(f"{'#' * level} {line}" if level else line)
    texts = ((title, re.sub(r"\n{3,}", "\n\n", "\n".join(body)).strip()) for title, body in pieces)
    return tuple(Section(title, text) for title, text in texts if words(text))


class _Lines(HTMLParser):
    """Collects the visible text of a page as lines with heading levels."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[tuple[int, str]] = []
        self._text = ""
        self._mark = ""  # what the next line of a list item starts with
        self._level = 0
        self._hidden = 0
        self._cells = 0  # open table cells: inside one, nothing ends the line
        self._lists: list[int | None] = []  # the next number of each open list; None for bullets

    def end_line(self) -> None:
        """Put the text gathered so far, if any, as a line of its own."""
        # Collapsed: line ends in the source are spaces on the page.
        text = " ".join(self._text.split())
        self._text = ""
        if text:
            self.lines.append((self._level, self._mark + text))
            self._mark = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HIDDEN:
            self._hidden += 1
        elif tag in _CELLS:
            self._cells += 1
            self._text += " | "
        elif tag in _BREAKS:
            self._break()
        if tag in _HEADINGS:
            self._level = _HEADINGS[tag]
        elif tag in _LISTS:
            self._lists.append(1 if tag == "ol" else None)
        elif tag == "li":
            self._mark = self._next_mark()

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag in _CELLS:
            self._cells = max(0, self._cells - 1)
        elif tag == "tr":
            self._text += " |" if self._text.strip() else ""
        if tag in _BREAKS:
            self._break()
        if tag in _HEADINGS:
            self._level = 0
        elif tag in _LISTS and self._lists:
            self._lists.pop()
        elif tag == "li":
            self._mark = ""

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        first, *items = _LISTED.split(data) if not self._cells else [data]
        self._text += first
        for item in items:
            self.end_line()
            self._text = item

    def _break(self) -> None:
        if self._cells:
            self._text += " "
        else:
            self.end_line()

    def _next_mark(self) -> str:
        indent = "  " * (len(self._lists) - 1)
        number = self._lists[-1] if self._lists else None
        if number is None:
            return indent + "- "
        self._lists[-1] = number + 1
        return f"{indent}{number}. "
