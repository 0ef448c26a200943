"""The report of a run: report.md and a self-contained report.html, from the same sections.

All text that came from a history or a model is escaped: it is shown, never run.
"""

import re
from html import escape

from memsteer.eval.models import describe_models
from memsteer.eval.report_parts import Section, Table, sections
from memsteer.eval.result import RunResult

_STYLE = """
:root { --ink: #1d2329; --soft: #5f6b76; --paper: #fbfaf7; --rule: #dcd9d1; --card: #fff;
  --a: #2b7a6b; --b: #b9b2a3; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e2dc; --soft: #98a1a9; --paper: #16191c;
  --rule: #343a40; --card: #1d2125; --a: #5cb8a5; --b: #6d675c; } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 60rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; } h2 { font-size: 1.15rem; margin: 2.4rem 0 .4rem; }
p { margin: .4rem 0 .8rem; max-width: 46rem; } .soft { color: var(--soft); }
.engine { border-left: 4px solid var(--a); padding: .4rem .9rem; background: var(--card); }
summary { cursor: pointer; } summary h2 { display: inline; }
details { margin-top: 2.2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; margin: .6rem 0 1rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .9rem .35rem 0;
  border-bottom: 1px solid var(--rule); overflow-wrap: anywhere; min-width: 4.5em; }
th { color: var(--soft); font-weight: 600; }
svg { width: 100%; max-width: 42rem; height: auto; display: block; }
svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
rect.a, circle.a { fill: var(--a); } rect.b, circle.b { fill: var(--b); }
path.line { fill: none; stroke-width: 2.5; } path.line.a { stroke: var(--a); }
path.line.b { stroke: var(--b); } path.whisker { stroke: var(--ink); stroke-width: 1.3; }
path.grid { stroke: var(--rule); }
"""


def markdown_report(result: RunResult) -> str:
    """The report as Markdown."""
    head = (_title(result), describe_models(result.config), _facts(result))
    title, engine, facts = map(_cell, head)
    parts = [f"# {title}", engine, facts]
    for section in sections(result):
        parts.append(f"## {section.title}")
        if section.text:
            parts.append(section.text)
        if section.table:
            parts.append(_markdown_table(section.table))
    return "\n\n".join(parts) + "\n"


def html_report(result: RunResult) -> str:
    """The report as one HTML file that needs nothing else."""
    title = escape(_title(result))
    body = "".join(_html_section(section) for section in sections(result))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head><body><h1>{title}</h1>"
        f'<p class="soft">{escape(_facts(result))}</p>'
        f'<p class="engine">{escape(describe_models(result.config))}</p>{body}</body></html>\n'
    )


def _title(result: RunResult) -> str:
    person = result.benchmark.history.person
    return f"MemSteer {result.config.command}: {person or result.benchmark.name}"


def _facts(result: RunResult) -> str:
    records = len(result.benchmark.history)
    return (
        f"{result.benchmark.name}, {records} records, seed {result.config.seed}, "
        f"context budget {result.config.budget_tokens} tokens."
    )


def _html_section(section: Section) -> str:
    heading = f"<h2>{escape(section.title)}</h2>"
    text = f"<p>{escape(section.text)}</p>" if section.text else ""
    table = _html_table(section.table) if section.table else ""
    if section.folded:
        return f"<details><summary>{heading}</summary>{text}{section.chart}{table}</details>"
    return heading + text + section.chart + table


def _html_table(table: Table) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.header)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in table.rows
    )
    return f'<div class="wide"><table><tr>{head}</tr>{rows}</table></div>'


def _markdown_table(table: Table) -> str:
    rows = ["| " + " | ".join(map(_cell, line)) + " |" for line in (table.header, *table.rows)]
    return "\n".join([rows[0], "|" + " --- |" * len(table.header), *rows[1:]])


def _cell(text: str) -> str:
    """One line, and nothing in it that Markdown or HTML would take for its own."""
    text = escape(re.sub(r"\s+", " ", text).strip(), quote=False)
    return re.sub(r"([\\|`*_\[\]])", r"\\\1", text)
