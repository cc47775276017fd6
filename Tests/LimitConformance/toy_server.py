"""A small guarded system, sound or with faults that are asked for by name.

    toy_server.py STATE SOCKET [FAULT]...

One request a line: `guess CODE` is answered by right, wrong, refused or failed; `count` by how many
codes were evaluated, `time` by the wall clock. The state is two stores, as Coffer's is: `counter`
counts and waits, `record` remembers the number of the last charge.
"""

import fcntl
import json
import os
import select
import signal
import socketserver
import sys
import threading
import time
from pathlib import Path

LIMIT, WAIT_S = 6, 60
RIGHT = "2847"
FAULTS = {
    "lenient": "takes the right code without looking at the wait",
    "late": "counts when it has evaluated",
    "memory": "keeps the count in memory alone",
    "orderly": "forgets the count at an orderly end",
    "wall": "waits by the wall clock",
    "rebooted": "ends the wait when the boot id is another",
    "careless": "goes on where the count cannot be written",
    "trusting": "does not compare charge numbers",
    "telling": "evaluates before it counts, and fails for wrong codes where it cannot",
    "eternal": "keeps the end of the wait as it was in an earlier boot",
    "endless": "never tries again once it refuses",
    "covert": "evaluates although it says that it refuses",
    "cached": "reads the count at its start alone, and takes no lock",
}


class Toy:
    def __init__(self, state, faults):
        self.faults = faults
        self.counter, self.record = state / "counter" / "count", state / "record" / "number"
        self.evaluated = 0
        self.turn = threading.Lock()
        self.memory = None
        if "cached" not in faults:
            self.held = open(state / "lock", "w", encoding="utf-8")
            fcntl.flock(self.held, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def guess(self, code):
        if "lenient" in self.faults and code == RIGHT:
            return self.evaluate(code)
        if "late" in self.faults:
            return self.guess_late(code)
        with self.turn:
            count = self.load()
            if self.is_waiting(count):
                self.store(count)
                if "covert" in self.faults:
                    self.evaluate(code)
                return "refused"
            if "telling" in self.faults and self.evaluate(code) == "right":
                return "right"
            self.charge(count)
            answer = self.evaluate(code)
            if answer == "right":
                self.store({**count, "count": 0, "until": 0})
            return answer

    def guess_late(self, code):
        count = self.load()
        if self.is_waiting(count):
            return "refused"
        answer = self.evaluate(code)
        if answer == "wrong":
            self.charge(count)
        return answer

    def evaluate(self, code):
        self.evaluated += 1
        # libfaketime 0.9.10 makes `time.sleep` fail.
        select.select([], [], [], 0.01)
        return "right" if code == RIGHT else "wrong"

    def charge(self, count):
        count["count"] += 1
        count["number"] += 1
        if count["count"] >= LIMIT:
            count["until"] = self.now() + WAIT_S
        self.store(count)
        self.write(self.record, str(count["number"]))

    def is_waiting(self, count):
        """Takes notice of a reboot and of an older copy first."""
        boot = boot_id()
        number = int(self.record.read_text())
        # Whoever does not keep the count itself would be found out by the number.
        if count["number"] < number and not self.faults & {"trusting", "memory", "cached"}:
            count["number"] = number
            count["count"] = max(count["count"], LIMIT)
            count["until"] = self.now() + WAIT_S
        if count["boot"] != boot and "eternal" not in self.faults:
            count["boot"] = boot
            waits = count["count"] >= LIMIT and "rebooted" not in self.faults
            count["until"] = self.now() + WAIT_S if waits else 0
        if "endless" in self.faults and count["count"] >= LIMIT:
            return True
        return self.now() < count["until"]

    def now(self):
        clock = time.CLOCK_REALTIME if "wall" in self.faults else time.CLOCK_BOOTTIME
        return time.clock_gettime(clock)

    def load(self):
        if self.memory is None or not self.faults & {"memory", "cached"}:
            self.memory = json.loads(self.counter.read_text())
        return dict(self.memory)

    def store(self, count):
        self.memory = count
        if "memory" not in self.faults:
            self.write(self.counter, json.dumps(count))

    def write(self, path, text):
        try:
            write(path, text)
        except OSError:
            if "careless" not in self.faults:
                raise

    def forget(self):
        write(self.counter, json.dumps({**self.load(), "count": 0, "until": 0}))


def boot_id():
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


WRITING = threading.Lock()


def write(path, text):
    """Durably, and whole or not at all."""
    new = path.with_suffix(".new")
    with WRITING:
        with open(new, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        new.rename(path)


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            word, _, code = line.decode().strip().partition(" ")
            try:
                answer = {
                    "guess": lambda: self.server.toy.guess(code),
                    "count": lambda: self.server.toy.evaluated,
                    "time": time.time,
                }[word]()
            except OSError as error:
                answer = f"failed {error.strerror}"
            self.wfile.write(f"{answer}\n".encode())


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 64


def main():
    state, socket, faults = Path(sys.argv[1]), sys.argv[2], set(sys.argv[3:])
    toy = Toy(state, faults)
    Path(socket).unlink(missing_ok=True)
    server = Server(socket, Handler)
    server.toy = toy

    def end(*_):
        if "orderly" in faults:
            toy.forget()
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    server.serve_forever()


def make_state(state):
    """A new state, in which nothing was guessed."""
    for name in ("counter", "record"):
        (state / name).mkdir(parents=True)
    nothing = {"count": 0, "until": 0, "number": 0, "boot": boot_id()}
    write(state / "counter" / "count", json.dumps(nothing))
    write(state / "record" / "number", "0")


if __name__ == "__main__":
    main()
