"""Cutting documents into sections: every expected text is worked out by hand."""

from memsteer.eval.documents import Section, headings, html_sections, markdown_sections

MARKDOWN = """\
---
Written in haste.

# The *Kiln* Book

---

## 1. Firing ##
Heat slowly.
### Ramp
| hour | °C |
|------|----|
| 1    | 90 |



Then wait.

***

## Nothing here
---
## Code
```
# a comment, no heading
---
```
#hashtag is text
"""


def test_markdown() -> None:
    table = "| hour | °C |\n|------|----|\n| 1    | 90 |"
    assert markdown_sections(MARKDOWN) == (
        Section("", "Written in haste."),
        Section("1. Firing", f"Heat slowly.\n### Ramp\n{table}\n\nThen wait."),
        Section("Code", "```\n# a comment, no heading\n---\n```\n#hashtag is text"),
    )


def test_a_document_without_headings_is_one_section_and_an_empty_one_none() -> None:
    assert markdown_sections("Only text.\n") == (Section("", "Only text."),)
    assert markdown_sections("\n---\n") == ()
    assert html_sections("<p> </p>") == ()


HTML = """\
<!DOCTYPE html><html><head><title>no</title><style>h1 { color: red }</style></head>
<body></head>
<p>Before &amp; first.</p>
<h1>The <em>Kiln</em>
  Book</h1>
<h2>Stages</h2>
<p>First
second.<br/>- by hand
- and again</p>
<ul><li><p>one</p><ul><li>nested</li></ul></li><li>two</li></ul>
<ol><li>dry</li><li>fire</li></ol>
<h3>Table</h3>
<table><thead><tr><th>hour</th><th>heat</th></tr></thead>
<tbody><tr><td>1</td><td>90<br>degrees<p>or so</p></td></tr><tr><td></td><td>-2</td></tr></tbody>
</table><script>alert(1)</script><hr>
<blockquote><p>Wait.</p></blockquote>
<li>stray</li>
unclosed
"""


def test_html_keeps_lists_and_tables_as_lines() -> None:
    assert html_sections(HTML) == (
        Section("", "Before & first."),
        Section(
            "Stages",
            "First second.\n- by hand\n- and again\n- one\n  - nested\n- two\n1. dry\n2. fire\n"
            "### Table\n| hour | heat |\n| 1 | 90 degrees or so |\n| | -2 |\nWait.\n- stray\n"
            "unclosed",
        ),
    )


def test_headings_are_a_sections_own_and_the_lower_ones() -> None:
    assert headings("Firing", "Slow.\n### **Ramp**\n#### Hold\n#no") == ("Firing", "Ramp", "Hold")
    assert headings("", "text") == ()
