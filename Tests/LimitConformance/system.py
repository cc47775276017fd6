"""What a passcode-guarded system is to the rows: an adapter has one subclass of `System`."""

import contextlib
import threading
from dataclasses import dataclass, field
from enum import Enum


class Answer(Enum):
    """What a guess was told."""

    RIGHT = "right"
    WRONG = "wrong"
    # Not tried, because of a wait or a lock.
    REFUSED = "refused"
    # Not tried, or not known to be, for another reason.
    FAILED = "failed"


@dataclass(frozen=True)
class Reply:
    answer: Answer
    # The system's own word for it.
    detail: str = ""

    @property
    def was_evaluated(self):
        """Whether the answer says something of the code."""
        return self.answer in (Answer.RIGHT, Answer.WRONG)


@dataclass
class Tally:
    """How replies fell out, and the most evaluations in a row that no right code parts."""

    counts: dict = field(default_factory=lambda: {answer: 0 for answer in Answer})
    details: set = field(default_factory=set)
    in_a_row: int = 0
    most_in_a_row: int = 0

    def add(self, *replies):
        for reply in replies:
            self.counts[reply.answer] += 1
            if reply.answer is Answer.FAILED:
                self.details.add(reply.detail)
            if reply.was_evaluated:
                self.in_a_row += 1
                self.most_in_a_row = max(self.most_in_a_row, self.in_a_row)
            if reply.answer is Answer.RIGHT:
                self.in_a_row = 0
        return replies[-1] if replies else None

    @property
    def evaluated(self):
        return self.counts[Answer.RIGHT] + self.counts[Answer.WRONG]

    @property
    def total(self):
        return sum(self.counts.values())

    def __str__(self):
        told = [f"{n} {answer.value}" for answer, n in self.counts.items() if n]
        if self.details:
            told[-1] += f" ({', '.join(sorted(self.details))})"
        return ", ".join(told)


class System:
    """A system under test. One object is one installation after another."""

    name = ""
    # How many wrong codes in a row it evaluates before it refuses; None where it promises no limit.
    threshold = None
    # How long it then refuses, in seconds.
    wait_s = None
    # What its own documentation says, in a sentence.
    promise = ""
    # Whether it measures the wait on the machine's boot clock, which a boot of ours can move.
    waits_on_boot_clock = False
    # How large a disk a small installation needs.
    disk_mb = 16
    # The names of the stores that can be put back one without the others.
    stores: tuple = ()
    right_code = "2847"
    wrong_code = "9999"

    # Rows that mean nothing here, each with the reason.
    without: dict = {}

    def __init__(self, machine):
        self.machine = machine
        self.boot = None
        self.clock = None

    # An adapter has all of these.

    def version(self):
        raise NotImplementedError

    def settings(self):
        """Each setting that bears on the limit, in words."""
        raise NotImplementedError

    def install(self, folder):
        """Makes a new installation in a folder, with the right code set; it may be left running."""
        raise NotImplementedError

    def start(self):
        """Starts the installation in `boot` and under `clock`, and waits until it answers."""
        raise NotImplementedError

    def stop(self, number):
        """Ends every process of it with a signal."""
        raise NotImplementedError

    def connect(self):
        """A new connection: an object with `guess(code)`, which gives a reply, and `close()`."""
        raise NotImplementedError

    def store_path(self, name):
        """Where the store of this name lies."""
        raise NotImplementedError

    def start_second(self):
        """Starts a second set of daemons on the same state.

        Gives a connection to it, and what became of it in words; without a connection where it did
        not come to serve.
        """
        raise NotImplementedError

    def recover(self, seconds):
        """Starts again what ended by itself, as its supervisor would, and waits until it answers.

        It may come to nothing within the time.
        """

    def evaluations(self):
        """How many codes it evaluated since its start, by its own count; None if untold."""
        return None

    def told_wall_time(self):
        """The wall-clock time of a wrong code of just now, as the system has it; None if untold."""
        return None

    # What all have in common.

    def restart(self, number):
        self.stop(number)
        self.start()

    def guess(self, *codes):
        """Guesses one after the other over one connection."""
        with contextlib.closing(self.connect()) as connection:
            return [connection.guess(code) for code in codes]

    def guess_at_once(self, codes, width=20):
        """Guesses over many connections at once; the order of the replies means nothing."""
        replies = []
        connections = [self.connect() for _ in range(width)]
        gate = threading.Barrier(width)

        def lane(connection, share):
            with contextlib.closing(connection):
                gate.wait(60)
                replies.extend(self.guess_all(connection, share))

        threads = [
            threading.Thread(target=lane, args=(connection, codes[number::width]))
            for number, connection in enumerate(connections)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return replies

    def guess_all(self, connection, codes):
        """Guesses over one connection, as fast as it takes them."""
        return [connection.guess(code) for code in codes]
