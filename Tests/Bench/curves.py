"""Curves over a growing number, as SVG."""

import math

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 70, 150, 34, 44
COLOURS = ("#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad")


def write(curves, folder):
    """Draws those that were measured into a folder."""
    if "owners" in curves:
        one = curves["owners"]
        lines = {name: one[name] for name in one if name.endswith(("p50", "p99"))}
        draw(folder / "performance-owners.svg", "Time of a request by owners, in µs", "owners",
             one["counts"], lines)
        draw(folder / "performance-start.svg", "Start of the slowest service by owners, in ms",
             "owners", one["counts"], {"start": one["start"]})
    if "clients" in curves:
        one = curves["clients"]
        draw(folder / "performance-rate.svg", "Secrets opened in a second by clients", "clients",
             one["counts"], {"rate": one["rate"]})
        draw(folder / "performance-clients.svg", "Time of a request by clients, in µs", "clients",
             one["counts"], {name: one[name] for name in ("p50", "p99")}, logarithmic=True)


def draw(path, title, what, counts, lines, logarithmic=False):
    """A diagram with a logarithmic axis of counts and a line for each name."""
    ticks = scale(max(max(values) for values in lines.values()),
                  min(min(values) for values in lines.values()), logarithmic)

    def across(count):
        share = math.log(count / counts[0]) / math.log(counts[-1] / counts[0])
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def up(value):
        if logarithmic:
            share = math.log(value / ticks[0]) / math.log(ticks[-1] / ticks[0])
        else:
            share = value / ticks[-1]
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        text(LEFT, 20, title, "start", 'font-weight="bold"'),
    ]
    for tick in ticks:
        parts.append(stroke([(LEFT, up(tick)), (WIDTH - RIGHT, up(tick))], "#dddddd", 1))
        parts.append(text(LEFT - 8, up(tick) + 4, number(tick), "end"))
    for count in counts:
        parts.append(text(across(count), HEIGHT - BOTTOM + 18, number(count), "middle"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, what, "middle"))
    heights = apart([up(values[-1]) for values in lines.values()])
    for (name, values), colour, height in zip(lines.items(), COLOURS, heights):
        points = [(across(count), up(value)) for count, value in zip(counts, values)]
        parts.append(stroke(points, colour, 2))
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        parts.append(text(WIDTH - RIGHT + 10, height + 4, name, "start", f'fill="{colour}"'))
    path.write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")


def scale(most, least, logarithmic):
    """Values at which a line is drawn across, the last one not below the most."""
    if logarithmic:
        first, last = math.floor(math.log10(least)), math.ceil(math.log10(most))
        return [10**power for power in range(first, max(last, first + 1) + 1)]
    step = 10 ** math.floor(math.log10(most))
    step = next(step * part for part in (0.2, 0.5, 1, 2) if most / (step * part) <= 6)
    return [step * place for place in range(math.ceil(most / step) + 1)]


def apart(heights):
    """Heights of labels, moved so that none covers another."""
    result = list(heights)
    order = sorted(range(len(heights)), key=heights.__getitem__)
    for above, below in zip(order, order[1:]):
        result[below] = max(result[below], result[above] + 14)
    return result


def stroke(points, colour, width):
    listed = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{listed}" fill="none" stroke="{colour}" stroke-width="{width}"/>'


def text(x, y, content, anchor, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{content}</text>'


def number(value):
    return f"{value:,.10g}".replace(",", " ")
