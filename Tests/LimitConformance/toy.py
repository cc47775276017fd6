"""The toy of `toy_server.py`, driven as any other system."""

import contextlib
import socket
import sys
import time
from pathlib import Path

from machine import Trouble
from system import Answer, Reply, System
from toy_server import FAULTS, LIMIT, RIGHT, WAIT_S, make_state

SERVER = Path(__file__).with_name("toy_server.py")


class Toy(System):
    threshold = LIMIT
    wait_s = WAIT_S
    waits_on_boot_clock = True
    disk_mb = 1
    stores = ("counter", "record")
    right_code = RIGHT

    def __init__(self, machine, *faults):
        super().__init__(machine)
        self.faults = faults
        self.name = "a toy that " + " and ".join(FAULTS[one] for one in faults)
        self._process = None

    def version(self):
        return "1"

    def settings(self):
        return list(self.faults)

    def install(self, folder):
        self.state = folder
        make_state(folder)
        self.start()

    def start(self):
        self._process = self._spawn("socket")
        if not self._answers("socket", self._process):
            raise Trouble(f"the toy ended: {self._log.read_text()}")

    def stop(self, number):
        self._process.end(number)

    def connect(self, name="socket"):
        return Connection(str(self.state / name))

    def store_path(self, name):
        return self.state / name

    def start_second(self):
        process = self._spawn("second")
        if self._answers("second", process):
            return self.connect("second"), "a second one serves"
        return None, "the second one ends at once"

    def evaluations(self):
        return int(self._ask("count"))

    def told_wall_time(self):
        return float(self._ask("time"))

    def _ask(self, word):
        with contextlib.closing(self.connect()) as connection:
            return connection.ask(word)

    @property
    def _log(self):
        return self.machine.folder / "toy.log"

    def _spawn(self, name):
        words = [sys.executable, SERVER, self.state, self.state / name, *self.faults]
        return self.machine.spawn(words, self._log, boot=self.boot, clock=self.clock)

    def _answers(self, name, process):
        end = time.monotonic() + 10
        while time.monotonic() < end and not process.has_ended:
            try:
                self.connect(name).close()
                return True
            except OSError:
                time.sleep(0.01)
        return False


class Connection:
    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self._lines = self._socket.makefile("r")

    def close(self):
        self._lines.close()
        self._socket.close()

    def guess(self, code):
        answer, _, detail = self.ask(f"guess {code}").partition(" ")
        return Reply(Answer(answer), detail)

    def ask(self, word):
        self._socket.sendall(f"{word}\n".encode())
        return self._lines.readline().strip()
