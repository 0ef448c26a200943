"""Three small charts as inline SVG: no library, no script. Colours come from the page's CSS.

Each function returns one `<svg>` element; every text in it is escaped.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_LABEL = 190  # pixels for the labels at the left
_WIDTH = 640


@dataclass(frozen=True)
class Bar:
    """A bar from 0 to `value`, with a whisker if an interval is known, and its text at the end."""

    label: str
    value: float
    text: str
    low: float | None = None
    high: float | None = None
    style: str = "a"  # the CSS class of its colour: a or b


def bars(title: str, data: Sequence[Bar], top: float | None = None) -> str:
    """Horizontal bars; `top` is the value at the right edge, the largest by default."""
    most = top or max((bar.value for bar in data), default=1.0) or 1.0
    room = _WIDTH - _LABEL - 110
    rows = []
    for n, bar in enumerate(data):
        y = 8 + 26 * n
        width = room * bar.value / most
        end = width
        rows.append(_text(_LABEL - 8, y + 14, bar.label, "end"))
        rows.append(
            f'<rect class="{bar.style}" x="{_LABEL}" y="{y}" width="{width:.1f}" height="18" '
            'rx="2"/>'
        )
        if bar.low is not None and bar.high is not None:
            left, right = (_LABEL + room * v / most for v in (bar.low, bar.high))
            rows.append(f'<path class="whisker" d="M{left:.1f} {y + 9}H{right:.1f}"/>')
            rows.append(f'<path class="whisker" d="M{left:.1f} {y + 5}v8M{right:.1f} {y + 5}v8"/>')
            end = max(width, right - _LABEL)
        rows.append(_text(_LABEL + end + 8, y + 14, bar.text))
    return _svg(title, 16 + 26 * len(data), rows)


def steps(title: str, lines: Sequence[tuple[str, str, Sequence[float]]]) -> str:
    """Lines of (name, CSS class, fractions 0 to 1) over steps 0, 1, …, with each value written."""
    length = max((len(values) for _, _, values in lines), default=0)
    left, right, height = 60, _WIDTH - 150, 200
    span = max(length - 1, 1)
    rows = []
    for percent in (0, 25, 50, 75, 100):
        y = _level(percent / 100, height)
        rows.append(f'<path class="grid" d="M{left} {y:.1f}H{right}"/>')
        rows.append(_text(left - 8, y + 4, f"{percent} %", "end"))
    for n in range(length):
        x = left + (right - left) * n / span
        rows.append(_text(x, height + 36, "start" if n == 0 else f"revision {n}", "middle"))
    ends: list[tuple[float, str]] = []
    for name, style, values in lines:
        points = [
            (left + (right - left) * n / span, _level(v, height)) for n, v in enumerate(values)
        ]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        rows.append(f'<path class="line {style}" d="M{path}"/>')
        rows += [f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in points]
        ends.append((points[-1][1] + 4, f"{name} {values[-1]:.1%}"))
    free = 0.0
    for y, text in sorted(ends):  # from above, each label below the one before it
        free = max(y, free)
        rows.append(_text(left + (right - left) * (length - 1) / span + 10, free, text))
        free += 15
    return _svg(title, height + 46, rows)


def _level(fraction: float, height: int) -> float:
    return 16 + height * (1 - fraction)


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(title: str, height: int, rows: Sequence[str]) -> str:
    name = escape(title, quote=True)
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{name}">'
        f"<title>{name}</title>{''.join(rows)}</svg>"
    )
