"""Runs the rows against one system and tells what came of each.

    conform.py SYSTEM [--short] [--row NAME]... [--json FILE]

Exit codes: 0 no row fails, 1 a row fails, 2 usage, 7 what is needed is missing.
"""

import argparse
import datetime
import json
import os
import platform
import sys
import tempfile
import time
from pathlib import Path

from machine import Machine, Trouble
from rows import FAILS, HOLDS, NOT_APPLICABLE, ROWS, run_row

# What takes a second or two.
SHORT = (
    "sequential guessing", "60 wrong at once", "count across SIGTERM", "count across SIGKILL",
    "two daemons on one state",
)


def main():
    options = read_options()
    with tempfile.TemporaryDirectory(prefix="coffer-limits-") as folder:
        machine = Machine(Path(folder))
        try:
            system = make(options.system, machine)
            report = run(system, [row for row in ROWS if is_wanted(row, options)])
        finally:
            machine.end_all()
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=2) + "\n")
    return 1 if any(row["verdict"] == FAILS for row in report["rows"]) else 0


def read_options():
    parser = argparse.ArgumentParser(prog="deploy/limit-conformance", add_help=False)
    parser.add_argument("system", choices=["coffer", "openbao", "softhsm"])
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--row", action="append", choices=[row.name for row in ROWS])
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def is_wanted(row, options):
    if options.row:
        return row.name in options.row
    return not options.short or row.name in SHORT


def make(name, machine):
    """The adapter, which looks for its programs where the environment says."""
    if name == "coffer":
        from coffer import Coffer

        return Coffer(machine, os.environ["COFFER_BIN"])
    if name == "openbao":
        from openbao import OpenBao

        return OpenBao(machine, os.environ["BAO"])
    from softhsm import SoftHSM

    return SoftHSM(machine)


def run(system, rows):
    """Prints a line a row, and gives the whole as a value."""
    report = {
        "system": system.name,
        "version": system.version(),
        "settings": system.settings(),
        "promise": system.promise,
        "machine": describe_machine(),
        "date": datetime.date.today().isoformat(),
        "rows": [],
    }
    print(f"{system.name}: {report['version']}, {'; '.join(report['settings'])}")
    print(f"promise: {system.promise}")
    print(f"machine: {report['machine']}, {report['date']}\n")
    for row in rows:
        begun = time.monotonic()
        outcome = run_row(row, system)
        took = round(time.monotonic() - begun, 1)
        report["rows"].append(
            {"row": row.name, "verdict": outcome.verdict, "seen": outcome.seen, "seconds": took})
        print(f"{row.name:<30} {told(outcome)}  [{took:.1f} s]", flush=True)
    verdicts = [row["verdict"] for row in report["rows"]]
    counts = [f"{verdicts.count(one)} {one}" for one in (HOLDS, FAILS, NOT_APPLICABLE)]
    print("\n" + ", ".join(counts))
    return report


def told(outcome):
    if outcome.verdict == NOT_APPLICABLE:
        return f"not applicable ({outcome.seen})"
    return f"{outcome.verdict}: {outcome.seen}"


def describe_machine():
    system = "Linux"
    try:
        for line in Path("/etc/os-release").read_text().splitlines():
            if line.startswith("PRETTY_NAME="):
                system = line.split("=", 1)[1].strip('"')
    except OSError:
        pass
    cores = len(os.sched_getaffinity(0))
    return f"{system}, Linux {platform.release()}, {platform.machine()}, {cores} cores"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Trouble as trouble:
        print(f"deploy/limit-conformance: {trouble}", file=sys.stderr)
        sys.exit(7)
