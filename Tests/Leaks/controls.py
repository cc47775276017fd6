"""The same search finds what is planted in each of the places."""

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time

from canaries import new_passcode, new_phrase, of_bytes, of_phrase, of_text
from installation import Failure

# Keeps a canary in memory that core dumps leave out, as Coffer's arena is, and in a heap.
KEEPER = """
import ctypes, mmap, sys
secret = sys.stdin.buffer.readline().rstrip(b"\\n")
place = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
place.madvise(16)  # MADV_DONTDUMP
place[: len(secret)] = secret
if len(sys.argv) > 1:
    del secret
print("ready", flush=True)
sys.stdin.buffer.read()
"""


def found(hits, what):
    if not hits:
        raise Failure(f"a control was not found: {what}")
    return what


def check_forms(searcher, folder):
    """Every form of every kind of canary, between other bytes."""
    canaries = [
        of_text("control passcode", new_passcode("control")),
        of_phrase("control phrase", new_phrase(24)),
        of_bytes("control key", os.urandom(32)),
    ]
    searcher.watch_for(canaries)
    path = folder / "forms"
    forms = [(one.name, form, data) for one in canaries for form, data in one.forms.items()]
    for name, form, data in forms:
        path.write_bytes(os.urandom(37) + data + os.urandom(11))
        hits = searcher.paths(path)
        if (name, form) not in [(hit.canary, hit.form) for hit in hits]:
            raise Failure(f"a control was not found: {name} as {form}")
    path.unlink()
    return f"{len(forms)} forms"


def check_chunks(searcher, folder, canary):
    """What lies across two pieces of a long file."""
    path = folder / "long"
    with path.open("wb") as file:
        file.seek((4 << 20) - 5)
        file.write(canary)
    hits = searcher.paths(path)
    path.unlink()
    return found(hits, "across pieces of a long file")


def check_sqlite(searcher, folder, canary):
    """A page that SQLite freed without `secure_delete`, and its log."""
    path = folder / "control.sqlite"
    store = sqlite3.connect(path, isolation_level=None)
    store.execute("PRAGMA secure_delete = OFF")
    store.execute("CREATE TABLE t (secret)")
    store.execute("INSERT INTO t VALUES (?)", (canary,))
    store.execute("DELETE FROM t")
    if store.execute("SELECT count(*) FROM t").fetchone() != (0,):
        raise Failure("the control row stands")
    results = [found(searcher.paths(path), "a page that SQLite freed")]
    store.execute("VACUUM")
    if searcher.paths(path):
        raise Failure("a control is found where it is not any more")
    store.execute("PRAGMA journal_mode = WAL")
    store.execute("INSERT INTO t VALUES (?)", (canary,))
    results.append(found(searcher.paths(f"{path}-wal"), "a write-ahead log"))
    store.close()
    path.unlink()
    return results


def keeper(canary, *, only_excluded=False, argument=None, environment=None):
    """A process that has a canary somewhere."""
    words = [sys.executable, "-c", KEEPER] + (["x"] if only_excluded else [])
    process = subprocess.Popen(
        words + ([argument] if argument else []), env=environment or {}, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE)
    process.stdin.write(canary + b"\n")
    process.stdin.flush()
    process.stdout.readline()
    return process


def check_memory(searcher, canary):
    """A heap, and a mapping that core dumps leave out."""
    results = []
    for only_excluded, what in ((False, "a heap"), (True, "memory that is left out of dumps")):
        process = keeper(canary, only_excluded=only_excluded)
        try:
            hits = searcher.process(process.pid, "a control")
            if only_excluded:
                hits = [hit for hit in hits if "not-in-dumps" in hit.place]
            results.append(found(hits, what))
        finally:
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()
    searcher.searched.pop("a control")
    return results


def check_sampler(sampler, canary):
    """Arguments and environment of a process, by the sampler that watches Coffer's."""
    results = []
    text = canary.decode()
    for what, options in (
        ("arguments", {"argument": text}), ("environment", {"environment": {"A": text}}),
    ):
        sampler.hits.clear()
        process = keeper(b"nothing", **options)
        try:
            deadline = time.monotonic() + 10
            while not any(what in place for place in sampler.hits) and time.monotonic() < deadline:
                time.sleep(0.01)
        finally:
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()
        results.append(found(sampler.hits, what))
    sampler.hits.clear()
    return results


def check_nameless(searcher, folder, canary):
    """A file that was removed while it is open."""
    path = folder / "removed"
    with path.open("w+b") as file:
        file.write(canary)
        file.flush()
        path.unlink()
        return found(
            searcher.paths_of_descriptor(os.getpid(), file.fileno()), "a file without a name")


def allow_core_files():
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def aborted(process):
    """Ends a process as a fault would; answers whether the kernel wrote a core file."""
    os.kill(process.pid, signal.SIGABRT)
    deadline = time.monotonic() + 60
    while True:
        pid, status = os.waitpid(process.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > deadline:
            raise Failure(f"{process.args[0]} survives SIGABRT")
        time.sleep(0.01)
    process.returncode = os.waitstatus_to_exitcode(status)
    return os.WCOREDUMP(status)


def check_core(searcher, folder, canary):
    """A process that may leave a core file leaves one with its heap; else a word why not."""
    where = folder / "core"
    where.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", KEEPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=where,
        preexec_fn=allow_core_files)
    process.stdin.write(canary + b"\n")
    process.stdin.flush()
    process.stdout.readline()
    has_core = aborted(process)
    process.stdin.close()
    process.stdout.close()
    if not has_core:
        return "no core file here even where one is allowed"
    files = list(where.iterdir())
    if not files:
        return "core files go elsewhere here: whether one is written is still seen"
    return found(searcher.paths(where), "a core file")
