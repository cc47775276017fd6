"""The rows: what a limit on guesses has to stand, each in a fresh installation.

A row looks at what replies tell of a code. "Right" and "wrong" are an evaluation each; what is
refused, or fails alike for every code, is none. A row holds where no more codes in a row are
evaluated than the system promises, whatever was done to it in between.
"""

import random
import signal
from contextlib import contextmanager
from dataclasses import dataclass

from machine import Boot, FullDisk, Trouble, WallClock, copy_store
from system import Answer, Reply, Tally

HOLDS, FAILS, NOT_APPLICABLE = "holds", "fails", "not applicable"
TEN_YEARS = 10


@dataclass(frozen=True)
class Outcome:
    verdict: str
    # What was seen; for a row that is not applicable, why.
    seen: str


@dataclass(frozen=True)
class Row:
    name: str
    run: object
    # Whether the row has a sense for a system that promises no limit: it then tells what was seen.
    measures: bool = False
    needs: tuple = ()


def run_row(row, system):
    """Runs a row in a new installation, unless there is a reason why not."""
    reason = system.without.get(row.name) or missing(row, system.machine)
    if reason:
        return Outcome(NOT_APPLICABLE, reason)
    if system.threshold is None and not row.measures:
        return Outcome(NOT_APPLICABLE, "no limit is promised, so there is no count to keep")
    outcome = row.run(system)
    if system.threshold is None:
        return Outcome(NOT_APPLICABLE, f"no limit is promised; {outcome.seen}")
    return outcome


def missing(row, machine):
    reasons = {"boot": machine.no_boot, "clock": machine.no_clock, "disk": machine.no_disk}
    return next((reasons[need] for need in row.needs if reasons[need]), None)


@contextmanager
def fresh(system, boot=None, clock=None, folder=None):
    """A running installation in which the right code was accepted just now."""
    system.boot, system.clock = boot, clock
    try:
        system.install(folder or system.machine.new_folder("home"))
        reply = system.guess(system.right_code)[0]
        if reply.answer is not Answer.RIGHT:
            raise Trouble(f"a new installation does not take the right code: {reply}")
        yield
    finally:
        system.machine.end_all()
        system.boot = system.clock = None


def judge(system, tally, *more):
    """Holds where no more in a row were evaluated than promised; `more` are further conditions.

    Each further condition is a pair: whether it is met, and what to say where it is not.
    """
    limit = system.threshold
    if limit is None:
        return Outcome(HOLDS, str(tally))
    broken = [sentence for is_met, sentence in more if not is_met]
    if tally.most_in_a_row > limit:
        broken.insert(0, f"{tally.most_in_a_row} evaluated where {limit} are promised")
    return Outcome(FAILS if broken else HOLDS, "; ".join([str(tally), *broken]))


def wrong(system, count):
    return [system.wrong_code] * count


def lock(system, tally):
    """Guesses wrong until the system must refuse."""
    tally.add(*system.guess(*wrong(system, system.threshold)))
    return tally


def right_is_refused(system, tally, when):
    """The condition that the right code is not taken now."""
    reply = tally.add(*system.guess(system.right_code))
    return reply.answer is not Answer.RIGHT, f"the right code is taken {when}"


# Guessing


def sequential(system):
    """Wrong codes one after the other; then the right one must be refused."""
    with fresh(system):
        tally = Tally()
        count = 12 if system.threshold is None else system.threshold + 4
        before = system.evaluations()
        tally.add(*system.guess(*wrong(system, count)))
        refused = right_is_refused(system, tally, "while it must be refused")
        answers = not tally.counts[Answer.FAILED], "guesses fail for another reason"
        return judge(system, tally, refused, answers, counts_agree(system, tally, before))


def sixty_at_once(system):
    """60 wrong codes over 20 connections at once."""
    with fresh(system):
        before = system.evaluations()
        tally = at_once(system, wrong(system, 60))
        refused = right_is_refused(system, tally, "after 60 wrong ones")
        return judge(system, tally, refused, counts_agree(system, tally, before))


def right_among_wrong(system):
    """99 wrong codes and the right one at once, over 20 connections.

    The right one may come through where it is among the first, and lowers the count. Before it and
    after it no more may be evaluated than promised.
    """
    with fresh(system):
        codes = wrong(system, 99)
        place = random.randrange(100)
        codes.insert(place, system.right_code)
        before = system.evaluations()
        tally = at_once(system, codes)
        # Replies of many connections have no order.
        tally.most_in_a_row = 0
        bound = (system.threshold or 0) * (1 + tally.counts[Answer.RIGHT])
        outcome = judge(
            system, tally,
            (tally.evaluated <= bound, f"{tally.evaluated} evaluated where {bound} are promised"),
            counts_agree(system, tally, before),
        )
        seen = f"{outcome.seen}; the right one was sent as no. {place + 1}"
        return Outcome(outcome.verdict, seen)


def at_once(system, codes):
    tally = Tally()
    tally.add(*system.guess_at_once(codes))
    if tally.total != len(codes):
        raise Trouble(f"{len(codes) - tally.total} of {len(codes)} guesses were not answered")
    return tally


def counts_agree(system, tally, before):
    """The condition that the system itself counts as many evaluations as replies tell of."""
    if before is None:
        return True, ""
    own = system.evaluations() - before
    return own == tally.evaluated, f"its own count of evaluations is {own}"


# Ends of processes


def count_across(number):
    def run(system):
        """Wrong codes, an end of all processes, and wrong codes again."""
        # Below the limit each time, and together above it.
        count = max(4, system.threshold * 2 // 3)
        with fresh(system):
            tally = Tally()
            tally.add(*system.guess(*wrong(system, count)))
            system.restart(number)
            tally.add(*system.guess(*wrong(system, count)))
            when = f"after {count} and {count} wrong ones"
            return judge(system, tally, right_is_refused(system, tally, when))

    return run


# Clocks


def wall_clock(system):
    """The wall clock is set ten years forward and back, while the system runs and across restarts.

    Counts stay, the wait becomes neither shorter nor longer.
    """
    clock = WallClock(system.machine.new_path("wall-clock"))
    # Where a boot can be had, the end of the wait is reached by moving it.
    boot = Boot.new() if system.waits_on_boot_clock and not system.machine.no_boot else None
    with fresh(system, boot=boot, clock=clock):
        tally = Tally()
        tally.add(*system.guess(*wrong(system, 3)))
        for years in (TEN_YEARS, -TEN_YEARS):
            clock.set_years(years)
            tally.add(*system.guess(system.wrong_code))
            told = system.told_wall_time()
            if told is None or abs(told - clock.now) > 3600:
                return Outcome(NOT_APPLICABLE, "the system does not see the clock that was set")
        lock(system, tally)
        conditions = []
        for years in (TEN_YEARS, -TEN_YEARS):
            clock.set_years(years)
            when = f"with the clock {years:+d} years off"
            conditions.append(right_is_refused(system, tally, when))
            system.restart(signal.SIGTERM)
            conditions.append(right_is_refused(system, tally, f"after a restart {when}"))
        if boot:
            conditions.append(wait_ends(system))
        outcome = judge(system, tally, *conditions)
        note = "" if boot else "; the end of the wait was not awaited"
        return Outcome(outcome.verdict, outcome.seen + note)


def wait_ends(system):
    """The condition that the right code is taken once the wait is over.

    The wait costs no time: the boot is moved on.
    """
    system.boot = system.boot.later(system.wait_s + 2)
    system.restart(signal.SIGTERM)
    reply = system.guess(system.right_code)[0]
    return reply.answer is Answer.RIGHT, "the right code is not taken once the wait is over"


def reboot(system):
    """The power is cut while the system refuses, and the machine starts again.

    The boot clock begins anew, far lower and far higher than it stood, under another boot id.
    """
    with fresh(system, boot=Boot.new(up=50_000)):
        tally = lock(system, Tally())
        conditions = []
        for up in (20, 200_000):
            system.stop(signal.SIGKILL)
            system.boot = Boot.new(up=up)
            system.start()
            when = f"in a boot that is {up} s old"
            conditions.append(right_is_refused(system, tally, when))
        if system.waits_on_boot_clock:
            conditions.append(wait_ends(system))
        return judge(system, tally, *conditions)


# Stores


def full_disk(system):
    """The disk fills up between guesses. What cannot be counted must not be evaluated."""
    disk = system.machine.small_disk(system.disk_mb)
    home = disk / "home"
    home.mkdir(mode=0o700)
    with fresh(system, folder=home):
        tally = Tally()
        tally.add(*system.guess(*wrong(system, 2)))
        ballast = FullDisk(disk)
        if not ballast.is_full:
            raise Trouble("the disk could not be filled")
        replies = system.guess(*wrong(system, 4))
        system.recover(3)
        replies += system.guess(system.wrong_code, system.right_code, *wrong(system, 3))
        tally.add(*as_an_attacker_reads(replies, 5))
        ballast.give_back()
        system.recover(20)
        after = tally.add(*system.guess(*wrong(system, 8)))
        answers = after.answer is not Answer.FAILED
        return judge(system, tally, (answers, f"with room again it answers {after.detail}"))


def as_an_attacker_reads(replies, place):
    """The replies, in which the right code's stands at a place.

    Where wrong codes fail before and after it, and it is answered otherwise, then each failure
    tells that its code was wrong: all of them were evaluated.
    """
    before, right, after = replies[place - 1 : place + 2]
    if before.answer is not Answer.FAILED or before != after or right == before:
        return replies
    return [
        Reply(Answer.WRONG, reply.detail) if reply.answer is Answer.FAILED else reply
        for reply in replies
    ]


def store_put_back(system):
    """Each store in turn is put back from a copy of before the guesses."""
    if len(system.stores) < 2:
        return Outcome(NOT_APPLICABLE, "it has one store, and nothing else could tell")
    outcomes = []
    for name in system.stores:
        with fresh(system):
            system.stop(signal.SIGTERM)
            path, copy = system.store_path(name), system.machine.new_path("copy")
            copy_store(path, copy)
            system.start()
            tally = Tally()
            tally.add(*system.guess(*wrong(system, system.threshold - 1)))
            system.stop(signal.SIGKILL)
            copy_store(copy, path)
            system.start()
            tally.add(*system.guess(*wrong(system, system.threshold)))
            outcome = judge(system, tally, right_is_refused(system, tally, "afterwards"))
            outcomes.append(Outcome(outcome.verdict, f"{name}: {outcome.seen}"))
    verdict = FAILS if any(one.verdict == FAILS for one in outcomes) else HOLDS
    return Outcome(verdict, ". ".join(one.seen for one in outcomes))


def two_daemons(system):
    """A second daemon is started on the same state, and guesses go to both."""
    with fresh(system):
        second, words = system.start_second()
        tally = Tally()
        if second is None:
            reply = tally.add(*system.guess(system.wrong_code))
            outcome = judge(
                system, tally, (reply.answer is Answer.WRONG, "the first one serves no more"))
            return Outcome(outcome.verdict, f"{words}; the first one: {outcome.seen}")
        first = system.connect()
        for _ in range(system.threshold):
            tally.add(first.guess(system.wrong_code), second.guess(system.wrong_code))
        first.close()
        second.close()
        outcome = judge(system, tally)
        return Outcome(outcome.verdict, f"{words}; both: {outcome.seen}")


ROWS = (
    Row("sequential guessing", sequential, measures=True),
    Row("60 wrong at once", sixty_at_once, measures=True),
    Row("99 wrong and one right at once", right_among_wrong, measures=True),
    Row("count across SIGTERM", count_across(signal.SIGTERM)),
    Row("count across SIGKILL", count_across(signal.SIGKILL)),
    Row("wall clock set", wall_clock, needs=("clock",)),
    Row("reboot while refusing", reboot, needs=("boot",)),
    Row("full disk", full_disk, needs=("disk",)),
    Row("one store put back", store_put_back),
    Row("two daemons on one state", two_daemons),
)
