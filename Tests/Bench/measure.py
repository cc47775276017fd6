"""What every measurement shares: programs in C, the load generator, pairs, and rows."""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from home import Home, Trouble
from rival import OpenBao

SOURCES = Path(__file__).resolve().parent / "c"
LIBRARIES = {
    "load": ["zmq"],
    "reference": ["zmq", "crypto", "sodium", "secp256k1", "sqlite3"],
    "pbkdf2": ["crypto"],
}
C = "C"
OPENBAO = "OpenBao"


@dataclass(frozen=True)
class Target:
    """A bound of a row's ratio, or of Coffer's own figure."""

    limit: float
    at_most: bool = True
    of_ratio: bool = True

    def text(self, unit):
        bound = "at most" if self.at_most else "at least"
        return f"{bound} {self.limit:g}{' times' if self.of_ratio else f' {unit}'}"

    def is_met(self, coffer, ratio):
        value = ratio if self.of_ratio else coffer
        if value is None:
            return None
        return value <= self.limit if self.at_most else value >= self.limit


@dataclass
class Row:
    """One line of the table."""

    name: str
    unit: str
    coffer: float
    target: Target = None
    reference: float = None
    reference_name: str = None
    ratio: float = None

    def json(self):
        return {
            "name": self.name, "unit": self.unit, "coffer": rounded(self.coffer),
            "reference": rounded(self.reference), "referenceName": self.reference_name,
            "ratio": rounded(self.ratio),
            "target": self.target.text(self.unit) if self.target else None,
            "met": self.target.is_met(self.coffer, self.ratio) if self.target else None,
        }


def rounded(value):
    return None if value is None else float(f"{value:.4g}")


@dataclass
class Pair:
    """Medians of two sides that were measured in turn, and the median of their ratios."""

    first: float
    second: float
    ratio: float


class Bench:
    """One run: its folder, its programs, an installation, and OpenBao where it is there."""

    def __init__(self, folder, programs, bao=None, short=False):
        self.folder = Path(folder)
        self.programs = Path(programs)
        self.short = short
        self.repeats = 1 if short else 5
        self.milliseconds = 100 if short else 600
        self.curves = {}
        self._bao_program = bao
        self._bao = None
        self._home = None
        self._homes = []
        self._wallet = None
        for name, libraries in LIBRARIES.items():
            words = ["clang", "-O2", "-D_GNU_SOURCE", SOURCES / f"{name}.c"]
            words += ["-o", self.folder / name, *(f"-l{one}" for one in libraries)]
            subprocess.run(words, check=True)

    # What runs meanwhile

    @property
    def home(self):
        """An installation with one owner, whose sessions need no passcode."""
        if not self._home:
            self._home = self.new_home("home")
            self._home.make()
            self._home.start()
            self._wallet = self._home.enrol()
        return self._home

    @property
    def wallet(self):
        return self._wallet if self.home else None

    @property
    def bao(self):
        """OpenBao at work; nothing where its program is not there."""
        if self._bao_program and not self._bao:
            self._bao = OpenBao(self.folder / "bao", self._bao_program)
            self._bao.start()
        return self._bao

    def new_home(self, name):
        self._homes.append(Home(self.folder / name, self.programs))
        return self._homes[-1]

    def end(self):
        for home in self._homes:
            home.stop()
        if self._bao:
            self._bao.stop()

    # Figures

    def pairs(self, first, second):
        """Measures two sides in the order ABBA, as often as the run repeats."""
        firsts, seconds, ratios = [], [], []
        for _ in range(self.repeats):
            order = [first, second] if self.short else [first, second, second, first]
            values = [measure() for measure in order]
            firsts.append(statistics.mean(values[:1] + values[3:]))
            seconds.append(statistics.mean(values[1:3]))
            ratios.append(firsts[-1] / seconds[-1])
        return Pair(*(statistics.median(one) for one in (firsts, seconds, ratios)))

    def compare(self, name, unit, target, coffer, reference, reference_name):
        """A row of both sides; without the reference's where that is not there."""
        if reference is None:
            figures = [coffer() for _ in range(self.repeats)]
            return Row(name, unit, statistics.median(figures), target, None, reference_name)
        pair = self.pairs(coffer, reference)
        return Row(name, unit, pair.first, target, pair.second, reference_name, pair.ratio)

    # The load generator

    def load(self, words, *options, tokens=None, milliseconds=None):
        """What it printed of one run; an answer that is an error is a trouble."""
        words = [self.folder / "load", *words, "-d", milliseconds or self.milliseconds, *options]
        if tokens:
            file = self.folder / "tokens"
            file.write_text("".join(f"{token.hex()}\n" for token in tokens))
            words += ["-t", file]
        done = subprocess.run(
            [str(word) for word in words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Trouble(f"the load generator ends with {done.returncode}: {done.stderr.strip()}")
        result = json.loads(done.stdout)
        # On a machine that does other things as well leases run out, and that is no fault.
        if not self.short and result["refusals"] > 0.01 * result["count"]:
            raise Trouble(f"{result['refusals']} of {result['count']} requests were refused")
        return result

    def bus(self, home, service, header, body, *options, **more):
        words = ["bus", *home.bus_words(service), header, compact(body)]
        return self.load(words, *options, **more)

    def http(self, request, connections, **more):
        return self.load(["http", self.bao.port, request], "-c", connections, **more)

    @contextlib.contextmanager
    def reference(self, *modes):
        """The C program in these modes, one after the other, each able to reach the one before.

        Gives the words that the load generator needs to reach the last one.
        """
        processes, words = [], []
        try:
            for mode, *rest in modes:
                public, secret = self._keys()
                endpoint = f"ipc://{self.folder}/{mode}.sock"
                if mode == "front":
                    rest = [*words[:2], *rest]
                command = [self.folder / "reference", mode, endpoint, secret, *rest]
                processes.append(subprocess.Popen([str(word) for word in command]))
                words = [endpoint, public]
            # Until the last one listens; the load generator waits for no one.
            time.sleep(0.1)
            yield ["bus", *words, *self._keys()]
        finally:
            for process in processes:
                process.kill()
                process.wait()
            for mode, *_ in modes:
                (self.folder / f"{mode}.sock").unlink(missing_ok=True)

    def _keys(self):
        done = subprocess.run(
            [self.folder / "reference", "keys"], capture_output=True, text=True, check=True)
        return done.stdout.split()

    def seconds(self, *words, core=None):
        """What a program says that it took."""
        pin = ["taskset", "-c", str(core)] if core is not None else []
        words = [*pin, *(str(word) for word in words)]
        return float(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def compact(body):
    return json.dumps(body, separators=(",", ":"))


def progress(text):
    print(text, file=sys.stderr, flush=True)


def proportional_memory(pid):
    """The proportional set size of a process, in MB: shared pages count by their share."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise Trouble("the kernel does not tell a process's memory")


def last_core():
    return max(os.sched_getaffinity(0))
