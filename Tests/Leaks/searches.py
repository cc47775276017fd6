"""Looks for canaries wherever a program may leave them."""

import os
import signal
import struct
import subprocess
import threading
import time
from pathlib import Path

# Files of others are not read when they are larger.
FOREIGN_BYTES_MAX = 64 << 20


class Hit:
    """Where a form of a canary was found."""

    def __init__(self, canary, form, place):
        self.canary = canary
        self.form = form
        self.place = place

    def __str__(self):
        return f"{self.canary} ({self.form}) in {self.place}"


class Searcher:
    """Finds canaries with a program of its own, so that none of them is in an argument."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = Path(folder)
        self.needles = []
        self.file = self.folder / "needles"
        self.searched = {}
        self.lock = threading.Lock()

    def watch_for(self, canaries):
        """From now on these are looked for too."""
        for canary in canaries:
            for form, data in canary.forms.items():
                self.needles.append((canary.name, form, data))
        self.file.write_bytes(
            b"".join(struct.pack("=I", len(data)) + data for _, _, data in self.needles))

    def names(self):
        return sorted({name for name, _, _ in self.needles})

    def paths(self, *paths):
        """Hits in files, and in all files below folders."""
        return self.run(*paths)[0]

    def paths_of_descriptor(self, pid, descriptor):
        """Hits in what a process has open, whether it has a name or not."""
        return self.bytes(
            Path(f"/proc/{pid}/fd/{descriptor}").read_bytes(), f"descriptor {descriptor} of {pid}")

    def process(self, pid, name, goes_on=True):
        """Hits in the memory of a process, which stands still meanwhile."""
        os.kill(pid, signal.SIGSTOP)
        try:
            while state_of(pid) != "T":
                time.sleep(0.001)
            hits, figures = self.run("pid", pid)
        finally:
            if goes_on:
                os.kill(pid, signal.SIGCONT)
        for hit in hits:
            hit.place = f"memory of {name}, {hit.place}"
        with self.lock:
            before = self.searched.get(name, (0, 0, 0))
            self.searched[name] = tuple(map(max, before, figures))
        return hits

    def bytes(self, data, place):
        """Hits in bytes at hand."""
        return [Hit(name, form, place) for name, form, needle in self.needles if needle in data]

    def run(self, *words):
        result = subprocess.run(
            [self.program, self.file, *map(str, words)], capture_output=True, check=True)
        hits, figures = [], None
        for line in result.stdout.decode(errors="replace").splitlines():
            kind, _, rest = line.partition(" ")
            if kind == "searched":
                figures = tuple(map(int, rest.split()))
            elif kind == "hit":
                index, offset, place = rest.split(" ", 2)
                name, form, _ = self.needles[int(index)]
                hits.append(Hit(name, form, f"{place} at {offset}"))
        return hits, figures


def state_of(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


class Sampler(threading.Thread):
    """Reads the arguments and the environment of every process, again and again."""

    def __init__(self, searcher):
        super().__init__(daemon=True)
        self.searcher = searcher
        self.ending = threading.Event()
        self.hits = {}
        self.samples = 0
        # What was looked through before, for as many needles, is not looked through again.
        self.known = set()

    def run(self):
        while not self.ending.wait(0.01):
            self.sample()

    def sample(self):
        self.samples += 1
        for entry in os.listdir("/proc"):
            if entry.isdigit() and int(entry) != os.getpid():
                for part, name in (("cmdline", "arguments"), ("environ", "environment")):
                    try:
                        data = Path(f"/proc/{entry}/{part}").read_bytes()
                    except OSError:
                        continue
                    look = entry, data, len(self.searcher.needles)
                    if look in self.known:
                        continue
                    self.known.add(look)
                    for hit in self.searcher.bytes(data, f"the {name} of a process"):
                        self.hits[str(hit)] = hit

    def end(self):
        self.ending.set()
        self.join()
        return list(self.hits.values())


def new_files(folders, since, apart_from):
    """Files that were changed after a moment, but for those below a folder."""
    found = []
    for folder in folders:
        for place, inner, names in os.walk(folder):
            inner[:] = [name for name in inner if Path(place, name) != apart_from]
            for name in names:
                path = Path(place, name)
                try:
                    status = path.lstat()
                except OSError:
                    continue
                if status.st_mtime >= since and status.st_size <= FOREIGN_BYTES_MAX:
                    found.append(path)
    return found


def nameless_files(pid):
    """Descriptors of a process for files that no folder lists: removed ones, those in memory."""
    found = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = os.readlink(entry)
        except OSError:
            continue
        if target.endswith("(deleted)") or target.startswith("/memfd:"):
            found.append(entry.name)
    return found
