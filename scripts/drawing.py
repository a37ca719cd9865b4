# SPDX-License-Identifier: MIT
"""Figures of experiments that are no tables of `carrick sim`, as SVG."""


def draw(path, title, lines, across, ticks, top, unit=""):
    """Curves, as SVG; `ticks` are those of the horizontal axis, from its beginning to its end."""
    x = lambda value: 60 + (value - ticks[0]) / (ticks[-1] - ticks[0]) * 500
    y = lambda value: 300 - min(value, top) / top * 260
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="640" height="360" font-family="sans-serif" font-size="12">',
           '<rect width="640" height="360" fill="white"/>', f'<text x="60" y="20">{title}</text>',
           '<path d="M60 40V300H580" fill="none" stroke="black"/>', f'<text x="280" y="345">{across}</text>']
    out += [f'<text x="{x(t):.0f}" y="318" text-anchor="middle">{t:g}</text>' for t in ticks]
    out += [f'<text x="54" y="{y(top * i / 4) + 4:.0f}" text-anchor="end">{top * i / 4:g}{unit}</text>' for i in range(5)]
    for i, (name, points) in enumerate(lines.items()):
        colour = ("#1b6ca8", "#2a9d5c", "#d1495b", "#e09f3e")[i % 4]
        line = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in points)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out.append(f'<text x="440" y="{60 + 16 * i}" fill="{colour}">{name}</text>')
    open(path, "w").write("\n".join(out + ["</svg>\n"]))
