"""Small pictures as inline SVG, in the page's own colours; each says in words what it shows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup, escape

_WIDTH, _HEIGHT = 640, 180
_LEFT, _BOTTOM = 8, 24
_GUTTER = 112  # left of lines, for the numbers there
_MOST_POINTS = 300  # of a line
_STRIP, _NAMES = 32, 150  # height of a strip; room for its name
_MAP = 480  # height of a map
_FEW = 40  # points that are marked one by one


def histogram(
    series: Sequence[tuple[str, np.ndarray]], low: float, high: float, bins: int, says: str
) -> Markup:
    """Distributions over one axis, each scaled to its own total; where two overlap, both can be seen."""
    # Each of the one or two series has a name and values (n,).
    shares = [_shares(values, low, high, bins) for _, values in series]
    most = max((float(share.max()) for share in shares), default=0.0) or 1.0
    step = (_WIDTH - 2 * _LEFT) / bins
    room = _HEIGHT - _BOTTOM
    parts = []
    for number, share in enumerate(shares):
        points = [f"{_LEFT},{room}"]
        for place, value in enumerate(share):
            height = room - value / most * (room - 8)
            points += [f"{_LEFT + edge * step:.1f},{height:.1f}" for edge in (place, place + 1)]
        points.append(f"{_WIDTH - _LEFT},{room}")
        parts.append(f'<polygon class="series series-{number}" points="{" ".join(points)}"/>')
    if len(shares) == 2:
        both = np.minimum(shares[0], shares[1])
        for place, value in enumerate(both):
            if value:
                height = value / most * (room - 8)
                parts.append(
                    f'<rect class="overlap" x="{_LEFT + place * step:.1f}" y="{room - height:.1f}" '
                    f'width="{step:.1f}" height="{height:.1f}"/>'
                )
    parts += _ticks(low, high, room)
    return _svg(parts, _WIDTH, _HEIGHT, says)


def lines(
    series: Sequence[tuple[str, np.ndarray, np.ndarray]], says: str, marked: float | None = None
) -> Markup:
    """Values over steps, one line a series; means of neighbours where there are more than can be seen."""
    # A series has a name, rising steps (n,) and values (n,), of which those that are not finite are left out.
    thinned = []
    for _, steps, values in series:
        known = np.isfinite(values)
        thinned.append((_means(steps[known]), _means(values[known])))
    steps, values = (np.concatenate([pair[place] for pair in thinned] or [np.zeros(0)]) for place in (0, 1))
    if not len(steps):
        return Markup("")
    first, last, low, high = (float(end) for end in (steps.min(), steps.max(), values.min(), values.max()))
    room = _HEIGHT - _BOTTOM
    parts = []

    def across_at(step: Any) -> Any:
        return _GUTTER + (step - first) / max(last - first, 1e-9) * (_WIDTH - _LEFT - _GUTTER)

    if marked is not None:
        x = across_at(marked)
        parts.append(f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{room}"/>')
    for number, (x, y) in enumerate(thinned):
        across = across_at(x)
        up = room - 8 - (y - low) / max(high - low, 1e-9) * (room - 16)
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, up, strict=True))
        parts.append(f'<polyline class="line line-{number % 4}" points="{points}"/>')
        if len(x) <= _FEW:
            parts += [
                f'<circle class="dot dot-{number % 4}" cx="{a:.1f}" cy="{b:.1f}" r="3"/>'
                for a, b in zip(across, up, strict=True)
            ]
    parts.append(f'<text class="tick" x="{_LEFT}" y="18">{high:.3g}</text>')
    parts.append(f'<text class="tick" x="{_LEFT}" y="{room - 4}">{low:.3g}</text>')
    return _svg([*parts, *_ticks(round(first), round(last), room, _GUTTER)], _WIDTH, _HEIGHT, says)


def strips(series: Sequence[tuple[str, np.ndarray]], low: float, high: float, says: str) -> Markup:
    """A distribution (n,) for each name, one below the other over the same axis, its median marked."""
    parts = []
    for number, (name, values) in enumerate(series):
        room, step = (number + 1) * _STRIP, (_WIDTH - _LEFT - _NAMES) / 60
        shares = _shares(values, low, high, 60)
        heights = np.repeat(shares / (shares.max() or 1), 2)
        points = [(0, 0.0), *(((n + 1) // 2, height) for n, height in enumerate(heights)), (60, 0.0)]
        outline = " ".join(f"{_NAMES + n * step:.1f},{room - 24 * share:.1f}" for n, share in points)
        middle = _NAMES + (float(np.clip(np.median(values), low, high)) - low) / (high - low) * 60 * step
        parts += [
            f'<polygon class="series series-0" points="{outline}"/>',
            f'<line class="mark" x1="{middle:.1f}" x2="{middle:.1f}" y1="{room - 26}" y2="{room}"/>',
            f'<text class="tick" x="{_LEFT}" y="{room - 4}">{escape(name)}</text>',
        ]
    height = len(series) * _STRIP
    return _svg([*parts, *_ticks(low, high, height, _NAMES)], _WIDTH, height + _BOTTOM, says)


def points(places: np.ndarray, groups: np.ndarray, texts: Sequence[str], says: str) -> Markup:
    """Texts at their places (n, 2), each coloured by its group (n,); a pointer over one shows it."""
    low, span = places.min(axis=0), np.maximum(np.ptp(places, axis=0), 1e-9)
    at = 8 + (places - low) / span * (np.array([_WIDTH, _MAP]) - 16)
    parts = [
        f'<circle class="point point-{group}" data-n="{n}" cx="{x:.1f}" cy="{y:.1f}" r="5">'
        f"<title>{escape(text)}</title></circle>"
        for n, ((x, y), group, text) in enumerate(zip(at, groups, texts, strict=True))
    ]
    return _svg(parts, _WIDTH, _MAP, says)


def interval(low: float, value: float, high: float, least: float, most: float, says: str) -> Markup:
    """A value on a short scale from `least` to `most`, with the interval around it as a bar."""
    span = max(most - least, 1e-9)
    left, middle, right = (4 + 112 * (end - least) / span for end in (low, value, high))
    parts = [
        '<rect class="ground" x="0" y="1" width="120" height="12"/>',
        f'<line class="line line-0" x1="{left:.1f}" x2="{right:.1f}" y1="7" y2="7"/>',
        f'<circle class="dot dot-0" cx="{middle:.1f}" cy="7" r="3.5"/>',
    ]
    return _svg(parts, 120, 14, says, "bar")


def _means(values: np.ndarray) -> np.ndarray:
    """At most as many values as a picture shows: means of runs of neighbours."""
    if len(values) <= _MOST_POINTS:
        return values.astype(float)
    return np.array([part.mean() for part in np.array_split(values.astype(float), _MOST_POINTS)])


def _ticks(low: float, high: float, room: int, left: int = _LEFT) -> list[str]:
    """Numbers below a picture, from one end of its axis to the other; whole ones between whole ends."""
    parts = []
    whole = low == int(low) and high == int(high) and high - low >= 4
    for share in np.linspace(0, 1, 5):
        x, value = left + share * (_WIDTH - _LEFT - left), low + share * (high - low)
        anchor = "start" if share == 0 else "end" if share == 1 else "middle"
        shown = f"{round(value):,}" if whole else f"{value:g}"
        parts.append(f'<text class="tick" x="{x:.0f}" y="{room + 19}" text-anchor="{anchor}">{shown}</text>')
    return parts


def overlap_of(first: np.ndarray, second: np.ndarray, low: float, high: float, bins: int) -> float:
    """Share of two distributions that lies under both, from 0 (apart) to 1 (alike)."""
    both = np.minimum(*(_shares(values, low, high, bins) for values in (first, second)))
    return min(1.0, float(both.sum()))  # sums of shares round


def _shares(values: np.ndarray, low: float, high: float, bins: int) -> np.ndarray:
    counts, _ = np.histogram(np.clip(values, low, high), bins, (low, high))
    return counts / max(counts.sum(), 1)


def stacked_bar(parts: Sequence[tuple[str, float]], says: str) -> Markup:
    """A bar of shares that add up to at most 1, with a title on each piece."""
    pieces, x = [], 0.0
    for number, (name, share) in enumerate(parts):
        width = 120 * share
        title = escape(f"{name}: {100 * share:.1f} %")
        pieces.append(
            f'<rect class="piece piece-{number % 4}" x="{x:.1f}" y="1" width="{width:.1f}" height="12">'
            f"<title>{title}</title></rect>"
        )
        x += width
    return _svg(['<rect class="ground" x="0" y="1" width="120" height="12"/>', *pieces], 120, 14, says, "bar")


def _svg(parts: Sequence[str], width: int, height: int, says: str, kind: str = "picture") -> Markup:
    return Markup(
        f'<svg class="{kind}" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(says)}">'
        f"{''.join(parts)}</svg>"
    )
