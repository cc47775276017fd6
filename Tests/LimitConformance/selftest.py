"""Whether every row holds for a sound toy, and fails for a toy that breaks what it is about.

The last line is `N passed, N failed`.
"""

import sys
import tempfile
from pathlib import Path

from machine import Machine
from rows import FAILS, HOLDS, NOT_APPLICABLE, ROWS, run_row
from toy import Toy

# Which rows notice which fault.
NOTICED = {
    "lenient": ("sequential guessing",),
    "late": ("60 wrong at once", "99 wrong and one right at once"),
    "memory": ("count across SIGTERM", "count across SIGKILL"),
    "orderly": ("count across SIGTERM",),
    "wall": ("wall clock set",),
    "rebooted": ("reboot while refusing",),
    "eternal": ("reboot while refusing",),
    "endless": ("reboot while refusing",),
    "covert": ("sequential guessing",),
    "careless": ("full disk",),
    "telling": ("full disk",),
    "trusting": ("one store put back",),
    "cached": ("two daemons on one state",),
}


PAGE = Path(__file__).resolve().parents[2] / "docs" / "limit-conformance.md"


def undescribed():
    """Rows that the page does not have in each of its tables, or has too much."""
    names = [line.split("|")[1].strip() for line in PAGE.read_text().splitlines() if "|" in line]
    wanted = [row.name for row in ROWS]
    listed = [name for name in names if name not in ("Row", "---", "In all")]
    return [] if listed == wanted * 2 else sorted(set(listed) ^ set(wanted)) or ["their order"]


def main():
    rows = {row.name: row for row in ROWS}
    tried = [(None, row.name) for row in ROWS]
    tried += [(fault, name) for fault, names in NOTICED.items() for name in names]
    unnoticed = rows.keys() - {name for _, name in tried if _}
    passed = failed = 0
    if unnoticed:
        failed += 1
        print(f"FAILED  no fault is planted for: {', '.join(sorted(unnoticed))}")
    if undescribed():
        failed += 1
        print(f"FAILED  the page's tables differ from the rows: {', '.join(undescribed())}")
    with tempfile.TemporaryDirectory(prefix="coffer-limits-") as folder:
        machine = Machine(Path(folder))
        for fault, name in tried:
            outcome = run_row(rows[name], Toy(machine, *([fault] if fault else [])))
            sentence = f"{fault or 'sound':<9} {name}: {outcome.verdict} ({outcome.seen})"
            if outcome.verdict == NOT_APPLICABLE:
                print(f"skipped {sentence}")
            elif outcome.verdict == (FAILS if fault else HOLDS):
                passed += 1
                print(f"passed  {sentence}")
            else:
                failed += 1
                print(f"FAILED  {sentence}")
        machine.end_all()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
