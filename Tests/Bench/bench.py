"""Runs the measurements and prints a table.

    bench.py [--short] [--only NAME]... [--json FILE] [--curves FOLDER] [--page FILE]

Exit codes: 0 every row has its figure, 1 one has none, 2 usage.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

# The client of the protocol in Python.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "interop"))

import curves  # noqa: E402
import exchanges  # noqa: E402
import growth  # noqa: E402
import page  # noqa: E402
import programs  # noqa: E402
from client import Refusal  # noqa: E402
from home import Trouble  # noqa: E402
from measure import Bench, progress  # noqa: E402

MEASURES = {
    # First, while nobody has asked OpenBao anything.
    "memory": programs.memory,
    "bus": exchanges.bus,
    "kdf": programs.kdf,
    "unlock": programs.unlock,
    "check": exchanges.check,
    "sign": exchanges.sign,
    "writes": exchanges.writes,
    "revocation": programs.revocation,
    "restart": programs.restart,
    "command": programs.command,
    "clients": exchanges.clients,
    "owners": growth.owners,
}


def main():
    options = read_options()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="coffer-bench-") as folder:
        bench = Bench(folder, os.environ["COFFER_BIN"], os.environ.get("BAO"), options.short)
        try:
            rows, is_whole = run(bench, options.only or list(MEASURES))
        finally:
            bench.end()
    print_table(rows)
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    if options.curves:
        curves.write(bench.curves, Path(options.curves))
    if options.page:
        page.write(rows, Path(options.page), figure, load)
    return 0 if is_whole else 1


def read_options():
    parser = argparse.ArgumentParser(prog="deploy/bench", add_help=False)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", nargs="+", choices=list(MEASURES))
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--curves", metavar="FOLDER")
    parser.add_argument("--page", metavar="FILE")
    return parser.parse_args()


def run(bench, names):
    """The rows of some measures, and whether each measure ran to its end."""
    rows, is_whole = [], True
    for name in names:
        begun = time.monotonic()
        progress(f"{name} ...")
        try:
            rows += [row.json() for row in MEASURES[name](bench)]
        except (Trouble, Refusal, OSError) as error:
            progress(f"{name} FAILED: {error}")
            is_whole = False
        progress(f"{name}: {time.monotonic() - begun:.1f} s")
    return rows, is_whole


def print_table(rows):
    lines = [("", "unit", "Coffer", "reference", "", "ratio", "target", "")]
    for row in rows:
        met = {True: "met", False: "MISSED", None: ""}[row["met"]]
        lines.append((
            row["name"], row["unit"], figure(row["coffer"]), figure(row["reference"]),
            row["referenceName"] or "", figure(row["ratio"]), row["target"] or "", met))
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    right = (2, 3, 5)
    for line in lines:
        print("  ".join(
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths))).rstrip())


def figure(value):
    if value is None:
        return ""
    return f"{value:,.0f}".replace(",", " ") if value >= 1000 else f"{value:.3g}"


if __name__ == "__main__":
    sys.exit(main())
