"""A plot of costs over sizes as SVG, both axes logarithmic."""

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 400, 60, 190, 30, 50
COLOURS = ("#b5179e", "#4361ee", "#6c757d", "#2a9d8f")


def drawn(cost: Mapping[str, Sequence[tuple[int, float]]]) -> str:
    """Return the drawing: a line for each name, of points (size, microseconds of CPU time a line)."""
    sizes = [size for points in cost.values() for size, _ in points]
    values = [value for points in cost.values() for _, value in points]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    first, last = math.log10(min(sizes)), math.log10(max(sizes))

    def x(size: float) -> float:
        return LEFT + (math.log10(size) - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (math.log10(value) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for power in range(low, high + 1):
        at = y(10**power)
        parts.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:,g}</text>')
    parts += [
        f'<text x="{x(size):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{size:,}</text>'
        for size in sorted(set(sizes))
    ]
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle:.1f}" y="{HEIGHT - 8}" text-anchor="middle">lines of input</text>')
    parts.append(f'<text x="{LEFT}" y="{TOP - 6}" text-anchor="start">CPU µs a line</text>')
    for (name, points), colour in zip(cost.items(), COLOURS, strict=False):
        way = " ".join(f"{x(size):.1f},{y(value):.1f}" for size, value in points)
        parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [
            f'<circle cx="{x(size):.1f}" cy="{y(value):.1f}" r="3" fill="{colour}"/>'
            for size, value in points
        ]
        size, value = points[-1]
        parts.append(
            f'<text x="{x(size) + 8:.1f}" y="{y(value) + 4:.1f}" fill="{colour}">{escape(name)} {value:.2g}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])
