"""Passcodes that are changed and wallets that are made, under kills at any moment."""

import random
import subprocess
import threading
import time

from homes import PASSCODE, Failure, Killer
from passcodes import OTHER, working

COMMAND = "coffer"
# Who takes part in which change; each is killed as often as the others.
PARTS = {
    "passcode change": (COMMAND, "credential-authority", "attempt-limiter"),
    "wallet create": (COMMAND, "wallet-vault", "credential-authority", "attempt-limiter"),
}
SERVICES = {"passcode change": "authority", "wallet create": "vault"}


class Strike(threading.Thread):
    """Kills a process of a home some time after a command began."""

    def __init__(self, home, victim, seconds, killers):
        super().__init__()
        self.home = home
        self.victim = victim
        self.seconds = seconds
        self.killers = killers
        # Whether the command had said nothing yet, and whether anything was durable.
        self.has_landed = self.is_half_done = False

    def begin(self, command):
        self.command = command
        self.start()

    def run(self):
        time.sleep(self.seconds)
        is_under_way = self.command.poll() is None
        process = self.command if self.victim == COMMAND else self.home.processes[self.victim]
        is_half_done = any(killer.counted for killer in self.killers)
        process.kill()
        self.has_landed = is_under_way
        self.is_half_done = is_under_way and is_half_done


class Sequence:
    """Changes of one home, one after the other, and what must be so after each."""

    def __init__(self, home, seed):
        self.home = home
        self.random = random.Random(seed)
        self.passcode = PASSCODE
        self.wallets = {one["wallet"] for one in home.wallets("main")}
        self.number = 0
        self.lengths = {}

    def act(self, change, **options):
        if change == "passcode change":
            return self.home.coffer(
                "passcode", "change", "--json", passcode=self.passcode, new=self.other, **options)
        return self.home.coffer("wallet", "create", "--label", f"number {self.number}", "--json",
                                passcode=self.passcode, **options)

    @property
    def other(self):
        return OTHER if self.passcode == PASSCODE else PASSCODE

    def measure(self):
        """How long each change takes here without a kill, which says when kills may come."""
        for change in PARTS:
            begun = time.monotonic()
            result = self.act(change)
            self.lengths[change] = time.monotonic() - begun
            if result.code != 0:
                raise Failure(f"`coffer {change}` without a kill ended with {result}")
            self.judge(change, result, [])
            self.number += 1

    def one(self):
        """One change under one kill. Answers whether it landed, and found the change half done."""
        self.number += 1
        change = self.random.choice(list(PARTS))
        victim = self.random.choice(PARTS[change])
        seconds = self.random.uniform(0, self.lengths[change])
        description = f"{change}, {victim} killed after {seconds:.3f} s"
        killer = Killer(self.home.path / "coffer.killer", draws=True)
        killers = [killer, *self.home.killers.values()]
        before = {id(one): one.counted for one in killers}
        self.home.count()
        killer.count()
        strike = Strike(
            self.home, victim, seconds,
            [Since(one, before[id(one)]) for one in killers])
        try:
            result = self.act(change, killer=killer, begun=strike.begin)
            strike.join()
            self.home.wait_healthy()
            self.judge(change, result, killer.keys())
            return description, strike.has_landed, strike.is_half_done, None
        except (Failure, subprocess.TimeoutExpired, OSError, ValueError, KeyError) as failure:
            return description, True, True, failure

    def judge(self, change, result, keys):
        """Compares what the command was told, or the outcome of its keys, with what is so."""
        told = result.outcome
        if told == "unknown":
            outcomes = [self.home.outcome(SERVICES[change], key) for key in keys]
            told = "done" if "done" in outcomes else "rejected"
        if change == "passcode change":
            works = working(self.home, self.other, self.passcode)
            stands = works == self.other
        else:
            works = self.passcode
        found = {one["wallet"]: one["label"] for one in self.home.wallets("main", works)}
        label = f"number {self.number}"
        if change == "wallet create":
            stands = label in found.values()
        if stands != (told == "done"):
            raise Failure(f"the outcome is {told}, and the change stands: {stands}")
        new = [wallet for wallet, one in found.items() if one == label]
        if set(found) - set(new) != self.wallets - set(new) or len(new) > 1:
            raise Failure(f"{len(found)} wallets, and {len(self.wallets)} were acknowledged")
        self.passcode, self.wallets = works, set(found)

    def close(self):
        """Every acknowledged wallet opens with the passcode that works."""
        for wallet in sorted(self.wallets):
            self.home.coffer("wallet", "check", wallet, passcode=self.passcode, check=True)


class Since:
    """What a process counted since a moment."""

    def __init__(self, killer, before):
        self.killer = killer
        self.before = before

    @property
    def counted(self):
        return self.killer.counted - self.before


def sequence(ground, place, count, seed):
    home = ground.copied(place)
    results = []
    try:
        home.start()
        changes = Sequence(home, seed)
        changes.measure()
        for _ in range(count):
            results.append(changes.one())
            if results[-1][-1]:
                return results
        try:
            changes.close()
        except Failure as failure:
            results.append(("the end", True, True, failure))
        return results
    finally:
        home.stop()


def run_changes(options, ground, tree, pool, tally):
    """So many changes, in as many homes as there are jobs."""
    counts = [
        options.random // options.jobs + (job < options.random % options.jobs)
        for job in range(options.jobs)
    ]
    jobs = [
        pool.submit(sequence, ground, tree / f"changes-{job}", count, options.seed * 1000 + job)
        for job, count in enumerate(counts)
    ]
    for job in jobs:
        for description, has_landed, is_half_done, failure in job.result():
            tally.add(has_landed, is_half_done, failure)
            if failure:
                print(f"FAILED  seed {options.seed}, {description}: {failure}", flush=True)
