"""Coffer's counts and waits through reboots and under wall clocks that are set.

The real limiter and authority run in time namespaces, where the boot clock is what a test makes it,
and under libfaketime, which moves the wall clock alone. The last line is `N passed, N failed`.
"""

import os
import signal
import sqlite3
import sys
import tempfile
from pathlib import Path

from coffer import LIMITER, Coffer
from machine import Boot, Machine, Trouble, WallClock
from system import Answer

RIGHT, WRONG, REFUSED = Answer.RIGHT, Answer.WRONG, Answer.REFUSED


class Unmet(Exception):
    """A sentence that is not true."""


class Home:
    """One installation, in whatever boot and under whatever clock it is at the moment."""

    def __init__(self, coffer, boot, clock=None):
        self.coffer = coffer
        coffer.boot, coffer.clock = boot, clock
        coffer.install(coffer.machine.new_folder("home"))

    def enter(self, boot, number=signal.SIGKILL):
        """Ends the services and starts them in a boot."""
        self.coffer.stop(number)
        self.coffer.boot = boot
        self.coffer.start()

    def guess(self, code, wanted):
        answer = self.coffer.guess(code)[0].answer
        if answer is not wanted:
            raise Unmet(f"{code} was {answer.value} and not {wanted.value}")

    def wrong(self, times=1):
        for _ in range(times):
            self.guess(self.coffer.wrong_code, WRONG)

    def right(self, wanted):
        self.guess(self.coffer.right_code, wanted)

    def stands(self, failed, seconds):
        """The count, and a pair of bounds of the wait."""
        standing = self.coffer.standing()
        least, most = seconds
        if standing["failed"] != failed:
            raise Unmet(f"{standing['failed']} are counted and not {failed}")
        if not least <= standing["remaining_ms"] / 1000 <= most:
            raise Unmet(f"{standing['remaining_ms']} ms remain and not {least} to {most} s")

    def stored_boot(self):
        """The boot id in the limiter's record, once the limiter is killed and holds it no more."""
        self.coffer.stop(signal.SIGKILL)
        path = self.coffer.store_path(LIMITER) / "store.sqlite"
        link = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            return link.execute("SELECT json_extract(record, '$.boot') FROM ledgers").fetchone()[0]
        finally:
            link.close()


# A wait that has just begun, on a machine that may be slow; and none.
FRESH, NONE = (40, 60), (0, 0)


def later_in_the_same_boot(coffer):
    """A wait ends after 60 s of the boot clock, and no restart makes it shorter or longer."""
    boot = Boot.new(up=1000)
    home = Home(coffer, boot)
    home.wrong(6)
    home.stands(6, FRESH)
    home.enter(boot.later(30))
    home.stands(6, (10, 30))
    home.right(REFUSED)
    home.enter(boot.later(62), signal.SIGTERM)
    home.stands(6, NONE)
    home.wrong()
    home.stands(7, FRESH)
    home.enter(boot.later(124))
    home.right(RIGHT)
    home.stands(0, NONE)


def another_boot_keeps_counts(coffer):
    """A reboot lowers no count and makes no wait where there was none."""
    home = Home(coffer, Boot.new(up=1000))
    home.wrong(4)
    home.enter(Boot.new(up=5))
    home.stands(4, NONE)
    home.wrong()
    home.enter(Boot.new(up=500_000))
    home.stands(5, NONE)
    home.wrong()
    home.right(REFUSED)
    home.stands(6, FRESH)


def reboot_in_a_wait(coffer):
    """A reboot in a wait begins it afresh, whether the boot clock starts lower or higher."""
    home = Home(coffer, Boot.new(up=50_000))
    home.wrong(6)
    for up in (5, 900_000, 5):
        boot = Boot.new(up=up)
        home.enter(boot)
        home.stands(6, FRESH)
        home.right(REFUSED)
        if home.stored_boot() != boot.id:
            raise Unmet("the limiter does not see the boot id that was put in place")
    home.enter(boot.later(62))
    home.right(RIGHT)
    home.stands(0, NONE)


def reboot_after_a_wait(coffer):
    """A reboot after a wait that is over begins another: a count of six waits in each boot."""
    boot = Boot.new(up=1000)
    home = Home(coffer, boot)
    home.wrong(6)
    home.enter(boot.later(100))
    home.stands(6, NONE)
    boot = Boot.new(up=5)
    home.enter(boot)
    home.stands(6, FRESH)
    home.enter(boot.later(62))
    home.right(RIGHT)


def wall_clock(coffer):
    """Ten years either way on the wall clock change no count, no wait and no session."""
    clock = WallClock(coffer.machine.new_path("wall-clock"))
    boot = Boot.new()
    home = Home(coffer, boot, clock)
    home.right(RIGHT)
    sessions = coffer.standing()["sessions"]
    failed = 0
    for years in (10, -10):
        clock.set_years(years)
        home.wrong()
        failed += 1
        home.stands(failed, NONE)
        if abs(coffer.told_wall_time() - clock.now) > 3600:
            raise Unmet("the authority does not see the wall clock that was set")
        if coffer.standing()["sessions"] != sessions or not sessions:
            raise Unmet("the wall clock ended a session")
    home.wrong(4)
    for years in (0, 10, -10):
        clock.set_years(years)
        home.stands(6, (1, 60))
        home.right(REFUSED)
        home.enter(boot, signal.SIGTERM)
        home.stands(6, (1, 60))
        home.right(REFUSED)
    home.enter(boot.later(62))
    home.right(RIGHT)
    home.stands(0, NONE)


CHECKS = (
    later_in_the_same_boot, another_boot_keeps_counts, reboot_in_a_wait, reboot_after_a_wait,
    wall_clock,
)


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="coffer-boots-") as folder:
        machine = Machine(Path(folder))
        for check in CHECKS:
            sentence = check.__doc__.strip()
            reason = machine.no_boot or (machine.no_clock if check is wall_clock else None)
            if reason:
                print(f"skipped {sentence} ({reason})")
                continue
            try:
                check(Coffer(machine, os.environ["COFFER_BIN"]))
                passed += 1
                print(f"passed  {sentence}", flush=True)
            except (Unmet, Trouble) as problem:
                failed += 1
                print(f"FAILED  {sentence}\n{problem}", flush=True)
            finally:
                machine.end_all()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
